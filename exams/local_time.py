"""Moments as texts: for a person of one school in its time zone, for the log in UTC; always with the offset, so that no clock is guessed."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo


def write_local(moment: datetime, zone: str) -> str:
    """Return an ISO 8601 text in this IANA time zone, to the millisecond: `2026-11-29T18:00:00.000+02:00`."""
    return moment.astimezone(ZoneInfo(zone)).isoformat(timespec="milliseconds")


def write_utc(moment: datetime) -> str:
    """Return an ISO 8601 text in UTC, to the microsecond, as facts in the log say it: `2026-11-29T16:00:00.000000+00:00`."""
    return moment.astimezone(UTC).isoformat(timespec="microseconds")
