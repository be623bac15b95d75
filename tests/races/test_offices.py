"""Doors other than a save, at once: heads who lock, issue and open, teachers who import the same file, an import beside the lock."""

from collections.abc import Callable

import pytest

from gradebook.imports.importing import ImportRefused, apply_import, prepare_import
from gradebook.imports.plans import Wishes
from gradebook.models import Column, Mark, Period, ReportCard, User
from gradebook.services.amendments import reopen_term
from gradebook.services.cards import issue_cards
from gradebook.services.terms import lock_term
from outbox.log.sequencer import sequence_events
from outbox.models.log import Event
from tests import factories
from tests.exams.together import at_once
from tests.gradebook.marks import count_events, shown
from tests.people import World

pytestmark = pytest.mark.django_db(transaction=True)
ROUNDS = 8


@pytest.fixture
def heads(world: World) -> list[User]:
    return [factories.admin(school=world.school) for _ in range(2)]


@pytest.fixture
def column(world: World, student: User, other_student: User) -> Column:
    return factories.column(world.sheet, title="Essay", max_points=100)


def _said_at_once(*acts: Callable[[], object]) -> list[str]:
    """Do them at once, and return what each was refused with: the name of its error, nothing where it was done."""
    return [type(each).__name__ if isinstance(each, Exception) else "" for each in at_once(*acts)]


def _import(column: Column, by: User, mark: int) -> Callable[[], object]:
    """Look at a file of two students, and return what applies it."""
    data = f"username,Essay\nstudent,{mark}\nother_student,{mark}\n".encode()
    plan = prepare_import(sheet=column.sheet, data=data, wishes=Wishes(".", "marks.csv"), by=by)
    return lambda: apply_import(sheet=column.sheet, plan=plan, by=by)


def test_two_heads_who_issue_at_once_make_one_set_of_cards(
    world: World, column: Column, heads: list[User], student: User
) -> None:
    lock_term(period_id=world.period.pk, by=heads[0])
    sequence_events()

    def issue(by: User) -> Callable[[], object]:
        return lambda: issue_cards(period_id=world.period.pk, school_class=world.school_class, by=by)

    for turn in range(1, ROUNDS + 1):
        User.objects.filter(pk=student.pk).update(
            last_name=f"Of turn {turn}"
        )  # so that their card does not hold
        assert _said_at_once(*map(issue, heads)) == ["", ""]
        cards = ReportCard.objects.filter(student=student).order_by("number")
        assert [card.number for card in cards] == list(range(1, turn + 1))
        assert [card.replaced_at is None for card in cards] == [False] * (turn - 1) + [True]
    assert Event.objects.filter(kind="ReportCardIssued").count() == ROUNDS + 1


def test_two_heads_who_lock_and_open_at_once_are_each_done_once(world: World, heads: list[User]) -> None:
    def lock(by: User) -> Callable[[], object]:
        return lambda: lock_term(period_id=world.period.pk, by=by)

    def reopen(by: User) -> Callable[[], object]:
        return lambda: reopen_term(period_id=world.period.pk, reason="A mark was forgotten.", by=by)

    for turn in range(1, ROUNDS + 1):
        assert _said_at_once(*map(lock, heads)) == ["", ""]  # locked already: as was asked
        assert sorted(_said_at_once(*map(reopen, heads))) == ["", "TermIsOpen"]
        assert Event.objects.filter(kind="TermLocked").count() == turn
        assert Event.objects.filter(kind="TermOpened").count() == turn
    assert Period.objects.get(pk=world.period.pk).generation == 1 + 2 * ROUNDS


def test_one_of_two_imports_at_once_is_refused_whole_and_an_equal_one_is_not(
    world: World, column: Column, teacher: User, student: User, other_student: User
) -> None:
    colleague = factories.teacher(world.school)
    factories.assignment(colleague, world.school_class, world.course, world.period)
    for turn in range(1, ROUNDS + 1):
        said = _said_at_once(_import(column, teacher, 3 * turn), _import(column, colleague, 3 * turn + 1))
        assert sorted(said) == ["", "ImportRefused"]
        won = str(3 * turn + said.index(""))
        assert (shown(column, student), shown(column, other_student)) == (won, won)
        same = [_import(column, by, 3 * turn + 2) for by in (teacher, colleague)]
        assert _said_at_once(*same) == ["", ""]
        assert count_events([column]) == 4 * turn


def test_import_beside_the_lock_is_whole_or_not_at_all(
    world: World, column: Column, teacher: User, heads: list[User]
) -> None:
    for turn in range(1, ROUNDS + 1):
        before = [mark.value for mark in Mark.objects.all()]
        imported, locked = _said_at_once(
            _import(column, teacher, turn), lambda: lock_term(period_id=world.period.pk, by=heads[0])
        )
        assert (imported in {"", "TermIsLocked"}, locked) == (True, "")
        marks = [mark.value for mark in Mark.objects.all()]
        assert marks == (before if imported else [turn, turn])
        reopen_term(period_id=world.period.pk, reason="On with it.", by=heads[0])


def test_import_that_was_looked_at_before_a_colleague_saved_is_refused_whole(
    world: World, column: Column, teacher: User
) -> None:
    late, earlier = _import(column, teacher, 5), _import(column, teacher, 6)
    earlier()
    with pytest.raises(ImportRefused):
        late()
    assert set(Mark.objects.values_list("value", flat=True)) == {6}
