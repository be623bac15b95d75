"""Periodic work: once per planned moment, however many beats there are."""

import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection

from outbox.models import PlannedMoment
from outbox.periodic import (
    EPOCH,
    Periodic,
    find_moment,
    prune_moments,
    register_periodic,
    run_planned,
    unregister_periodic,
)

HOUR = timedelta(hours=1)


@pytest.mark.parametrize(
    ("now", "every", "moment"),
    [
        (datetime(2026, 11, 29, 17, 59, 59, tzinfo=UTC), HOUR, datetime(2026, 11, 29, 17, tzinfo=UTC)),
        (datetime(2026, 11, 29, 17, tzinfo=UTC), HOUR, datetime(2026, 11, 29, 17, tzinfo=UTC)),
        (datetime(2026, 11, 29, 17, 1, tzinfo=UTC), timedelta(days=1), datetime(2026, 11, 29, tzinfo=UTC)),
        (
            datetime(2026, 11, 29, 17, 0, 7, tzinfo=UTC),
            timedelta(seconds=5),
            datetime(2026, 11, 29, 17, 0, 5, tzinfo=UTC),
        ),
    ],
)
def test_moments_are_multiples_of_the_period(now: datetime, every: timedelta, moment: datetime) -> None:
    assert find_moment(now, every) == moment


Register = Callable[[Callable[[], int]], None]


@pytest.fixture
def register() -> Iterator[Register]:
    """Register work of the test's own, whose one moment in decades was this midnight: an older one would be pruned as long past."""
    every = timedelta(days=(datetime.now(UTC) - EPOCH).days)
    assert find_moment(datetime.now(UTC), every) == EPOCH + every

    def add(run: Callable[[], int]) -> None:
        register_periodic(Periodic("test", every, run))

    yield add
    unregister_periodic("test")


@pytest.fixture
def rarely() -> Iterator[list[int]]:
    """What was done by work that comes back in decades, and whose last moment was a month ago."""
    done: list[int] = []

    def work() -> int:
        done.append(1)
        return 1

    years = (datetime.now(UTC) - EPOCH) - timedelta(days=30)
    register_periodic(Periodic("rarely", years, work))
    yield done
    unregister_periodic("rarely")


@pytest.mark.django_db(transaction=True)
def test_many_beats_at_once_do_the_work_once(register: Register) -> None:
    beats = 8
    barrier = threading.Barrier(beats)
    done: list[int] = []

    def work() -> int:
        done.append(1)
        return 7

    def beat() -> None:
        barrier.wait()
        run_planned()
        connection.close()

    register(work)
    threads = [threading.Thread(target=beat) for _ in range(beats)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    run_planned()
    assert done == [1]
    moment = PlannedMoment.objects.get(work="test")
    assert (moment.done, moment.error, moment.finished_at is None) == (7, "", False)


@pytest.mark.django_db(transaction=True)
def test_work_that_fails_is_noted_and_keeps_nothing_else_from_its_turn(register: Register) -> None:
    def fail() -> int:
        raise ValueError("no")

    register(fail)
    assert run_planned() > 1, "the product's own work is there too"
    moments = {
        moment.work: (moment.error, moment.finished_at is None) for moment in PlannedMoment.objects.all()
    }
    assert moments.pop("test") == ("ValueError", True)
    assert set(moments.values()) == {("", False)}


@pytest.mark.django_db
def test_moments_of_last_week_are_forgotten_but_the_last_one_of_each_work() -> None:
    often = [datetime(2026, 1, day, tzinfo=UTC) for day in (1, 2, 3)]
    PlannedMoment.objects.bulk_create(PlannedMoment(work="often", planned_at=at) for at in often)
    PlannedMoment.objects.create(work="rarely", planned_at=datetime(2026, 1, 1, tzinfo=UTC))

    assert prune_moments() == 2
    assert list(PlannedMoment.objects.order_by("work").values_list("work", "planned_at")) == [
        ("often", often[-1]),
        ("rarely", datetime(2026, 1, 1, tzinfo=UTC)),
    ]


@pytest.mark.django_db
def test_work_that_comes_back_in_decades_is_done_once_although_its_moment_is_long_past(
    rarely: list[int],
) -> None:
    for _ in range(2):
        run_planned()
        prune_moments()
    assert rarely == [1]
