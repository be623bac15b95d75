"""A locked sheet shows its last copy until that read is switched, and its marks from then on; the gate sees to it that they agree."""

import pytest

from gradebook.entries import plain
from gradebook.models import Mark, MarkSheet
from gradebook.snapshots.locked import list_shown_cells
from gradebook.snapshots.phases import Phase
from tests.cutover.copies import LONG_AGO, enter
from tests.cutover.old_class import OldClass, old
from tests.people import World

__all__ = ["old"]
pytestmark = pytest.mark.django_db(transaction=True)


def shown(sheet: MarkSheet) -> set[str]:
    """Return what stands in the sheet's cells, as the page shows them."""
    sheet = MarkSheet.objects.select_related("period").get(pk=sheet.pk)
    cells = list_shown_cells(sheet)
    return {
        cell.entry.code or ("" if cell.entry.value is None else plain(cell.entry.value)) for cell in cells
    }


@pytest.mark.parametrize(
    ("phase", "locked", "expected"),
    [
        (Phase.NONE, True, {"excused", ""}),
        (Phase.BESIDE, False, {"excused", ""}),
        (Phase.BESIDE, True, {"absent", ""}),
        (Phase.HISTORY, True, {"absent", ""}),
        (Phase.LOCKED, True, {"excused", ""}),
        (Phase.STOPPED, True, {"excused", ""}),
    ],
)
def test_a_locked_sheet_shows_its_last_copy_until_the_read_is_switched(
    phase: Phase, locked: bool, expected: set[str], old: OldClass, world: World
) -> None:
    Mark.objects.filter(student=old.other).update(
        code="excused"
    )  # behind everybody's back, to tell the two apart
    if locked:
        world.period.locked_at = LONG_AGO
        world.period.save()
    if phase:
        enter(phase)
    assert shown(old.sheet) == expected


def test_a_locked_sheet_without_copies_shows_its_marks(old: OldClass, world: World) -> None:
    world.period.locked_at = LONG_AGO
    world.period.save()
    enter(Phase.BESIDE)
    other = MarkSheet.objects.create(
        school=world.school,
        school_class=world.school_class,
        period=world.period,
        course=world.school.course_set.create(code="Z", title="Zoology"),
    )
    assert shown(other) == set()
