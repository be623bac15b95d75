"""While the cut-over lasts, each change of marks leaves a copy of the whole sheet; in any other phase it leaves none."""

import threading
from decimal import Decimal
from itertools import pairwise
from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction

from gradebook.models import Category, Column, MarkSnapshot, User
from gradebook.snapshots.cells import compare_copies, read_cells
from gradebook.snapshots.phases import Phase, hold_phase, share_phase
from gradebook.snapshots.reading import get_newest_cells, walk_copies
from outbox.models import Event
from tests import factories
from tests.cutover.copies import enter, write_copy
from tests.gradebook.marks import post, save
from tests.people import World
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def column(world: World) -> Column:
    return factories.column(world.sheet, title="Essay", max_points=Decimal(20))


def list_copies() -> list[MarkSnapshot]:
    return list(MarkSnapshot.objects.order_by("created_at"))


@pytest.mark.parametrize("phase", [Phase.NONE, Phase.STOPPED])
def test_a_save_writes_no_copy_outside_the_cutover(
    phase: Phase, column: Column, student: User, teacher: User
) -> None:
    if phase:
        enter(phase)
    save(column, student, "7.5", by=teacher)
    assert list_copies() == []


def test_a_save_writes_the_whole_sheet_beside_its_events(
    column: Column, student: User, other_student: User, teacher: User
) -> None:
    column.category = Category.objects.create(sheet=column.sheet, name="Written", weight="60.5")
    column.save()
    enter(Phase.BESIDE)
    save(column, student, "7.50", by=teacher)
    save(column, other_student, "absent", by=teacher)
    save(column, student, "", version=1, by=teacher)
    copies = list_copies()
    mine, other = str(student.pk), str(other_student.pk)
    assert [copy.cells for copy in copies] == [
        {mine: {str(column.pk): {"value": "7.5", "source": "teacher"}}},
        {
            mine: {str(column.pk): {"value": "7.5", "source": "teacher"}},
            other: {str(column.pk): {"code": "absent", "source": "teacher"}},
        },
        {
            mine: {str(column.pk): {"source": "teacher"}},
            other: {str(column.pk): {"code": "absent", "source": "teacher"}},
        },
    ]
    assert [copy.batch_id for copy in copies] == [
        event.batch_id for event in Event.objects.filter(kind="MarkChanged").order_by("seq")
    ]
    last = copies[-1]
    assert (last.action, last.created_by_id, last.created_by_name) == ("saved", teacher.pk, teacher.full_name)
    assert last.layout == {
        "columns": [{"id": str(column.pk), "title": "Essay", "max_points": "20", "category": "Written"}],
        "categories": [{"name": "Written", "weight": "60.5"}],
        "students": [
            {"id": str(person.pk), "name": person.full_name}
            for person in sorted((student, other_student), key=lambda person: person.pk)
        ],
    }


def test_a_posted_result_writes_a_copy_and_one_kept_beside_does_not(
    world: World, student: User, teacher: User
) -> None:
    enter(Phase.BESIDE)
    column = factories.column(world.sheet, source_id=world.course.pk)
    post(column, student, "6")
    save(column, student, "8", version=1, by=teacher)
    post(column, student, "7", minute=1)
    assert [(copy.action, copy.created_by_id) for copy in list_copies()] == [
        ("posted", None),
        ("saved", teacher.pk),
    ]


def test_a_save_that_fails_leaves_no_copy(column: Column, student: User, teacher: User) -> None:
    enter(Phase.BESIDE)
    with transaction.atomic():
        save(column, student, "7", by=teacher)
        transaction.set_rollback(True)
    assert (list_copies(), Event.objects.count()) == ([], 0)


def test_a_sheet_that_was_marked_without_the_old_system_takes_no_part(
    column: Column, student: User, teacher: User
) -> None:
    save(column, student, "7", by=teacher)
    enter(Phase.BESIDE)
    save(column, student, "8", version=1, by=teacher)
    assert list_copies() == []


def test_a_copy_is_later_than_the_one_before_it_also_when_the_clock_was_set_back(
    world: World, column: Column, student: User, teacher: User
) -> None:
    old = write_copy(world.sheet, {}, minute=60 * 24 * 365 * 5)
    enter(Phase.BESIDE)
    save(column, student, "7", by=teacher)
    (new,) = list_copies()[1:]
    assert (new.created_at - old.created_at).total_seconds() == pytest.approx(1e-6)


def test_two_teachers_who_save_at_once_are_both_in_the_second_copy(
    column: Column, student: User, other_student: User, teacher: User
) -> None:
    enter(Phase.BESIDE)
    save(column, student, "1", by=teacher)

    def save_theirs() -> None:
        try:
            save(column, other_student, "3", by=teacher)
        finally:
            connection.close()

    thread = threading.Thread(target=save_theirs)
    with transaction.atomic():
        save(column, student, "2", version=1, by=teacher)
        thread.start()
        wait_for_a_waiting_session()
    thread.join(timeout=20)
    with transaction.atomic():
        copies = list(walk_copies(column.sheet_id))
    changed = [len(compare_copies(older.cells, newer.cells)) for older, newer in pairwise(copies)]
    assert changed == [1, 1]
    assert sorted(cell.value for cell in get_newest_cells(column.sheet_id).values()) == ["2", "3"]


def wait_for_a_waiting_session() -> None:
    def is_waiting() -> bool:
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT count(*) FROM pg_locks WHERE NOT granted AND database = (SELECT oid FROM pg_database "
                "WHERE datname = current_database()) OR NOT granted AND locktype = 'transactionid'"
            )
            return bool(cursor.fetchone()[0])

    wait_until(is_waiting)


def test_a_phase_is_not_moved_while_somebody_acts_by_it(db: Any) -> None:
    enter(Phase.BESIDE)
    seen: list[Phase] = []

    def move() -> None:
        try:
            with transaction.atomic():
                hold_phase()
                enter(Phase.BACKFILL)
        finally:
            connection.close()

    thread = threading.Thread(target=move)
    with transaction.atomic():
        seen.append(share_phase())
        thread.start()
        wait_for_a_waiting_session()
        seen.append(share_phase())
    thread.join(timeout=20)
    with transaction.atomic():
        seen.append(share_phase())
    assert seen == [Phase.BESIDE, Phase.BESIDE, Phase.BACKFILL]


def test_a_copy_is_neither_changed_nor_deleted(world: World) -> None:
    copy = write_copy(world.sheet, {}, minute=0)
    with pytest.raises(IntegrityError, match="frozen"):
        MarkSnapshot.objects.update(action="other")
    with pytest.raises(IntegrityError, match="frozen"):
        MarkSnapshot.objects.all().delete()
    assert list(MarkSnapshot.objects.values_list("pk", "action")) == [(copy.pk, "saved")]


def test_no_copy_is_added_after_the_last_phase(world: World) -> None:
    enter(Phase.STOPPED)
    with pytest.raises(IntegrityError, match="frozen"):
        write_copy(world.sheet, {}, minute=1)


def test_the_newest_copy_says_what_the_sheet_shows(column: Column, student: User, teacher: User) -> None:
    enter(Phase.LOCKED)
    save(column, student, "7", by=teacher)
    assert get_newest_cells(column.sheet_id) == read_cells(list_copies()[-1].cells)
