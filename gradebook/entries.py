"""How a teacher's keystrokes become a mark: the one written rule. Pure; the grid's `entries.js` follows it to the letter.

The one thing to know: nothing is guessed and nothing is rounded. What can be read in two ways is refused, with both ways named.

- Outer blanks and direction marks are trimmed. Nothing left is **blank**: no mark, which is not zero and not a code.
- A code's word (`absent`) or its letter (`a`), in either case, is that code.
- A number is digits with at most one decimal sign. Arabic-Indic, Persian and full-width digits count, and so does the Arabic decimal sign.
- The decimal sign of the page's language is always one. The other of `.` and `,` is accepted too, unless it could as well group
  thousands: `1,234` on an English page (one to three digits not starting with 0, then exactly three) is refused as ambiguous.
  Grouping itself is never accepted: `1,234.5` and `1 234` are not marks.
- At most three decimals that count (`7.5000` is 7.5, `7.1234` is refused), not below zero, not above the column's maximum.
"""

import dataclasses
import re
from decimal import Decimal
from typing import Literal, NamedTuple

from gradebook.models.marks import MarkCode

DecimalSign = Literal[".", ","]
Problem = Literal["not_a_mark", "ambiguous", "too_many_decimals", "below_zero", "above_max"]

DECIMALS = 3
LONGEST = 32
CODE_LETTERS: dict[str, MarkCode] = {
    "a": MarkCode.ABSENT,
    "e": MarkCode.EXCUSED,
    "m": MarkCode.MISSING,
    "x": MarkCode.EXEMPT,
    "w": MarkCode.WITHHELD,
}
_CODES = {**CODE_LETTERS, **{str(code): code for code in MarkCode}}

_OUTER = " \t\r\n\N{NO-BREAK SPACE}\N{NARROW NO-BREAK SPACE}\N{FIGURE SPACE}\ufeff\u200e\u200f"
_MINUS_SIGNS = "-\N{MINUS SIGN}"
_DIGIT_ZEROS = (0x0660, 0x06F0, 0xFF10)  # Arabic-Indic, Persian, full-width
_TO_ASCII = {zero + digit: str(digit) for zero in _DIGIT_ZEROS for digit in range(10)}
_ARABIC_SIGN = "\N{ARABIC DECIMAL SEPARATOR}"
_NUMBER = re.compile(rf"(?P<whole>[0-9]*)(?:(?P<sign>[.,{_ARABIC_SIGN}])(?P<part>[0-9]*))?")
_GROUPABLE = re.compile(r"[1-9][0-9]{0,2}")


class Entry(NamedTuple):
    """What a cell holds: a number, or a code, or neither (blank). Never both."""

    value: Decimal | None = None
    code: str = ""

    @property
    def is_blank(self) -> bool:
        """Whether there is neither a number nor a code."""
        return self.value is None and not self.code

    @property
    def text(self) -> str:
        """The number as the shortest plain text, or the code's word; nothing for a blank."""
        return self.code or ("" if self.value is None else plain(self.value))


BLANK = Entry()


@dataclasses.dataclass(frozen=True, slots=True)
class Refused:
    """Why something is not a mark: a stable code and a sentence for the teacher."""

    problem: Problem
    detail: str


def read_entry(text: str, *, decimal_sign: DecimalSign) -> Entry | Refused:
    """Return what `text` means on a page whose language writes decimals with `decimal_sign`."""
    text = text.strip(_OUTER).translate(_TO_ASCII)
    if not text:
        return BLANK
    if code := _CODES.get(text.lower()):
        return Entry(code=code)
    if text[0] in _MINUS_SIGNS and _NUMBER.fullmatch(text[1:]) and len(text) > 1:
        return Refused("below_zero", "A mark is not below 0.")
    found = _NUMBER.fullmatch(text)
    if len(text) > LONGEST or not found or not (found["whole"] or found["part"]):
        return Refused("not_a_mark", f"“{_shorten(text)}” is neither a number nor a code.")
    if _could_group_thousands(found, decimal_sign):
        return Refused("ambiguous", _name_both_readings(found, decimal_sign))
    return Entry(value=Decimal(f"{found['whole'] or 0}.{found['part'] or 0}"))


def check_entry(entry: Entry, *, max_points: Decimal) -> Refused | None:
    """Return why a column of `max_points` cannot hold `entry`, or None when it can."""
    if entry.value is None:
        return None
    if not entry.value.is_finite():
        return Refused("not_a_mark", "A mark is a finite number.")
    if entry.value < 0:
        return Refused("below_zero", "A mark is not below 0.")
    if entry.value > max_points:
        return Refused("above_max", f"The most this column gives is {plain(max_points)}.")
    if entry.value != entry.value.quantize(Decimal(10) ** -DECIMALS):
        return Refused("too_many_decimals", f"At most {DECIMALS} decimals: a mark is never rounded silently.")
    return None


def plain(value: Decimal) -> str:
    """Return a decimal as the shortest plain text: `7.5`, never `7.500` or `1E+1`. Used on the wire and in events."""
    text = f"{value:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _could_group_thousands(found: re.Match[str], decimal_sign: DecimalSign) -> bool:
    sign, whole, part = found["sign"], found["whole"], found["part"]
    if sign in (None, decimal_sign, _ARABIC_SIGN):
        return False
    return len(part) == 3 and _GROUPABLE.fullmatch(whole) is not None  # noqa: PLR2004 - a group is three digits


def _name_both_readings(found: re.Match[str], decimal_sign: DecimalSign) -> str:
    whole, part = found["whole"], found["part"]
    return f"“{found[0]}” can be read two ways. Write {whole}{part} or {whole}{decimal_sign}{part}."


def _shorten(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
