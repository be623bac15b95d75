"""A machine's results reach the sheet; a teacher's own mark always wins. Case O13's rule, and posts repeated or replayed."""

import datetime as dt
import itertools
from decimal import Decimal
from typing import Any
from uuid import uuid4

import pytest

from gradebook.cells import AutomaticMark, CellKey
from gradebook.errors import ColumnNotFound, InvalidMark
from gradebook.models import Column, Mark, User
from gradebook.services.marks import PostOutcome, post_automatic_marks
from outbox.models.log import Event
from tests import factories
from tests.gradebook.marks import NOON, list_facts, list_steps, post, save, shown
from tests.people import World

pytestmark = pytest.mark.django_db


@pytest.fixture
def column(world: World) -> Column:
    return factories.column(world.sheet, title="Exam", max_points=20)


def _beside(column: Column, student: User) -> Decimal | None:
    return Mark.objects.get(column=column, student=student).automatic_value


def test_result_fills_a_blank_cell_and_names_its_cause(column: Column, student: User) -> None:
    cause = uuid4()
    key = CellKey(column.pk, student.pk)
    outcome = post_automatic_marks(posts=[AutomaticMark(key, Decimal("6.5"), NOON, cause_id=cause)])

    assert outcome == PostOutcome(posted=[key], kept_beside=[], unchanged=[])
    mark = Mark.objects.get()
    assert (
        mark.value,
        mark.source,
        mark.automatic_value,
        mark.automatic_at,
        mark.version,
        mark.updated_by,
    ) == (
        Decimal("6.5"),
        "automatic",
        Decimal("6.5"),
        NOON,
        1,
        None,
    )
    event = Event.objects.get()
    assert (event.actor_type, event.actor_id, event.cause_id) == ("worker", None, cause)
    (fact,) = list_facts(column, student)
    assert (fact["reason"], fact["actor_name"], fact["student_name"], fact["automatic_value"]) == (
        "posted",
        "Automatic grading",
        student.full_name,
        "6.5",
    )


def test_teachers_own_mark_wins_over_every_regrade_and_the_result_stays_beside(
    column: Column, student: User, teacher: User
) -> None:
    """O13: automatic 6; the teacher sets 8; the whole exam is graded again, twice."""
    post(column, student, "6", minute=0)
    before = save(column, student, "8", version=1, by=teacher).saved[0]
    assert post(column, student, "5", minute=1).kept_beside == [CellKey(column.pk, student.pk)]
    assert post(column, student, "7", minute=2).kept_beside == [CellKey(column.pk, student.pk)]

    assert (shown(column, student), _beside(column, student)) == ("8", Decimal(7))
    mark = Mark.objects.get()
    assert (mark.source, mark.updated_by, mark.updated_at) == ("teacher", teacher, before.changed_at)
    assert list_steps(column, student) == [
        ("posted", None, "6"),
        ("typed", "6", "8"),
        ("kept_beside", "8", "8"),
        ("kept_beside", "8", "8"),
    ]


@pytest.mark.parametrize("text", ["e", "m", "0"])
def test_teachers_code_or_zero_is_a_mark_of_their_own(
    column: Column, student: User, teacher: User, text: str
) -> None:
    save(column, student, text, by=teacher)
    stands = shown(column, student)
    assert len(post(column, student, "6").kept_beside) == 1
    assert shown(column, student) == stands


def test_new_result_fills_a_cell_the_teacher_cleared_but_a_known_one_does_not(
    column: Column, student: User, teacher: User
) -> None:
    post(column, student, "6", minute=0)
    save(column, student, "", version=1, by=teacher)

    assert len(post(column, student, "6", minute=0).unchanged) == 1
    assert shown(column, student) == ""
    assert len(post(column, student, "7", minute=1).posted) == 1
    assert shown(column, student) == "7"


def test_regrade_replaces_an_automatic_mark(column: Column, student: User) -> None:
    post(column, student, "6", minute=0)
    post(column, student, "7", minute=1)
    assert list_steps(column, student) == [("posted", None, "6"), ("posted", "6", "7")]


def test_replay_of_all_posts_changes_nothing_and_says_nothing(
    column: Column, student: User, other_student: User, teacher: User
) -> None:
    save(column, other_student, "9", by=teacher)
    results = [("6", 0), ("8", 1), ("7", 2)]
    for (value, minute), person in itertools.product(results, (student, other_student)):
        post(column, person, value, minute)
    marks, events = list(Mark.objects.values()), Event.objects.count()

    for (value, minute), person in itertools.product(results, (student, other_student)):
        outcome = post(column, person, value, minute)
        assert outcome.unchanged == [CellKey(column.pk, person.pk)]
    assert (list(Mark.objects.values()), Event.objects.count()) == (marks, events)


def test_latest_of_several_results_for_one_cell_counts(column: Column, student: User) -> None:
    key = CellKey(column.pk, student.pk)
    late, early = (
        AutomaticMark(key, Decimal(v), NOON + dt.timedelta(minutes=m)) for v, m in (("8", 2), ("6", 1))
    )
    assert post_automatic_marks(posts=[late, early]).posted == [key]
    assert list_steps(column, student) == [("posted", None, "8")]


def test_nothing_to_post_is_nothing_done(db: None) -> None:
    assert post_automatic_marks(posts=[]) == PostOutcome([], [], [])


@pytest.mark.parametrize("value", ["-1", "7.1234", "NaN", "Infinity"])
def test_impossible_result_is_refused_whole(
    column: Column, student: User, other_student: User, value: str
) -> None:
    posts = [
        AutomaticMark(CellKey(column.pk, student.pk), Decimal(6), NOON),
        AutomaticMark(CellKey(column.pk, other_student.pk), Decimal(value), NOON),
    ]
    with pytest.raises(InvalidMark):
        post_automatic_marks(posts=posts)
    assert not Mark.objects.exists()


def test_result_for_an_unknown_column_is_refused(student: User) -> None:
    with pytest.raises(ColumnNotFound):
        post_automatic_marks(posts=[AutomaticMark(CellKey(uuid4(), student.pk), Decimal(6), NOON)])


@pytest.mark.parametrize("number", [1, 30])
def test_posting_takes_the_same_queries_whatever_its_size(
    django_assert_num_queries: Any, world: World, number: int
) -> None:
    columns = [factories.column(factories.sheet(world.school_class, period=world.period)) for _ in range(2)]
    students = [factories.student(world.school) for _ in range(number)]
    posts = [
        AutomaticMark(CellKey(column.pk, student.pk), Decimal(6), NOON)
        for column, student in itertools.product(columns, students)
    ]
    with django_assert_num_queries(9):
        assert len(post_automatic_marks(posts=posts).posted) == 2 * number
    with django_assert_num_queries(7):
        assert len(post_automatic_marks(posts=posts).unchanged) == 2 * number
