"""How a moment and a day are written, on every page, in mails and in print: one form, in English words, on the school's clock.

`Sun 29 Nov 2026, 18:00 UTC+02:00` and `29 Nov 2026`. Not the browser's own forms: 11/12/2026 is two days, and a deadline without its offset is somebody's
guess. (Numbers are written as each person's browser asks.) The school's clock is Django's current time zone (`config.middleware.school_time`).
"""

from datetime import date, datetime, tzinfo
from typing import NamedTuple

from django.utils import dateformat, timezone, translation


class Written(NamedTuple):
    """A moment in two parts: what the clock shows, and whose clock it is."""

    clock: str
    offset: str

    def __str__(self) -> str:
        return f"{self.clock} {self.offset}"


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
