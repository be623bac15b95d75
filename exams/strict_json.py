"""JSON from strangers: one parser for every door, the C scanner of the standard library with its leniences taken away.

Refused with a JSON pointer, each as `Malformed`: anything but UTF-8, a name used twice in an object, NaN and Infinity, numbers
of more than 50 digits or with an exponent beyond 30, NUL characters and lone surrogates, nesting deeper than `max_depth`.
One byte order mark in front is ignored (RFC 8259 allows that, and some editors write one); inside a text it is kept.

Most bodies have nothing in them that could be refused, and orjson reads those in half the time; `_load_plain` is sure of what it
takes, and leaves the rest to the strict way.

The scanner does not say where it is. So what is refused is found twice: once fast, by hooks that raise, and then once more by hooks
that leave a mark, which a walk through the value finds. Only the refused pay for the second time.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Any, Final, NoReturn

import orjson

from exams.errors import Malformed

MAX_DEPTH: Final = 32
MAX_DIGITS: Final = 50
MAX_EXPONENT: Final = 30

_LONGEST_STEP: Final = 1_000  # a longer name is not repeated to whoever sent it
_SHORT: Final = 18  # a literal no longer than this needs no counting
_numeral = re.compile(r"-?(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?")
_suspect_escape = re.compile(r"\\u(?:0000|[dD][89a-fA-F])")
_unstorable = re.compile("[\x00\ud800-\udfff]")
_structure = re.compile(r'"((?:[^"\\]++|\\.)*+)(?:"|\\?\Z)|[\[\]{},:]', re.DOTALL)


_UNSURE: Final = object()


class _NotPlain(Exception):
    """There is something in the value that the strict way must look at."""


class _Refused(Exception):
    """Raised, or left as a mark where it stood; `step` leads from there to the object member it is about."""

    def __init__(self, reason: str, name: str | None = None) -> None:
        self.reason = reason
        self.step = (
            "" if name is None or len(name) > _LONGEST_STEP or _unstorable.search(name) else _step(name)
        )
        super().__init__(reason)


def load(body: bytes, *, max_depth: int = MAX_DEPTH) -> Any:
    """Return the JSON value in `body`, its numbers as `int` or `Decimal`. Raises `Malformed` and nothing else."""
    value = _load_plain(body, max_depth)
    return _load_strictly(body, max_depth) if value is _UNSURE else value


def _load_plain(body: bytes, max_depth: int) -> Any:
    """Return the same value, or `_UNSURE` if anything in it needs a closer look.

    Sure means: valid JSON that is not nested too deeply and has no escaped code points (NUL, surrogates), no number but integers of
    64 bits, and as many members as colons: then no colon stands in a text, and no name was used twice.
    """
    if b"\\" in body and b"\\u" in body:
        return _UNSURE
    try:
        value = orjson.loads(body)
        return value if _count_members(value, max_depth) == body.count(b":") else _UNSURE
    except (orjson.JSONDecodeError, _NotPlain):
        return _UNSURE


def _count_members(value: object, depth: int) -> int:
    """Return how many members all objects in the value have together.

    Raises `_NotPlain` on values nested more than `depth` deep and on a number that orjson has rounded.
    """
    match value:
        case str() | bool() | int() | None:
            return 0
        case dict() if depth:
            inner = value.values()
            return len(value) + sum([_count_members(one, depth - 1) for one in inner if type(one) is not str])
        case list() if depth:
            return sum([_count_members(one, depth - 1) for one in value if type(one) is not str])
    raise _NotPlain


def _load_strictly(body: bytes, max_depth: int = MAX_DEPTH) -> Any:
    text = _decode(body)
    if text.count("[") + text.count("{") > max_depth:
        _check_depth(text, max_depth)
    try:
        value = _parse(text, _raising)
    except _Refused:
        value = _parse(text, _marking)
        _explain(value)
    if "\\u" in text and _suspect_escape.search(text):
        _explain(value, required=False)
    return value


def _parse(text: str, decoder: json.JSONDecoder) -> Any:
    try:
        return decoder.decode(text)
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise Malformed(f"This is not JSON: {error.msg} ({where}).", pointer="") from None


def _decode(body: bytes) -> str:
    try:
        return body.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        raise Malformed(f"This is not UTF-8: byte {error.start} does not belong.", pointer="") from None


def _check_depth(text: str, max_depth: int) -> None:
    """Raise `Malformed` if values are nested too deeply. Reads the text once, however hostile it is."""
    steps: list[int | str] = []  # the way to here: an index for each open array, a name for each open object
    string = ""
    for token in _structure.finditer(text):
        match token[0][0]:
            case '"':
                string = token[1]
            case "[":
                steps.append(0)
            case "{":
                steps.append("")
            case _ if not steps:
                continue
            case ":":
                steps[-1] = string
            case ",":
                steps[-1] = steps[-1] + 1 if isinstance(steps[-1], int) else ""
            case _:
                steps.pop()
        if len(steps) > max_depth:
            pointer = "".join(_step(step) for step in steps[:-1])
            raise Malformed(f"Values are nested more than {max_depth} deep.", pointer=pointer)


def _explain(value: object, *, required: bool = True) -> None:
    """Raise `Malformed` naming the first thing refused in the value; with `required` there is one for certain."""
    for pointer, found in _walk(value):
        if isinstance(found, _Refused):
            raise Malformed(found.reason, pointer=pointer + found.step)
        if isinstance(found, str) and (character := _unstorable.search(found)):
            raise Malformed(f"A text may not contain U+{ord(character[0]):04X}.", pointer=pointer)
    assert not required


def _walk(value: object) -> Iterator[tuple[str, object]]:
    """Yield every value and every name below `value` with its pointer, in document order, without recursion.

    A name comes with the pointer of its object, because it may itself be what cannot be written in an answer.
    """
    waiting: list[tuple[str, object]] = [("", value)]
    while waiting:
        pointer, found = waiting.pop()
        yield pointer, found
        if isinstance(found, dict):
            for name, inner in reversed(found.items()):
                waiting += [(pointer + _step(name), inner), (pointer, name)]
        elif isinstance(found, list):
            waiting += [(f"{pointer}/{index}", inner) for index, inner in enumerate(found)][::-1]


def _step(name: str | int) -> str:
    return "/" + str(name).replace("~", "~0").replace("/", "~1")


def read_number(literal: str) -> int | Decimal:
    """Return the number a JSON literal stands for, or raise: more digits than any exam needs cost memory and time."""
    if len(literal) > _SHORT or "e" in literal or "E" in literal:
        _check_number(literal)
    return int(literal) if literal.lstrip("-").isdecimal() else Decimal(literal)


def _check_number(literal: str) -> None:
    numeral = _numeral.fullmatch(literal)
    assert numeral is not None  # the scanner saw a number
    whole, part, exponent = numeral.groups(default="")
    if len(whole) + len(part) > MAX_DIGITS:
        raise _Refused(f"A number may have at most {MAX_DIGITS} digits.")
    if len(exponent) > MAX_DIGITS or abs(int(exponent or 0)) > MAX_EXPONENT:
        raise _Refused(f"The exponent of a number must be between -{MAX_EXPONENT} and {MAX_EXPONENT}.")


def _read_constant(literal: str) -> NoReturn:
    raise _Refused(f"{literal} is not a JSON number.")


def _read_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        counted = Counter(name for name, _ in pairs)
        raise _Refused("This name is used twice in one object.", counted.most_common(1)[0][0])
    return members


def _marked(hook: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return the hook with its refusal left as a value instead of raised."""

    def marking(given: Any) -> Any:
        try:
            return hook(given)
        except _Refused as refused:
            return refused

    return marking


def _decoder(wrap: Callable[[Callable[[Any], Any]], Callable[[Any], Any]]) -> json.JSONDecoder:
    return json.JSONDecoder(
        object_pairs_hook=wrap(_read_object),
        parse_int=wrap(read_number),
        parse_float=wrap(read_number),
        parse_constant=wrap(_read_constant),
    )


_raising = _decoder(lambda hook: hook)
_marking = _decoder(_marked)
