"""A mark sheet as a CSV file: spreadsheets open it, and the import reads it back to the same marks. Pure.

The one thing to know: what somebody wrote (a name, a title) could be a formula where it is opened, so it is guarded by an apostrophe, which the
import takes off again. Numbers are never guarded: they would be texts.
"""

import csv
import io
from collections.abc import Iterable, Sequence
from typing import Final

from gradebook.entries import DecimalSign

_FORMULAS: Final = ("=", "+", "-", "@")
_GUARD: Final = "'"


def guard(text: str) -> str:
    """Return a text that is none of a spreadsheet's formulas."""
    plain = text.strip()
    return _GUARD + plain if plain.startswith(_FORMULAS) else plain


def unguard(text: str) -> str:
    """Return the text that was guarded."""
    return text[1:] if text.startswith(_GUARD) and text[1:].startswith(_FORMULAS) else text


def write_table(rows: Iterable[Sequence[str]], *, decimal_sign: DecimalSign) -> bytes:
    """Return the rows as CSV in UTF-8 with the mark that Excel knows it by, parted as spreadsheets of this decimal sign expect."""
    text = io.StringIO(newline="")
    csv.writer(text, delimiter=";" if decimal_sign == "," else ",", lineterminator="\r\n").writerows(rows)
    return text.getvalue().encode("utf-8-sig")
