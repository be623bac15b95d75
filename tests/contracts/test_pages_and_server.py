"""What a page's script has to know of the server's rules stands in both places, and says the same in both."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from rest_framework import exceptions

from exams.api.attachments import CHUNK_TYPE
from exams.attachments import limits
from exams.errors import ExamsError
from exams.strict_json import MAX_DIGITS, MAX_EXPONENT
from gradebook import entries
from gradebook.api.bodies import MOST_CHANGES
from gradebook.errors import GradebookError

ROOT = Path(__file__).resolve().parents[2]
SITTING = ROOT / "exams" / "static" / "exams" / "sitting"
MARKSHEET = ROOT / "gradebook" / "static" / "gradebook" / "marksheet"

_COMPARED = re.compile(r'\bcode === "([a-z_]+)"')  # a key on the keyboard has a code too: KeyD
_LISTED = re.compile(r"const (?:SIGNED_OUT|ENDINGS) = (.*);")


@pytest.mark.parametrize(
    ("script", "name", "value"),
    [
        (SITTING / "uploads.js", "SMALLEST_CHUNK", limits.SMALLEST_CHUNK),
        (SITTING / "uploads.js", "LARGEST_CHUNK", limits.LARGEST_CHUNK),
        (SITTING / "uploads.js", "LARGEST_FILE", limits.LARGEST_FILE),
        (SITTING / "numbers.js", "MOST_DIGITS", MAX_DIGITS),
        (SITTING / "numbers.js", "LARGEST_EXPONENT", MAX_EXPONENT),
        (MARKSHEET / "entries.js", "DECIMALS", entries.DECIMALS),
        (MARKSHEET / "entries.js", "LONGEST", entries.LONGEST),
        (MARKSHEET / "saver.js", "MOST_AT_ONCE", MOST_CHANGES),
    ],
)
def test_number_in_a_script_is_the_servers(script: Path, name: str, value: int) -> None:
    assert _read_number(script, name) == value


def test_media_type_of_a_chunk_is_the_servers() -> None:
    assert f'const CHUNK_TYPE = "{CHUNK_TYPE}";' in (SITTING / "api.js").read_text(encoding="utf-8")


def test_every_code_that_a_script_knows_is_one_the_server_says() -> None:
    known = {code for folder in (SITTING, MARKSHEET) for code in _list_codes(folder)}

    assert "stale_draft" in known
    assert known - _list_said() == set()


def _read_number(script: Path, name: str) -> int:
    found = re.search(
        rf"\bconst {name} = ([\d_]+)(?: \* ([\d_]+))?(?: \* ([\d_]+))?;", script.read_text(encoding="utf-8")
    )
    assert found is not None, name
    product = 1
    for factor in found.groups(default="1"):
        product *= int(factor)
    return product


def _list_codes(folder: Path) -> Iterator[str]:
    for script in folder.glob("*.js"):
        text = script.read_text(encoding="utf-8")
        yield from _COMPARED.findall(text)
        for listed in _LISTED.findall(text):
            yield from (
                re.findall(r'"(\w+)"', listed)
                if listed.startswith("new Set")
                else re.findall(r"(\w+):", listed)
            )


def _list_said() -> set[str]:
    """The codes of our own errors, and of the refusals that are DRF's."""
    from config.rest import handle_exception  # noqa: PLC0415 - DRF's own settings have to load it first

    kinds: list[type[ExamsError | GradebookError]] = [ExamsError, GradebookError]
    for kind in kinds:
        kinds += kind.__subclasses__()
    refusals = (
        exceptions.NotAuthenticated(),
        exceptions.AuthenticationFailed(),
        exceptions.PermissionDenied(),
    )
    answers = [handle_exception(refusal, {}) for refusal in refusals]
    return {kind.code for kind in kinds} | {
        answer.data["code"] for answer in answers if answer and answer.data
    }
