"""Durations and points as a student reads them. (Moments: `gradebook.moments`.)"""

from datetime import timedelta
from decimal import Decimal

from django import template
from django.utils import formats

register = template.Library()


@register.filter
def duration(value: timedelta) -> str:
    """Return `90 min`, `1 min 30 s` or `45 s`."""
    minutes, seconds = divmod(int(value.total_seconds()), 60)
    parts = [f"{minutes} min"] * bool(minutes) + [f"{seconds} s"] * bool(seconds)
    return " ".join(parts) or "0 s"


@register.filter
def time_left(value: timedelta) -> str:
    """Return the two largest units, the smaller one rounded down: `6 days 23 h`, `1 h 59 min`, `20 min`, `45 s`."""
    seconds = max(0, int(value.total_seconds()))
    counts = (seconds // 86_400, seconds // 3_600 % 24, seconds // 60 % 60)
    days, hours, minutes = counts
    if not any(counts):
        return f"{seconds} s"
    parts = [f"{days} day{'s' * (days > 1)}", f"{hours} h", f"{minutes} min"]
    first = next(index for index, count in enumerate(counts) if count)
    return " ".join(
        part for part, count in zip(parts[first : first + 2], counts[first:], strict=False) if count
    )


@register.filter
def points(value: Decimal) -> str:
    """Return `7.5` (or `7,5`, as this person's locale writes it): no needless zeros, no exponent."""
    return formats.number_format(Decimal(f"{value.normalize():f}"))
