"""Numbers as a person reads them: exact ones with two decimals at most, in the reader's number format; and how late something may be."""

import math
from decimal import Decimal
from fractions import Fraction

from django import template
from django.utils.formats import number_format

from projections.analytics.figures import round_discrimination

register = template.Library()

MARK_DECIMALS = 3


@register.filter
def figure(value: Fraction | Decimal) -> str:
    """Return `7.25`, `8.5`, `10`: rounded half up to two decimals, without needless zeros."""
    return _write(_round(value))


@register.filter
def fact(value: Fraction | Decimal) -> str:
    """Return a number that was not worked out but is somebody's mark or a column's maximum: with all decimals such a number can have."""
    return _write(_round(value, MARK_DECIMALS))


@register.filter
def percent(share: Fraction) -> str:
    """Return a share as whole percent, rounded half up: `67 %`, with a space that does not break."""
    number = int(share * 100 + Fraction(1, 2))
    return f"{number}\N{NO-BREAK SPACE}%"


@register.filter
def correlation(value: Decimal) -> str:
    """Return `+0.45`, or with a minus sign: always with a sign, because it is what one looks for, and with two decimals."""
    rounded = round_discrimination(value)
    sign = "\N{MINUS SIGN}" if rounded < 0 else "+"
    return sign + number_format(abs(rounded), use_l10n=True)


def _round(value: Fraction | Decimal, decimals: int = 2) -> Decimal:
    """Return so many decimals, rounded half up (never below zero here)."""
    return Decimal(math.floor(Fraction(value) * 10**decimals + Fraction(1, 2))).scaleb(-decimals)


def _write(value: Decimal) -> str:
    plain = value.quantize(Decimal(1)) if value == value.to_integral_value() else value.normalize()
    return number_format(plain, use_l10n=True)


@register.filter
def unlocalized(value: float) -> str:
    """Return a coordinate for SVG: with a point, whatever this reader's decimal sign is."""
    return f"{value:.1f}"


@register.filter
def at_most(seconds: int) -> str:
    """Return a time that is not exceeded, in the unit that suits it: 40 s, 3 min, 5 h, 4 days."""
    for size, unit, upto in ((1, "s", 120), (60, "min", 120), (3_600, "h", 48)):
        if seconds <= upto * size:
            return f"{math.ceil(seconds / size)} {unit}"
    return f"{math.ceil(seconds / 86_400)} days"
