"""What holds for every personal deadline: in any zone, over every clock change, whatever was granted."""

import dataclasses
import zoneinfo
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from zoneinfo import ZoneInfo

from hypothesis import assume, given
from hypothesis import strategies as st

from exams.deadlines import Window, last_start, latest_deadline, personal_deadline, shift_days

ZONES = sorted(zoneinfo.available_timezones())
EIGHT_YEARS = (datetime(2020, 1, 1), datetime(2028, 1, 1))  # noqa: DTZ001 - clock times, read in a zone below


@dataclasses.dataclass(frozen=True)
class Granted:
    kind: str
    amount: int


@dataclasses.dataclass(frozen=True)
class Case:
    """One student's attempt at one exam."""

    window: Window
    started_at: datetime
    zone: ZoneInfo
    factor: Decimal
    grants: tuple[Granted, ...]

    def closes_at(self, **changes: object) -> datetime:
        case = dataclasses.replace(self, **changes)  # type: ignore[arg-type]
        deadline = personal_deadline(
            case.window, started_at=case.started_at, zone=case.zone, factor=case.factor, grants=case.grants
        )
        assert deadline.closes_at <= deadline.grace_until <= deadline.accepts_until
        assert len(deadline.rule) <= 200
        return deadline.closes_at


def instants(zone: ZoneInfo) -> st.SearchStrategy[datetime]:
    """Moments of eight years as they are on this zone's clock, those near its clock changes drawn far more often."""
    anything = st.datetimes(*EIGHT_YEARS, timezones=st.just(zone))
    near_changes = (
        st.sampled_from(changes_of(zone)).flatmap(
            lambda change: st.integers(-300, 300).map(lambda minutes: change + timedelta(minutes=minutes))
        )
        if changes_of(zone)
        else anything
    )
    return st.one_of(anything, near_changes).map(lambda moment: moment.astimezone(UTC))


def changes_of(zone: ZoneInfo) -> list[datetime]:
    """Return the noons (UTC) around which this zone's offset changes."""
    days = [datetime(2020, 1, 1, 12, tzinfo=UTC) + timedelta(days=n) for n in range(366)]
    return [
        day
        for day in days
        if day.astimezone(zone).utcoffset() != (day - timedelta(days=1)).astimezone(zone).utcoffset()
    ]


durations = st.one_of(
    st.timedeltas(timedelta(minutes=1), timedelta(hours=5)),
    st.timedeltas(timedelta(minutes=1), timedelta(days=20)),
)
grants = st.lists(
    st.one_of(
        st.builds(Granted, st.just("minutes"), st.integers(1, 100_000)),
        st.builds(Granted, st.just("calendar_days"), st.integers(1, 400)),
    ),
    max_size=4,
).map(tuple)
factors = st.decimals(1, 10, places=2)


@st.composite
def cases(draw: st.DrawFn) -> Case:
    zone = ZoneInfo(draw(st.sampled_from(ZONES)))
    opens_at = draw(instants(zone))
    length = draw(durations)
    window = Window(
        opens_at, opens_at + length, draw(st.none() | durations), *draw(st.tuples(durations, durations))
    )
    given_grants = draw(grants)
    last = last_start(window, zone=zone, grants=given_grants)
    first, last = (moment.replace(tzinfo=None) for moment in (opens_at, last))
    started_at = draw(st.datetimes(first, last, timezones=st.just(UTC)))
    if draw(st.booleans()):  # the same moments as times of the school's zone
        started_at = started_at.astimezone(zone)
        window = dataclasses.replace(
            window, opens_at=opens_at.astimezone(zone), closes_at=window.closes_at.astimezone(zone)
        )
    return Case(window, started_at, zone, draw(factors), given_grants)


@given(cases())
def test_deadline_never_comes_before_what_everybody_has(case: Case) -> None:
    plain = case.closes_at(factor=Decimal(1), grants=())

    assert plain <= case.closes_at()


@given(cases())
def test_deadline_without_factor_and_grants_is_the_limit_or_the_close(case: Case) -> None:
    limit = case.window.time_limit
    start = case.started_at.astimezone(UTC)
    ends = [case.window.closes_at] + ([start + limit] if limit else [])

    assert case.closes_at(factor=Decimal(1), grants=()) == min(ends)


@given(cases(), factors)
def test_deadline_grows_with_the_factor(case: Case, other: Decimal) -> None:
    smaller, larger = sorted([case.factor, other])

    assert case.closes_at(factor=smaller) <= case.closes_at(factor=larger)


@given(cases(), grants)
def test_deadline_grows_with_every_grant(case: Case, more: tuple[Granted, ...]) -> None:
    assert case.closes_at() <= case.closes_at(grants=case.grants + more)


@given(cases(), st.randoms())
def test_deadline_does_not_depend_on_the_order_of_grants(case: Case, random: object) -> None:
    shuffled = list(case.grants)
    random.shuffle(shuffled)  # type: ignore[attr-defined]

    assert case.closes_at() == case.closes_at(grants=tuple(shuffled))


@given(cases(), st.integers(1, 10_000))
def test_minutes_granted_are_minutes_gained(case: Case, minutes: int) -> None:
    gained = case.closes_at(grants=(*case.grants, Granted("minutes", minutes))) - case.closes_at()

    assert gained == timedelta(minutes=minutes)


@given(cases())
def test_attempt_started_in_time_has_a_deadline_ahead(case: Case) -> None:
    assert case.started_at <= case.closes_at()


@given(cases())
def test_factor_gives_the_same_share_more_than_others_have_from_that_start(case: Case) -> None:
    """Where nothing was granted, a sitting's working time is the others' working time times the factor."""
    is_sitting = case.window.time_limit or case.window.closes_at - case.window.opens_at <= timedelta(hours=24)
    assume(is_sitting and case.started_at <= case.window.closes_at)
    start = case.started_at.astimezone(UTC)
    others = case.closes_at(factor=Decimal(1), grants=()) - start
    own = case.closes_at(grants=()) - start

    assert (
        abs(own / timedelta(microseconds=1) - float(case.factor) * (others / timedelta(microseconds=1))) <= 2
    )


@given(cases())
def test_no_start_still_possible_closes_after_the_latest_deadline(case: Case) -> None:
    def latest(now: datetime) -> datetime:
        return latest_deadline(
            case.window, now=now, zone=case.zone, factor=case.factor, grants=case.grants
        ).closes_at

    assert case.closes_at() <= latest(case.started_at) <= latest(case.window.opens_at - timedelta(days=1))


@given(st.sampled_from(ZONES), st.data(), st.integers(1, 800))
def test_calendar_days_keep_the_hour_unless_the_clock_has_no_such_hour(
    name: str, data: st.DataObject, days: int
) -> None:
    zone = ZoneInfo(name)
    moment = data.draw(instants(zone))

    shifted = shift_days(moment, days, zone)

    clock = moment.astimezone(zone).replace(tzinfo=None) + timedelta(days=days)
    assert moment < shifted
    assert shift_days(moment, days - 1, zone) <= shifted
    assert shifted.astimezone(zone).replace(tzinfo=None) in (clock, clock + gap_at(clock, zone))


def gap_at(clock: datetime, zone: ZoneInfo) -> timedelta:
    """Return how much of the clock is skipped where this time falls into a gap, and nothing elsewhere."""
    before, after = (clock.replace(tzinfo=zone, fold=fold).utcoffset() for fold in (0, 1))
    assert before is not None
    assert after is not None
    return max(after - before, timedelta(0))
