"""How a moment and a day are written, on every page, in mails and in print: one form, in English words, on the school's clock.

`Sun 29 Nov 2026, 18:00 UTC+02:00` and `29 Nov 2026`. Not the browser's own forms: 11/12/2026 is two days, and a deadline without its offset is somebody's
guess. (Numbers are written as each person's browser asks.) The school's clock is Django's current time zone (`config.middleware.school_time`).
"""

from datetime import UTC, date, datetime, tzinfo
from typing import Final, NamedTuple

from django.utils import dateformat, timezone, translation

FIRST_YEAR: Final = 1900
LAST_YEAR: Final = 2199  # beyond these, arithmetic with time zones leaves the calendar, and what is stored cannot be read again


class Written(NamedTuple):
    """A moment in two parts: what the clock shows, and whose clock it is."""

    clock: str
    offset: str

    def __str__(self) -> str:
        return f"{self.clock} {self.offset}"


def read_moment(text: str, zone: tzinfo | None = None) -> datetime | None:
    """Return the moment that a text such as `2026-05-04T10:30` or `2026-05-04T10:30+03:00` names, in UTC; None where it names none.

    One without an offset is on the clock of `zone`; without a zone it is none. Of an hour that comes twice it is the first.
    """
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    moment = moment if moment.tzinfo else moment.replace(tzinfo=zone)
    if moment.tzinfo is None or not FIRST_YEAR <= moment.year <= LAST_YEAR:
        return None
    return moment.astimezone(UTC)


def write_moment(value: datetime, zone: tzinfo | None = None) -> Written:
    """Return `Sun 29 Nov 2026, 18:00` and `UTC+02:00`, on another clock where one is given; with seconds where there are any that count."""
    local = timezone.localtime(value, zone)
    form = "D j M Y, H:i:s" if local.second else "D j M Y, H:i"
    with translation.override("en"):
        clock = dateformat.format(local, form)
    return Written(clock, f"UTC{local.isoformat()[-6:]}" if local.utcoffset() else "UTC")


def find_day(value: date) -> date:
    """Return the day; of a moment, the one it is on the school's clock."""
    return timezone.localtime(value).date() if isinstance(value, datetime) else value


def write_day(value: date) -> str:
    """Return `29 Nov 2026`."""
    with translation.override("en"):
        return dateformat.format(find_day(value), "j M Y")
