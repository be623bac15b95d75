"""M4 and I24: a term is locked while many write in it. After the lock's commit, no mark of the old generation comes."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection, transaction

from gradebook.errors import TermIsBusy, TermIsLocked
from gradebook.models import Column, Period, User
from gradebook.services.terms import changing_marks, lock_term
from outbox.models.log import Event
from tests import factories
from tests.gradebook.marks import save
from tests.people import World

pytestmark = pytest.mark.django_db(transaction=True)
WRITERS = 50


def _write_until_refused(column: Column, student: User, teacher: User, begin: threading.Barrier) -> int:
    """Save one mark after the other until the term is locked; return how many were saved."""
    try:
        begin.wait(timeout=60)
        for version in range(10_000):
            save(column, student, str(version % 9 + 1), version, by=teacher)
    except TermIsLocked:
        return version
    finally:
        connection.close()
    raise AssertionError("The term was never locked.")


def test_no_mark_is_saved_behind_the_lock_of_a_term_that_fifty_write_in(world: World, teacher: User) -> None:
    column = factories.column(world.sheet, max_points=10)
    students = [factories.student(world.school) for _ in range(WRITERS)]
    for student in students:
        factories.enrolment(student, world.school_class)
    begin = threading.Barrier(WRITERS + 1)
    with ThreadPoolExecutor(WRITERS) as pool:
        writing = [pool.submit(_write_until_refused, column, each, teacher, begin) for each in students]
        begin.wait(timeout=60)
        while Event.objects.filter(kind="MarkChanged").count() < WRITERS:
            time.sleep(0.01)
        lock_term(period_id=world.period.pk, by=factories.admin())
        saved = sum(each.result(timeout=60) for each in writing)
    locked = Event.objects.get(kind="TermLocked")
    marks = Event.objects.filter(kind="MarkChanged")
    assert (marks.count(), marks.filter(seq__gt=locked.seq).count()) == (saved, 0)
    assert Period.objects.get().generation == 2


def test_locker_waits_for_a_writer_under_way_and_gives_up_on_one_that_does_not_end(
    world: World, column: Column, student: User, teacher: User
) -> None:
    holding, done = threading.Event(), threading.Event()

    def hold() -> None:
        try:
            with changing_marks([world.period.pk]):
                holding.set()
                done.wait(timeout=60)
        finally:
            connection.close()

    holder = threading.Thread(target=hold)
    holder.start()
    try:
        assert holding.wait(timeout=60)
        with pytest.raises(TermIsBusy):
            lock_term(period_id=world.period.pk, by=factories.admin())
        assert save(column, student, "5", by=teacher).saved  # nobody was held up for good
    finally:
        done.set()
        holder.join(timeout=60)
    assert lock_term(period_id=world.period.pk, by=factories.admin()).is_locked


def test_writer_that_arrives_while_the_term_is_being_locked_is_refused(
    world: World, column: Column, student: User, teacher: User
) -> None:
    outcome: list[type[BaseException] | None] = []

    def arrive() -> None:
        try:
            save(column, student, "5", by=teacher)
            outcome.append(None)
        except TermIsLocked as refused:
            outcome.append(type(refused))
        finally:
            connection.close()

    with transaction.atomic():
        lock_term(period_id=world.period.pk, by=factories.admin())
        writer = threading.Thread(target=arrive)
        writer.start()
        while not _is_waiting_for_advisory_lock():
            time.sleep(0.01)
    writer.join(timeout=60)
    assert outcome == [TermIsLocked]


@pytest.fixture
def column(world: World) -> Column:
    return factories.column(world.sheet)


def _is_waiting_for_advisory_lock() -> bool:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
            " AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
        )
        [waiting] = cursor.fetchone()
    return bool(waiting)
