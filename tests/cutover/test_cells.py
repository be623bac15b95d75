"""Two copies compared: what a person would see changed, and nothing else."""

from uuid import UUID

import pytest

from gradebook.cells import CellKey
from gradebook.snapshots.cells import CellDifference, CopiedCell, compare_copies, read_cells

A, B = UUID(int=1), UUID(int=2)
COLUMN, OTHER = UUID(int=11), UUID(int=12)
FIVE = {"value": "5", "source": "teacher"}
CLEARED = {"source": "teacher"}


def test_copies_that_say_the_same_have_no_difference() -> None:
    cells = {str(A): {str(COLUMN): FIVE}}
    assert compare_copies(cells, {str(A): {str(COLUMN): dict(FIVE)}}) == []


def test_differences_come_in_the_order_of_their_keys() -> None:
    older = {str(B): {str(COLUMN): FIVE}, str(A): {str(OTHER): FIVE}}
    newer = {str(A): {str(COLUMN): {"code": "absent", "source": "teacher"}}}
    five, absent = CopiedCell("5", "", "teacher"), CopiedCell("", "absent", "teacher")
    assert compare_copies(older, newer) == [
        CellDifference(CellKey(COLUMN, A), None, absent),
        CellDifference(CellKey(COLUMN, B), five, None),
        CellDifference(CellKey(OTHER, A), five, None),
    ]


@pytest.mark.parametrize(
    ("old", "new"),
    [(CLEARED, None), (None, CLEARED), (FIVE, {"value": "5", "source": "automatic"})],
    ids=["cleared, then gone", "made blank", "another's same mark"],
)
def test_what_nobody_could_see_is_no_change(old: dict[str, str] | None, new: dict[str, str] | None) -> None:
    older, newer = ({str(A): {str(COLUMN): cell} if cell else {}} for cell in (old, new))
    assert compare_copies(older, newer) == []


def test_a_cell_that_was_cleared_is_not_one_that_is_not_there() -> None:
    assert read_cells({str(A): {str(COLUMN): CLEARED}}) == {CellKey(COLUMN, A): CopiedCell("", "", "teacher")}
    assert read_cells({str(A): {}}) == {}
