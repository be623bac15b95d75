"""The personal deadline: one function, one rule, for every way an attempt can end. Pure: the clock and the tables are elsewhere.

The rule (docs/answers.md shows it with examples)::

    close   = the exam's closing time, moved by the calendar days granted, at the same hour on the clock of the school's zone
    end     = min(start + time limit, close), or close where there is no time limit
    working = end - start, what anybody else who started then has; without a time limit: closing time - start, and nothing
              at all if the exam is open for longer than a day (take-home work is not a sitting)
    personal deadline = end + (factor - 1) x working + the minutes granted

So a factor of 1.5 always gives half as much again as others would have had, and may run past the exam's close; whoever starts late has
less, with or without a factor. Minutes are more time to work, for the attempts under way too. Calendar days are a later close: they
move an attempt's deadline unless a time limit ends it first. Grants add up, whoever gave them and in whatever order.

Where a clock change makes the hour ambiguous, the later moment counts; where the hour does not exist, the same wall-clock time by the
offset before the change (02:30 becomes 03:30). Both are the student's gain, and the result is never earlier than without the grant.
"""

import dataclasses
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from decimal import ROUND_CEILING, Decimal
from typing import Final, Protocol
from zoneinfo import ZoneInfo

LONGEST_SITTING: Final = timedelta(hours=24)
MOST_DAYS: Final = 100_000  # keeps every sum of grants inside the calendar

_NO_TIME = timedelta(0)
_MICROSECOND = timedelta(microseconds=1)


@dataclasses.dataclass(frozen=True, slots=True)
class Window:
    """When an exam may be sat. Hand-ins are on time for `grace` after the personal deadline, and late for `late` after that.

    Held in UTC, whatever it is given: Python adds and subtracts times of one zone by the clock on the wall, not by what has elapsed.
    """

    opens_at: datetime
    closes_at: datetime
    time_limit: timedelta | None = None
    grace: timedelta = _NO_TIME
    late: timedelta = _NO_TIME

    def __post_init__(self) -> None:
        object.__setattr__(self, "opens_at", self.opens_at.astimezone(UTC))
        object.__setattr__(self, "closes_at", self.closes_at.astimezone(UTC))


class Grant(Protocol):
    """An extension: a row of `exams.models.Extension`, or anything with its two fields."""

    @property
    def kind(self) -> str:
        """`minutes` or `calendar_days`."""
        ...

    @property
    def amount(self) -> int:
        """How many; more than 0."""
        ...


@dataclasses.dataclass(frozen=True, slots=True)
class PersonalDeadline:
    """The moments the gate compares with (all in UTC; each is still inside), and why it is these."""

    closes_at: datetime
    grace_until: datetime
    accepts_until: datetime
    rule: str


def personal_deadline(
    window: Window,
    *,
    started_at: datetime,
    zone: ZoneInfo,
    factor: Decimal = Decimal(1),
    grants: Iterable[Grant] = (),
) -> PersonalDeadline:
    """Return one student's deadline for an attempt started then; `zone` is their school's, `grants` those that are for them."""
    days, minutes = _add_up(grants)
    start, close = started_at.astimezone(UTC), shift_days(window.closes_at, days, zone)
    end = close if window.time_limit is None else min(start + window.time_limit, close)
    extra = _stretch(_working_time(window, start, end), factor)
    closes_at = end + extra + minutes
    grace_until = closes_at + window.grace
    return PersonalDeadline(
        closes_at=closes_at,
        grace_until=grace_until,
        accepts_until=grace_until + window.late,
        rule=_describe(
            limit=window.time_limit if end < close else None,
            days=days if end == close else 0,
            factor=factor if extra else Decimal(1),
            minutes=minutes,
        ),
    )


def last_start(window: Window, *, zone: ZoneInfo, grants: Iterable[Grant] = ()) -> datetime:
    """Return the last moment at which this student may start an attempt: the close, moved by what was granted."""
    days, minutes = _add_up(grants)
    return shift_days(window.closes_at, days, zone) + minutes


def latest_deadline(
    window: Window,
    *,
    now: datetime,
    zone: ZoneInfo,
    factor: Decimal = Decimal(1),
    grants: Iterable[Grant] = (),
) -> PersonalDeadline:
    """Return the latest deadline an attempt not yet started can have: what a list of exams shows as its personal close."""
    grants = list(grants)
    start = max(now.astimezone(UTC), window.opens_at)
    if window.time_limit is not None:
        close = shift_days(window.closes_at, _add_up(grants)[0], zone)
        start = max(start, close - window.time_limit)
    return personal_deadline(window, started_at=start, zone=zone, factor=factor, grants=grants)


def shift_days(moment: datetime, days: int, zone: ZoneInfo) -> datetime:
    """Return the moment (UTC) so many calendar days later, at the same hour on this zone's clock; on clock changes see above."""
    if not days:
        return moment.astimezone(UTC)
    clock = moment.astimezone(zone).replace(tzinfo=None) + timedelta(days=days)
    return max(clock.replace(tzinfo=zone, fold=fold).astimezone(UTC) for fold in (0, 1))


def _working_time(window: Window, started_at: datetime, end: datetime) -> timedelta:
    """Return what a factor stretches. Days that were granted are not multiplied, and neither are the days of take-home work."""
    if window.time_limit is not None:
        return max(end - started_at, _NO_TIME)
    if window.closes_at - window.opens_at > LONGEST_SITTING:
        return _NO_TIME
    return max(window.closes_at - started_at, _NO_TIME)


def _stretch(working: timedelta, factor: Decimal) -> timedelta:
    """Return the additional time, rounded up to a microsecond."""
    microseconds = (factor - 1) * (working // _MICROSECOND)
    return timedelta(microseconds=int(microseconds.to_integral_value(ROUND_CEILING)))


def _add_up(grants: Iterable[Grant]) -> tuple[int, timedelta]:
    """Return the calendar days and the elapsed time granted, in all."""
    days = minutes = 0
    for grant in grants:
        if grant.kind == "calendar_days":
            days += grant.amount
        else:
            minutes += grant.amount
    return min(days, MOST_DAYS), timedelta(minutes=minutes)


def _describe(*, limit: timedelta | None, days: int, factor: Decimal, minutes: timedelta) -> str:
    """Return why the deadline is what it is, as the receipt says it: only what had an effect is named."""
    parts = [f"time limit {_duration(limit)}" if limit else "exam close"]
    if days:
        parts.append(f"+{days} calendar day{'s'[: days != 1]}")
    if factor != 1:
        parts.append(f"x {factor.normalize():f} extra time")
    if minutes:
        parts.append(f"+{_duration(minutes)}")
    return ", ".join(parts)


def _duration(time: timedelta) -> str:
    minutes, seconds = divmod(time // timedelta(seconds=1), 60)
    return " ".join(
        text for text in (f"{minutes} min" * bool(minutes), f"{seconds} s" * bool(seconds)) if text
    )
