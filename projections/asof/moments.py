"""Which moment is meant: a position of the log, or a time on the school's clock. Pure."""

import dataclasses
from datetime import UTC, datetime

from django.utils import timezone
from django.utils.dateparse import parse_datetime

POSITION_DIGITS = 18  # a bigint holds any number this long
FIRST_YEAR, LAST_YEAR = 1900, 2199  # beyond these, arithmetic with time zones leaves the calendar


@dataclasses.dataclass(frozen=True, slots=True)
class Asked:
    """What was asked for: a position (`log`: of which epoch and shard, where that was said), or a time."""

    pos: int | None = None
    moment: datetime | None = None
    log: tuple[int, int] | None = None


def read_moment(text: str) -> Asked | None:
    """Return what a text means, None where it is neither: `1234`, `0.0.1234`, `2026-05-04T10:30`, `2026-05-04T10:30:15+03:00`.

    A time without an offset is one on the school's clock (the current time zone); of an hour that comes twice it is the first.
    """
    if _is_number(text.removeprefix("-")):  # before the log, positions are negative
        return Asked(pos=int(text))
    parts = text.split(".")
    if len(parts) == 3 and all(map(_is_number, parts)):  # noqa: PLR2004 - epoch, shard and position
        epoch, shard, pos = map(int, parts)
        return Asked(pos=pos, log=(epoch, shard))
    return _read_time(text)


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= POSITION_DIGITS


def _read_time(text: str) -> Asked | None:
    try:
        moment = parse_datetime(text)
    except ValueError:  # the form of a time, but there is none like it
        return None
    if moment is None or not FIRST_YEAR <= moment.year <= LAST_YEAR:
        return None
    aware = moment if timezone.is_aware(moment) else timezone.make_aware(moment)
    return Asked(moment=aware.astimezone(UTC))
