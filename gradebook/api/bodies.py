"""What the grid sends, read strictly: anything that is not exactly the written form is `malformed`, and `errors` says where.

A body: `{"by": uuid, "term": 1, "decimal_sign": ",", "changes": [{"column": uuid, "student": uuid, "version": 3, "entry": "7,5"}]}`, at
most `MOST_CHANGES` of them in at most `LARGEST_BODY` bytes. `by` is whose page it is, `term` the generation of the term it was loaded
at; `entry` is what was typed, and what that means is `gradebook.entries`' rule. A change that was pasted also says `"how": "pasted"`.
NUL and lone surrogates are malformed wherever they stand.
"""

import json
from typing import Any, Final, NamedTuple, NoReturn, cast
from uuid import UUID

from gradebook.cells import CellKey, How
from gradebook.entries import DecimalSign
from gradebook.errors import Malformed, TooLarge

MOST_CHANGES: Final = 500
LARGEST_BODY: Final = 256 * 1024
_LONGEST_ENTRY: Final = 200
_LARGEST_VERSION: Final = 2**31 - 1
_FIELDS: Final = {"column", "student", "version", "entry"}
_HOW: Final = "how"


class TypedChange(NamedTuple):
    """One cell as it was typed or pasted, and the version the page had."""

    key: CellKey
    version: int
    text: str
    how: How = "typed"


class SaveRequest(NamedTuple):
    """A request to save, in the written form; whether the marks make sense is not yet known."""

    by: UUID
    generation: int
    decimal_sign: DecimalSign
    changes: list[TypedChange]


def read_save_request(body: bytes) -> SaveRequest:
    """Return what the grid asks for, or raise `Malformed` or `TooLarge`."""
    if len(body) > LARGEST_BODY:
        raise TooLarge
    match _load(body):
        case {"by": by, "term": term, "decimal_sign": "." | "," as sign, "changes": list(items), **rest} if (
            not rest
        ):
            return SaveRequest(_read_id(by, "/by"), _read_version(term, "/term"), sign, _read_changes(items))
        case _:
            raise Malformed("An object with exactly `by`, `term`, `decimal_sign` and `changes`.", pointer="")


def _read_changes(items: list[Any]) -> list[TypedChange]:
    if len(items) > MOST_CHANGES:
        _refuse(f"At most {MOST_CHANGES} changes at a time.", "/changes")
    return [_read_change(item, f"/changes/{index}") for index, item in enumerate(items)]


def _load(body: bytes) -> Any:
    try:
        return json.loads(
            body.decode("utf-8"), parse_constant=_refuse_constant, object_pairs_hook=_read_object
        )
    except (ValueError, RecursionError) as error:
        raise Malformed("The body is not JSON in UTF-8.", pointer="") from error


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(name)


def _read_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a name comes twice")
    return found


def _read_change(item: Any, pointer: str) -> TypedChange:
    if not isinstance(item, dict) or item.keys() - {_HOW} != _FIELDS:
        _refuse("An object with exactly `column`, `student`, `version`, `entry`, and perhaps `how`.", pointer)
    key = CellKey(*(_read_id(item[name], f"{pointer}/{name}") for name in ("column", "student")))
    return TypedChange(
        key,
        _read_version(item["version"], f"{pointer}/version"),
        _read_text(item["entry"], f"{pointer}/entry"),
        _read_how(item.get(_HOW, "typed"), f"{pointer}/{_HOW}"),
    )


def _read_how(value: Any, pointer: str) -> How:
    if value not in ("typed", "pasted"):
        _refuse("`typed` or `pasted`.", pointer)
    return cast("How", value)


def _read_id(value: Any, pointer: str) -> UUID:
    try:
        return UUID(_read_text(value, pointer))
    except ValueError as error:
        raise Malformed("Not an id.", pointer=pointer) from error


def _read_version(value: Any, pointer: str) -> int:
    if type(value) is not int or not 0 <= value <= _LARGEST_VERSION:
        _refuse("A whole number from 0.", pointer)
    return value


def _read_text(value: Any, pointer: str) -> str:
    if not isinstance(value, str) or len(value) > _LONGEST_ENTRY:
        _refuse(f"A text of at most {_LONGEST_ENTRY} characters.", pointer)
    if "\0" in value or any("\ud800" <= character <= "\udfff" for character in value):
        _refuse("NUL and half characters (lone surrogates) are not text.", pointer)
    return value


def _refuse(detail: str, pointer: str) -> NoReturn:
    raise Malformed(detail, pointer=pointer)
