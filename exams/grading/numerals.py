"""Numbers as students write them, all over the world, and nothing that could be read in two ways.

Accepted: a sign (also U+2212), digits of any script, one decimal point or comma (also U+066B), an exponent, blanks around.
Refused: thousands separators, units, fractions, and what `exams.strict_json` would refuse as a number (more than 50 digits, an exponent beyond 30).
So "1,234" is a little more than one, wherever it was typed.
"""

import re
from decimal import Decimal

from exams.strict_json import MAX_DIGITS, MAX_EXPONENT

_numeral = re.compile(r"([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d{1,3}))?")
_spellings = str.maketrans({"\u2212": "-", ",": ".", "\u066b": "."})


def read_numeral(answer: object) -> int | Decimal | None:
    """Return the number an answer stands for, exactly, or None when it is not one."""
    if isinstance(answer, bool):
        return None
    if isinstance(answer, int | Decimal):
        return answer
    return _read_text(answer) if isinstance(answer, str) else None


def _read_text(text: str) -> Decimal | None:
    numeral = _numeral.fullmatch(text.strip().translate(_spellings))
    if numeral is None:
        return None
    sign, whole, part, exponent = numeral.groups(default="")
    if not 0 < len(whole) + len(part) <= MAX_DIGITS or abs(int(exponent or 0)) > MAX_EXPONENT:
        return None
    return Decimal(f"{sign}{whole}.{part}E{exponent or 0}")
