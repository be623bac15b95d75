"""The personal deadline, by example: the written rule of `exams.deadlines` line by line."""

import dataclasses
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from zoneinfo import ZoneInfo

import pytest

from exams.deadlines import (
    PersonalDeadline,
    Window,
    last_start,
    latest_deadline,
    personal_deadline,
    shift_days,
)

HELSINKI = ZoneInfo("Europe/Helsinki")
NEW_YORK = ZoneInfo("America/New_York")
MINUTE = timedelta(minutes=1)


@dataclasses.dataclass(frozen=True)
class Granted:
    kind: str
    amount: int


def at(clock: str, day: str = "2026-11-30", zone: ZoneInfo = HELSINKI) -> datetime:
    return datetime.fromisoformat(f"{day}T{clock}").replace(tzinfo=zone)


def local(deadline: PersonalDeadline, zone: ZoneInfo = HELSINKI) -> str:
    return deadline.closes_at.astimezone(zone).isoformat()


QUIZ = Window(at("09:30"), at("09:55"), time_limit=20 * MINUTE)
SITTING = Window(at("09:00"), at("11:00"))


@pytest.mark.parametrize(
    ("start", "factor", "closes", "rule"),
    [
        ("09:31", "1", "09:51:00", "time limit 20 min"),
        ("09:31", "1.5", "10:01:00", "time limit 20 min, x 1.5 extra time"),  # past the exam's close
        ("09:31", "2", "10:11:00", "time limit 20 min, x 2 extra time"),
        ("09:35", "1", "09:55:00", "exam close"),
        ("09:35", "1.5", "10:05:00", "exam close, x 1.5 extra time"),
        ("09:45", "1", "09:55:00", "exam close"),  # started late: 10 minutes are left for everybody
        ("09:45", "1.5", "10:00:00", "exam close, x 1.5 extra time"),  # and 15 with half as much again
        ("09:55", "1.5", "09:55:00", "exam close"),
    ],
)
def test_deadline_with_a_time_limit_and_a_factor(start: str, factor: str, closes: str, rule: str) -> None:
    deadline = personal_deadline(QUIZ, started_at=at(start), zone=HELSINKI, factor=Decimal(factor))

    assert (local(deadline), deadline.rule) == (f"2026-11-30T{closes}+02:00", rule)


def test_pupil_with_half_as_much_again_hands_in_after_the_close_of_the_others() -> None:
    """O04: opens 09:30, closes 09:55, 20 minutes; started 09:31 with factor 1.5."""
    deadline = personal_deadline(QUIZ, started_at=at("09:31"), zone=HELSINKI, factor=Decimal("1.5"))

    assert at("09:59") <= deadline.accepts_until < at("10:02")


@pytest.mark.parametrize(
    ("start", "factor", "closes"),
    [
        ("09:00", "1", "11:00:00"),
        ("09:00", "1.5", "12:00:00"),
        ("10:00", "1.5", "11:30:00"),
        ("10:59", "1.5", "11:00:30"),
    ],
)
def test_deadline_without_a_time_limit_stretches_what_is_left_of_the_window(
    start: str, factor: str, closes: str
) -> None:
    deadline = personal_deadline(SITTING, started_at=at(start), zone=HELSINKI, factor=Decimal(factor))

    assert local(deadline) == f"2026-11-30T{closes}+02:00"


def test_deadline_of_take_home_work_is_the_same_with_a_factor() -> None:
    homework = Window(at("08:00"), at("18:00", "2026-12-07"))

    deadline = personal_deadline(homework, started_at=at("09:00"), zone=HELSINKI, factor=Decimal(3))

    assert (deadline.closes_at, deadline.rule) == (at("18:00", "2026-12-07"), "exam close")


@pytest.mark.parametrize(
    ("window", "start", "grants", "closes", "rule"),
    [
        (QUIZ, "09:31", [("minutes", 10)], "30T10:01", "time limit 20 min, +10 min"),
        (QUIZ, "09:50", [("minutes", 10)], "30T10:05", "exam close, +10 min"),
        (QUIZ, "10:03", [("minutes", 10)], "30T10:05", "exam close, +10 min"),  # started in the time granted
        (QUIZ, "09:31", [("calendar_days", 1)], "30T09:51", "time limit 20 min"),  # the limit stays
        (SITTING, "09:00", [("minutes", 10), ("minutes", 5)], "30T11:15", "exam close, +15 min"),
        (SITTING, "09:00", [("calendar_days", 1)], "01T11:00", "exam close, +1 calendar day"),
        (
            SITTING,
            "09:00",
            [("minutes", 10), ("calendar_days", 1), ("calendar_days", 2)],
            "03T11:10",
            "exam close, +3 calendar days, +10 min",
        ),
    ],
)
def test_deadline_with_grants(
    window: Window, start: str, grants: list[tuple[str, int]], closes: str, rule: str
) -> None:
    given = [Granted(*grant) for grant in grants]

    deadline = personal_deadline(window, started_at=at(start), zone=HELSINKI, grants=given)

    assert (local(deadline)[8:16], deadline.rule) == (closes, rule)


def test_minutes_and_days_are_not_multiplied_by_the_factor() -> None:
    grants = [Granted("minutes", 10), Granted("calendar_days", 1)]

    deadline = personal_deadline(
        SITTING, started_at=at("09:00"), zone=HELSINKI, factor=Decimal("1.5"), grants=grants
    )

    assert deadline.closes_at == at("12:10", "2026-12-01")
    assert deadline.rule == "exam close, +1 calendar day, x 1.5 extra time, +10 min"


def test_attempt_started_days_later_by_a_grant_has_its_time_limit() -> None:
    start = at("09:40", "2026-12-03")

    deadline = personal_deadline(
        QUIZ, started_at=start, zone=HELSINKI, factor=Decimal("1.5"), grants=[Granted("calendar_days", 7)]
    )

    assert deadline.closes_at == start + 30 * MINUTE


def test_deadline_has_grace_and_lateness_behind_it() -> None:
    window = dataclasses.replace(SITTING, grace=timedelta(seconds=60), late=timedelta(hours=1))

    assert personal_deadline(window, started_at=at("09:00"), zone=HELSINKI) == PersonalDeadline(
        closes_at=at("11:00"), grace_until=at("11:01"), accepts_until=at("12:01"), rule="exam close"
    )


def test_deadline_is_told_in_utc() -> None:
    assert personal_deadline(QUIZ, started_at=at("09:31"), zone=HELSINKI).closes_at.tzinfo is UTC


@pytest.mark.parametrize(
    ("closes", "days", "zone", "local_close"),
    [
        # O03, with the clocks going back in between: the same hour, another offset.
        (at("18:00", "2026-10-21"), 7, HELSINKI, "2026-10-28T18:00:00+02:00"),
        (at("20:00", "2026-10-31", NEW_YORK), 1, NEW_YORK, "2026-11-01T20:00:00-05:00"),
        # And going forward.
        (at("18:00", "2026-03-25"), 7, HELSINKI, "2026-04-01T18:00:00+03:00"),
        # The hour does not exist: as far after the gap as it would have been into it.
        (at("03:30", "2026-03-28"), 1, HELSINKI, "2026-03-29T04:30:00+03:00"),
        # The hour exists twice: the later one.
        (at("03:30", "2026-10-24"), 1, HELSINKI, "2026-10-25T03:30:00+02:00"),
        # A whole day that does not exist (Apia had no 30 December 2011).
        (
            datetime(2011, 12, 29, 12, tzinfo=ZoneInfo("Pacific/Apia")),
            1,
            ZoneInfo("Pacific/Apia"),
            "2011-12-31T12:00:00+14:00",
        ),
    ],
)
def test_calendar_days_keep_the_hour_on_the_schools_clock(
    closes: datetime, days: int, zone: ZoneInfo, local_close: str
) -> None:
    assert shift_days(closes, days, zone).astimezone(zone).isoformat() == local_close


def test_extension_over_the_clock_change_takes_punctual_work_and_refuses_late_work() -> None:
    """O03: Wednesday 18:00 in Helsinki plus seven days, handed in at 17:30 and at 19:30 on the last day."""
    homework = Window(at("08:00", "2026-10-14"), at("18:00", "2026-10-21"))

    deadline = personal_deadline(
        homework, started_at=at("09:00", "2026-10-20"), zone=HELSINKI, grants=[Granted("calendar_days", 7)]
    )

    assert at("17:30", "2026-10-28") <= deadline.accepts_until < at("19:30", "2026-10-28")
    assert local(deadline) == "2026-10-28T18:00:00+02:00"


def test_minutes_are_elapsed_time_over_the_clock_change() -> None:
    window = Window(at("20:00", "2026-10-24"), at("23:00", "2026-10-24"))

    deadline = personal_deadline(
        window, started_at=at("20:00", "2026-10-24"), zone=HELSINKI, grants=[Granted("minutes", 24 * 60)]
    )

    assert local(deadline) == "2026-10-25T22:00:00+02:00"


def test_last_start_is_the_close_moved_by_what_was_granted() -> None:
    grants = [Granted("calendar_days", 1), Granted("minutes", 10)]

    assert last_start(QUIZ, zone=HELSINKI) == at("09:55")
    assert last_start(QUIZ, zone=HELSINKI, grants=grants) == at("10:05", "2026-12-01")


@pytest.mark.parametrize(
    ("window", "now", "factor", "closes"),
    [
        (QUIZ, at("08:00"), "1", at("09:55")),  # not the time limit from the opening
        (QUIZ, at("08:00"), "1.5", at("10:05")),  # the last full start is at 09:35
        (QUIZ, at("09:45"), "1.5", at("10:00")),
        (SITTING, at("08:00"), "1.5", at("12:00")),
        (SITTING, at("10:00"), "1.5", at("11:30")),
    ],
)
def test_latest_deadline_is_what_may_still_be_reached(
    window: Window, now: datetime, factor: str, closes: datetime
) -> None:
    assert latest_deadline(window, now=now, zone=HELSINKI, factor=Decimal(factor)).closes_at == closes
