"""A teacher saves marks: what is written, what is answered, what the log says. Cases O17 and O19 with their siblings."""

import datetime as dt
from decimal import Decimal
from typing import Any

import pytest

from gradebook.cells import CellChange, CellKey
from gradebook.entries import BLANK, Entry
from gradebook.errors import Malformed, MarksAreReadOnly, SheetNotFound
from gradebook.models import Column, Mark, MarkCode, MarkSource, User
from gradebook.services.marks import save_marks
from outbox.models.log import Event
from tests import factories
from tests.gradebook.marks import change, count_events, list_facts, list_steps, post, save, shown
from tests.people import World

pytestmark = pytest.mark.django_db


@pytest.fixture
def column(world: World) -> Column:
    return factories.column(world.sheet, title="Essay", max_points=20)


@pytest.fixture
def second_teacher(world: World) -> User:
    """Teaches the same class in the same course and period."""
    person = factories.teacher(world.school, username="second", first_name="Maija", last_name="Virtanen")
    factories.assignment(person, world.school_class, world.course, world.period)
    return person


def test_first_mark_is_saved_with_its_event(column: Column, student: User, teacher: User) -> None:
    outcome = save(column, student, "7.5", by=teacher)

    (view,) = outcome.saved
    assert (view.version, view.entry, view.source, view.changed_by) == (
        1,
        Entry(Decimal("7.5")),
        MarkSource.TEACHER,
        teacher.full_name,
    )
    assert (outcome.conflicts, outcome.refused) == ([], [])
    mark = Mark.objects.get()
    assert (mark.value, mark.code, mark.version, mark.updated_by, mark.updated_at) == (
        Decimal("7.5"),
        "",
        1,
        teacher,
        view.changed_at,
    )
    event = Event.objects.get()
    assert (event.kind, event.tenant_id, event.actor_type, event.actor_id) == (
        "MarkChanged",
        column.sheet.school_id,
        "person",
        teacher.pk,
    )
    assert event.payload == {
        "school_id": str(column.sheet.school_id),
        "sheet_id": str(column.sheet_id),
        "column_id": str(column.pk),
        "student_id": str(student.pk),
        "column_title": "Essay",
        "student_name": student.full_name,
        "actor_name": teacher.full_name,
        "old": None,
        "new": {"value": "7.5", "code": "", "source": "teacher"},
        "automatic_value": None,
        "reason": "typed",
    }


def test_stale_save_of_a_cell_is_answered_with_mine_theirs_who_and_when(
    column: Column, student: User, teacher: User, second_teacher: User
) -> None:
    """O17: both have the sheet open with 5; one saves 7, the other 6."""
    save(column, student, "5", by=teacher)
    first = save(column, student, "7", version=1, by=second_teacher).saved[0]

    outcome = save(column, student, "6", version=1, by=teacher)

    assert (outcome.saved, outcome.refused) == ([], [])
    (conflict,) = outcome.conflicts
    assert conflict.mine == Entry(Decimal(6))
    assert conflict.theirs == first
    assert (first.version, first.entry, first.changed_by) == (2, Entry(Decimal(7)), "Maija Virtanen")
    assert shown(column, student) == "7"
    assert list_steps(column, student) == [("typed", None, "5"), ("typed", "5", "7")]


def test_other_cells_are_saved_beside_a_conflict(
    column: Column, student: User, other_student: User, teacher: User, second_teacher: User
) -> None:
    """O17's sibling: two teachers in different cells of one row or column never conflict."""
    other_column = factories.column(column.sheet)
    save(column, student, "7", by=second_teacher)

    outcome = save_marks(
        sheet=column.sheet,
        changes=[
            change(column, student, "6"),
            change(column, other_student, "8"),
            change(other_column, student, "9"),
        ],
        by=teacher,
    )

    assert [conflict.theirs.key for conflict in outcome.conflicts] == [CellKey(column.pk, student.pk)]
    assert (shown(column, student), shown(column, other_student), shown(other_column, student)) == (
        "7",
        "8",
        "9",
    )


def test_conflict_is_settled_by_saving_on_the_newer_version(
    column: Column, student: User, teacher: User, second_teacher: User
) -> None:
    save(column, student, "7", by=second_teacher)
    theirs = save(column, student, "6", by=teacher).conflicts[0].theirs

    outcome = save(column, student, "6", version=theirs.version, by=teacher)

    assert [view.version for view in outcome.saved] == [2]
    assert list_steps(column, student) == [("typed", None, "7"), ("typed", "7", "6")]


def test_save_repeated_because_its_answer_got_lost_is_saved_once(
    column: Column, student: User, teacher: User
) -> None:
    first = save(column, student, "7", by=teacher)
    again = save(column, student, "7", by=teacher)

    assert again == first
    assert list_steps(column, student) == [("typed", None, "7")]


def test_same_mark_of_two_teachers_is_no_conflict_and_one_event(
    column: Column, student: User, teacher: User, second_teacher: User
) -> None:
    save(column, student, "7", by=teacher)
    outcome = save(column, student, "7.000", by=second_teacher)

    assert [view.changed_by for view in outcome.saved] == [teacher.full_name]
    assert list_steps(column, student) == [("typed", None, "7")]


@pytest.mark.parametrize("version", [0, 1, 3])
def test_save_based_on_a_version_that_is_not_there_is_a_conflict(
    column: Column, student: User, teacher: User, version: int
) -> None:
    save(column, student, "5", by=teacher)
    save(column, student, "6", version=1, by=teacher)
    outcome = save(column, student, "7", version=version, by=teacher)
    assert [conflict.theirs.version for conflict in outcome.conflicts] == [2]
    assert shown(column, student) == "6"


def test_save_based_on_a_mark_that_never_was_is_a_conflict_with_a_blank(
    column: Column, student: User, teacher: User
) -> None:
    outcome = save(column, student, "7", version=3, by=teacher)
    (conflict,) = outcome.conflicts
    assert (conflict.theirs.version, conflict.theirs.entry, conflict.theirs.changed_by) == (0, BLANK, "")
    assert shown(column, student) is None


def test_mark_goes_through_all_states_and_every_step_is_an_event(
    column: Column, student: User, teacher: User
) -> None:
    """O19: none, zero, a code and a number are distinct, each can be reached, and cleared is none again."""
    texts = ["5", "", "0", "m", "0", "e", "a", "", "0"]
    for version, text in enumerate(texts):
        assert len(save(column, student, text, version, by=teacher).saved) == 1
    assert list_steps(column, student) == [
        ("typed", None, "5"),
        ("cleared", "5", ""),
        ("typed", "", "0"),
        ("typed", "0", "missing"),
        ("typed", "missing", "0"),
        ("typed", "0", "excused"),
        ("typed", "excused", "absent"),
        ("cleared", "absent", ""),
        ("typed", "", "0"),
    ]


@pytest.mark.parametrize(
    ("text", "value", "code"), [("", None, ""), ("0", 0, ""), *[(c, None, c) for c in MarkCode]]
)
def test_states_of_a_cell_are_stored_apart(
    column: Column, student: User, teacher: User, text: str, value: int | None, code: str
) -> None:
    save(column, student, "5", by=teacher)
    save(column, student, text, version=1, by=teacher)
    mark = Mark.objects.get()
    assert (mark.value, mark.code, mark.source) == (value, code, MarkSource.TEACHER)


def test_clearing_a_cell_without_a_mark_changes_nothing(column: Column, student: User, teacher: User) -> None:
    (view,) = save(column, student, "", by=teacher).saved
    assert (view.version, view.entry) == (0, BLANK)
    assert not Mark.objects.exists()
    assert not Event.objects.exists()


def test_clearing_somebody_elses_new_mark_is_a_conflict(
    column: Column, student: User, teacher: User, second_teacher: User
) -> None:
    save(column, student, "7", by=second_teacher)
    assert len(save(column, student, "", by=teacher).conflicts) == 1
    assert shown(column, student) == "7"


@pytest.mark.parametrize(
    ("value", "code"),
    [("20.001", "above_max"), ("-1", "below_zero"), ("7.1234", "too_many_decimals"), ("NaN", "not_a_mark")],
)
def test_impossible_mark_is_refused_and_the_others_are_saved(
    column: Column, student: User, other_student: User, teacher: User, value: str, code: str
) -> None:
    wrong = CellChange(CellKey(column.pk, student.pk), 0, Entry(Decimal(value)))
    outcome = save_marks(sheet=column.sheet, changes=[wrong, change(column, other_student, "20")], by=teacher)
    assert [(refusal.key, refusal.code) for refusal in outcome.refused] == [(wrong.key, code)]
    assert (shown(column, student), shown(column, other_student)) == (None, "20")


def test_cell_of_another_sheet_or_of_a_stranger_is_refused(
    column: Column, student: User, teacher: User, world: World
) -> None:
    elsewhere = factories.column(factories.sheet(world.school_class, period=world.period))
    stranger = factories.student(world.school)
    outcome = save_marks(
        sheet=column.sheet,
        changes=[change(elsewhere, student, "7"), change(column, stranger, "7")],
        by=teacher,
    )
    assert sorted(refusal.code for refusal in outcome.refused) == ["not_in_class", "unknown_column"]
    assert not Mark.objects.exists()


def test_student_who_left_in_mid_term_can_still_be_marked_but_not_one_who_left_before(
    column: Column, world: World, teacher: User
) -> None:
    left, gone, coming = (factories.student(world.school) for _ in range(3))
    day = dt.timedelta(days=1)
    starts, ends = world.period.starts_on, world.period.ends_on
    factories.enrolment(left, world.school_class, starts_on=starts - 30 * day, ends_on=starts)
    factories.enrolment(gone, world.school_class, starts_on=starts - 30 * day, ends_on=starts - day)
    factories.enrolment(coming, world.school_class, starts_on=ends + day)
    outcome = save_marks(
        sheet=column.sheet, changes=[change(column, s, "7") for s in (left, gone, coming)], by=teacher
    )
    assert [view.key.student_id for view in outcome.saved] == [left.pk]
    assert {refusal.key.student_id for refusal in outcome.refused} == {gone.pk, coming.pk}


def test_cell_named_twice_is_malformed(column: Column, student: User, teacher: User) -> None:
    with pytest.raises(Malformed):
        save_marks(sheet=column.sheet, changes=[change(column, student, t) for t in ("7", "8")], by=teacher)


@pytest.mark.parametrize(
    ("who", "error"),
    [
        ("student", SheetNotFound),
        ("other_teacher", SheetNotFound),
        ("other_school_teacher", SheetNotFound),
        ("admin", MarksAreReadOnly),
    ],
)
def test_save_is_refused_to_whoever_does_not_teach_the_class(
    request: pytest.FixtureRequest, column: Column, student: User, who: str, error: type[Exception]
) -> None:
    with pytest.raises(error):
        save(column, student, "7", by=request.getfixturevalue(who))
    assert not Mark.objects.exists()


def test_teachers_mark_over_an_automatic_one_keeps_it_beside(
    column: Column, student: User, teacher: User
) -> None:
    post(column, student, "6")
    (view,) = save(column, student, "8", version=1, by=teacher).saved
    assert (view.entry, view.source, view.automatic_value) == (Entry(Decimal(8)), "teacher", Decimal(6))
    assert list_facts(column, student)[-1]["automatic_value"] == "6"


def test_result_kept_beside_meanwhile_does_not_make_a_save_stale(
    column: Column, student: User, teacher: User
) -> None:
    save(column, student, "8", by=teacher)
    post(column, student, "6")
    (view,) = save(column, student, "9", version=1, by=teacher).saved
    assert (view.version, view.automatic_value) == (3, Decimal(6))


def test_automatic_mark_posted_meanwhile_makes_a_save_stale(
    column: Column, student: User, teacher: User
) -> None:
    post(column, student, "6")
    (conflict,) = save(column, student, "9", by=teacher).conflicts
    assert (conflict.theirs.entry, conflict.theirs.source, conflict.theirs.changed_by) == (
        Entry(Decimal(6)),
        "automatic",
        "",
    )


def test_typing_the_automatic_mark_again_does_not_make_it_a_teachers_own(
    column: Column, student: User, teacher: User
) -> None:
    post(column, student, "6")
    (view,) = save(column, student, "6", version=1, by=teacher).saved
    assert (view.version, view.source) == (1, "automatic")


def _save_many(column: Column, students: list[User], text: str, version: int, by: User) -> Any:
    return save_marks(sheet=column.sheet, changes=[change(column, s, text, version) for s in students], by=by)


@pytest.mark.parametrize("number", [1, 300])
def test_save_takes_the_same_queries_whatever_its_size(
    django_assert_num_queries: Any, world: World, column: Column, teacher: User, number: int
) -> None:
    students = [factories.student(world.school) for _ in range(number)]
    for student in students:
        factories.enrolment(student, world.school_class)

    with django_assert_num_queries(6):
        assert len(_save_many(column, students, "7", 0, teacher).saved) == number
    with django_assert_num_queries(5):
        assert len(_save_many(column, students, "8", 0, teacher).conflicts) == number
    assert count_events([column]) == number
