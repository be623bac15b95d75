"""Two teachers, and a teacher and the worker, in the same cells at the same time: on real connections, started by a barrier."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from decimal import Decimal
from typing import Any

import pytest
from django.db import OperationalError, connection, transaction

from gradebook.cells import AutomaticMark, CellKey
from gradebook.errors import ColumnRefused
from gradebook.models import Column, Mark, MarkSheet, User
from gradebook.queries import list_changes, take_snapshot
from gradebook.services.columns import edit_column
from gradebook.services.marks import SaveOutcome, post_automatic_marks, save_marks
from outbox.models.log import Event
from tests import factories
from tests.gradebook.marks import NOON, change, count_events, list_steps, post, save, shown
from tests.people import World

pytestmark = pytest.mark.django_db(transaction=True)

ROUNDS = 500  # of two savers: 1,000 saves on one cell


@pytest.fixture
def column(world: World) -> Column:
    return factories.column(world.sheet, max_points=100_000)


@pytest.fixture
def second_teacher(world: World) -> User:
    person = factories.teacher(world.school)
    factories.assignment(person, world.school_class, world.course, world.period)
    return person


def _race(*racers: Callable[[], Any]) -> list[Any]:
    """Run the racers at once, each on a connection of its own; return what each returned."""
    barrier = threading.Barrier(len(racers))

    def run(racer: Callable[[], Any]) -> Any:
        try:
            barrier.wait(timeout=30)
            return racer()
        finally:
            connection.close()

    with ThreadPoolExecutor(len(racers)) as pool:
        return [future.result(timeout=60) for future in [pool.submit(run, racer) for racer in racers]]


def _save_in_rounds(
    column: Column, student: User, by: User, offset: int, barrier: threading.Barrier
) -> list[SaveOutcome]:
    """Save a value of one's own in each round, based on the version the round begins with."""
    outcomes = []
    for version in range(ROUNDS):
        barrier.wait(timeout=30)
        outcomes.append(save(column, student, str(2 * version + offset), version, by=by))
    return outcomes


def test_cell_that_two_teachers_save_at_once_is_won_by_one_per_version(
    column: Column, student: User, teacher: User, second_teacher: User
) -> None:
    """1,000 saves on one cell: every version has one winner, the other is told who, and the log has no gap."""
    barrier = threading.Barrier(2)
    one, two = _race(
        lambda: _save_in_rounds(column, student, teacher, 0, barrier),
        lambda: _save_in_rounds(column, student, second_teacher, 1, barrier),
    )

    for version, (mine, other) in enumerate(zip(one, two, strict=True)):
        winner, loser = (mine, other) if mine.saved else (other, mine)
        assert (len(winner.saved), len(winner.conflicts), len(loser.saved), len(loser.conflicts)) == (
            1,
            0,
            0,
            1,
        )
        assert winner.saved[0].version == version + 1
        assert loser.conflicts[0].theirs == winner.saved[0]
    steps = list_steps(column, student)  # asserts the versions 1, 2, 3 …
    assert len(steps) == ROUNDS
    assert [old for _, old, _ in steps] == [None, *(new for _, _, new in steps[:-1])]
    assert shown(column, student) == steps[-1][2]


def test_savers_of_overlapping_cells_in_any_order_never_deadlock(
    column: Column, world: World, teacher: User, second_teacher: User
) -> None:
    students = [_enrol(world) for _ in range(12)]

    def save_all(by: User, order: list[User]) -> list[int]:
        won = []
        for version in range(20):
            changes = [
                change(column, student, f"{version}{by.pk.int % 2}{n}", version)
                for n, student in enumerate(order)
            ]
            won.append(len(save_marks(sheet=world.sheet, changes=changes, by=by).saved))
        return won

    _race(
        lambda: save_all(teacher, students),
        lambda: save_all(second_teacher, students[::-1]),
        lambda: [
            post_automatic_marks(
                posts=[AutomaticMark(CellKey(column.pk, s.pk), Decimal(n), NOON) for s in students]
            )
            for n in range(20)
        ],
    )
    marks = Mark.objects.filter(column=column)
    assert count_events([column]) == sum(mark.version for mark in marks)
    for student in students:
        list_steps(column, student)  # asserts the versions 1, 2, 3 …


@pytest.mark.parametrize("version", [0, 1])
def test_saver_takes_cells_in_the_order_of_their_keys_whatever_was_asked(
    column: Column, world: World, teacher: User, second_teacher: User, version: int
) -> None:
    """Why nobody deadlocks. One cell in the middle is held: the waiting saver has those before it, and none after it."""
    students = sorted((_enrol(world) for _ in range(7)), key=lambda student: student.pk)
    if version:
        save_marks(sheet=world.sheet, changes=[change(column, s, "1") for s in students], by=teacher)
    mixed = [students[n] for n in (5, 0, 6, 3, 1, 4, 2)]

    with _held_save(column, students[3], "7", teacher, version) as release:
        wanted = [change(column, student, "8", version) for student in mixed]
        waiter = _Background(lambda: save_marks(sheet=world.sheet, changes=wanted, by=second_teacher))
        _wait_until_somebody_waits_for_a_lock()
        assert [_is_free(column, student, version, teacher) for student in students] == [False] * 4 + [
            True
        ] * 3
        release(commit=True)
    outcome = waiter.result()
    assert [conflict.theirs.key.student_id for conflict in outcome.conflicts] == [students[3].pk]


def _enrol(world: World) -> User:
    student = factories.student(world.school)
    factories.enrolment(student, world.school_class)
    return student


def _is_free(column: Column, student: User, version: int, by: User) -> bool:
    """Whether a cell can be changed at once; what was changed to find out is rolled back."""
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SET LOCAL lock_timeout = '50ms'")
            save(column, student, "9", version, by=by)
            transaction.set_rollback(True)
    except OperationalError:
        return False
    return True


def test_first_marks_of_two_teachers_make_one_row(
    column: Column, student: User, teacher: User, second_teacher: User
) -> None:
    outcomes = _race(
        lambda: save(column, student, "7", by=teacher), lambda: save(column, student, "8", by=second_teacher)
    )
    assert sorted(len(outcome.saved) for outcome in outcomes) == [0, 1]
    assert Mark.objects.get().version == 1
    assert len(list_steps(column, student)) == 1


def test_waiting_saver_is_judged_by_what_the_other_committed(
    column: Column, student: User, teacher: User, second_teacher: User
) -> None:
    """The first holds its row uncommitted while the second arrives: it waits, and then sees the first one's mark."""
    with _held_save(column, student, "7", teacher) as release:
        waiter = _Background(lambda: save(column, student, "8", by=second_teacher))
        _wait_until_somebody_waits_for_a_lock()
        release(commit=True)
    assert len(waiter.result().conflicts) == 1
    assert shown(column, student) == "7"


def test_waiting_saver_writes_when_the_other_rolled_back(
    column: Column, student: User, teacher: User, second_teacher: User
) -> None:
    with _held_save(column, student, "7", teacher) as release:
        waiter = _Background(lambda: save(column, student, "8", by=second_teacher))
        _wait_until_somebody_waits_for_a_lock()
        release(commit=False)
    assert len(waiter.result().saved) == 1
    assert list_steps(column, student) == [("typed", None, "8")]
    assert Event.objects.count() == 1


def test_result_and_teacher_at_once_leave_the_teachers_mark_and_the_result_beside_or_a_conflict(
    column: Column, student: User, teacher: User
) -> None:
    outcome, _ = _race(lambda: save(column, student, "8", by=teacher), lambda: post(column, student, "6"))
    mark = Mark.objects.get()
    came_first = bool(outcome.saved)
    assert (mark.value, mark.automatic_value) == (Decimal(8 if came_first else 6), Decimal(6))
    reasons = [reason for reason, _, _ in list_steps(column, student)]
    assert reasons == (["typed", "kept_beside"] if came_first else ["posted"])


def test_maximum_is_not_lowered_below_a_mark_that_is_just_being_saved(
    column: Column, student: User, teacher: User, second_teacher: User
) -> None:
    """The saver shares the column; the one who lowers its maximum waits, and then finds the mark."""

    def lower() -> str:
        try:
            edit_column(
                column_id=column.pk,
                sheet=column.sheet,
                title="Essay",
                max_points=Decimal(10),
                by=second_teacher,
            )
        except ColumnRefused as refused:
            return refused.detail
        return "lowered"

    with _held_save(column, student, "18", teacher) as release:
        waiter = _Background(lower)
        _wait_until_somebody_waits_for_a_lock()
        release(commit=True)
    assert waiter.result() == "A mark of 18 is already in this column."
    assert Column.objects.get(pk=column.pk).max_points == 100_000


def test_refresh_finds_a_change_that_began_before_the_page_was_read_and_committed_after(
    column: Column, student: User, other_student: User, teacher: User, second_teacher: User
) -> None:
    """A cursor on time or on a counter would miss it for ever; the snapshot does not."""
    with _held_save(column, student, "7", teacher) as release:
        save(column, other_student, "9", by=second_teacher)  # later change, earlier commit
        snapshot = take_snapshot()
        assert list_changes(_sheet_of(column), since=snapshot).cells == []
        release(commit=True)
    changes = list_changes(_sheet_of(column), since=snapshot)
    assert [view.key.student_id for view in changes.cells] == [student.pk]
    assert list_changes(_sheet_of(column), since=changes.snapshot).cells == []


def _sheet_of(column: Column) -> MarkSheet:
    return MarkSheet.objects.select_related("period").get(pk=column.sheet_id)


class _Background:
    """Something running in a thread of its own, whose result is asked for later."""

    def __init__(self, work: Callable[[], Any]) -> None:
        self._pool = ThreadPoolExecutor(1)
        self._future = self._pool.submit(self._run, work)

    def result(self) -> Any:
        with self._pool:
            return self._future.result(timeout=30)

    @staticmethod
    def _run(work: Callable[[], Any]) -> Any:
        try:
            return work()
        finally:
            connection.close()


@contextmanager
def _held_save(
    column: Column, student: User, text: str, by: User, version: int = 0
) -> Iterator[Callable[..., None]]:
    """Save one cell in an open transaction of another connection; `release(commit=…)` ends it."""
    saved, ended = threading.Event(), threading.Event()
    verdict: list[bool] = []

    def hold() -> None:
        with transaction.atomic():
            save(column, student, text, version, by=by)
            saved.set()
            assert ended.wait(timeout=30)
            transaction.set_rollback(not verdict[0])

    def release(*, commit: bool) -> None:
        verdict.append(commit)
        ended.set()
        holder.result()

    holder = _Background(hold)
    assert saved.wait(timeout=30)
    yield release


def _wait_until_somebody_waits_for_a_lock() -> None:
    waiting = "SELECT EXISTS (SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database())"
    for _ in range(3_000):
        with connection.cursor() as cursor:
            cursor.execute(waiting)
            if cursor.fetchone()[0]:
                return
            cursor.execute("SELECT pg_sleep(0.01)")
    pytest.fail("Nobody waited for a lock within 30 s.")
