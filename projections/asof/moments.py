"""Which moment is meant: a position of the log, or a time on the school's clock. Pure."""

import dataclasses
from datetime import UTC, datetime

from django.utils import timezone
from django.utils.dateparse import parse_datetime

POSITION_DIGITS = 18  # a bigint holds any number this long
FIRST_YEAR, LAST_YEAR = 1900, 2199  # beyond these, arithmetic with time zones leaves the calendar


@dataclasses.dataclass(frozen=True, slots=True)
class Asked:
    """What was asked for: a position, or a time (exactly one of the two)."""

    pos: int | None = None
    moment: datetime | None = None


def read_moment(text: str) -> Asked | None:
    """Return what a text means, None where it is neither: `1234`, `2026-05-04T10:30`, `2026-05-04T10:30:15+03:00`.

    A time without an offset is one on the school's clock (the current time zone); of an hour that comes twice it is the first.
    """
    digits = text.removeprefix("-")  # before the log, positions are negative
    if digits.isascii() and digits.isdigit() and len(digits) <= POSITION_DIGITS:
        return Asked(pos=int(text))
    try:
        moment = parse_datetime(text)
    except ValueError:  # the form of a time, but there is none like it
        return None
    if moment is None or not FIRST_YEAR <= moment.year <= LAST_YEAR:
        return None
    aware = moment if timezone.is_aware(moment) else timezone.make_aware(moment)
    return Asked(moment=aware.astimezone(UTC))
