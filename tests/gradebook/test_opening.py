"""What a save begins with asks the database's own function; its rules are those that the pages and the policies go by."""

import datetime as dt

import pytest
from django.db import connection, transaction

from gradebook import policies
from gradebook.cells import CellKey
from gradebook.errors import SheetNotFound
from gradebook.models import MarkSheet, User
from gradebook.queries import list_students
from gradebook.services.marks.opening import ColumnHead, OpenSheet, open_sheet
from gradebook.services.terms import TermStanding
from tests import factories
from tests.gradebook.marks import save
from tests.gradebook.test_policies import PEOPLE
from tests.people import World

pytestmark = pytest.mark.django_db


def _open(sheet: MarkSheet, by: User, keys: list[CellKey] | None = None) -> OpenSheet:
    with transaction.atomic():
        return open_sheet(sheet, by, keys or [], with_cells=True)


@pytest.mark.parametrize("who", PEOPLE)
def test_those_may_edit_whom_the_policy_lets(request: pytest.FixtureRequest, world: World, who: str) -> None:
    person = request.getfixturevalue(who)
    assert _open(world.sheet, person).may_edit is policies.may_edit_sheet(person, world.sheet.pk)


@pytest.mark.parametrize("part", ["school_class", "course", "period", "school", None])
def test_assignment_opens_what_the_policy_opens(world: World, part: str | None) -> None:
    person = factories.teacher(world.other_school if part == "school" else world.school)
    factories.assignment(
        person,
        factories.school_class(world.school) if part == "school_class" else world.school_class,
        factories.course(world.school) if part == "course" else world.course,
        factories.period(world.school) if part == "period" else world.period,
    )
    assert (
        _open(world.sheet, person).may_edit is policies.may_edit_sheet(person, world.sheet.pk) is (not part)
    )


def test_nobody_edits_once_their_account_has_ended(world: World, teacher: User) -> None:
    User.objects.filter(pk=teacher.pk).update(is_active=False)
    assert _open(world.sheet, teacher).may_edit is False


def test_students_are_those_of_the_page_with_their_names(
    world: World, teacher: User, student: User, other_teacher: User
) -> None:
    """In the class, in it for a day of the term, only marked; gone before it, coming after it, in another class."""
    column = factories.column(world.sheet)
    first, last, day = world.period.starts_on, world.period.ends_on, dt.timedelta(days=1)
    spans = {
        "until the first day": (first - 9 * day, first),
        "from the last day on": (last, None),
        "gone before": (first - 9 * day, first - day),
        "comes after": (last + day, None),
    }
    people = [student, other_teacher]
    for starts_on, ends_on in spans.values():
        people.append(factories.student(world.school, first_name="Ann", last_name=""))
        factories.enrolment(people[-1], world.school_class, starts_on=starts_on, ends_on=ends_on)
    marked = factories.student(world.school)
    place = factories.enrolment(marked, world.school_class)
    save(column, marked, "5", by=teacher)
    place.delete()
    people.append(marked)

    opened = _open(world.sheet, teacher, [CellKey(column.pk, person.pk) for person in people])

    listed = list_students(world.sheet).filter(pk__in=[person.pk for person in people])
    assert opened.students == {person.pk: person.full_name for person in listed}
    assert len(opened.students) == 4


def test_open_sheet_gives_term_columns_and_cells_of_this_sheet_only(
    world: World, teacher: User, student: User
) -> None:
    column = factories.column(world.sheet, title="Essay", max_points=20)
    strange = factories.column(factories.sheet(world.school_class, period=world.period))
    (view,) = save(column, student, "7.5", by=teacher).saved
    keys = [CellKey(column.pk, student.pk), CellKey(strange.pk, student.pk)]

    opened = _open(world.sheet, teacher, keys)

    assert opened.term == TermStanding(is_locked=False, generation=world.period.generation)
    assert opened.columns == {column.pk: ColumnHead("Essay", column.max_points)}
    assert {key: (cell.entry, cell.version) for key, cell in opened.cells.items()} == {
        keys[0]: (view.entry, view.version)
    }


def test_sheet_that_is_gone_is_not_found(world: World, teacher: User) -> None:
    gone = MarkSheet(period_id=world.period.pk)
    with pytest.raises(SheetNotFound):
        _open(gone, teacher)


def test_term_is_shared_until_the_transaction_ends(world: World, teacher: User) -> None:
    shared = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND mode = 'ShareLock' AND pid = pg_backend_pid()"
    with transaction.atomic(), connection.cursor() as cursor:
        open_sheet(world.sheet, teacher, [], with_cells=False)
        cursor.execute(shared)
        assert cursor.fetchone() == (1,)
