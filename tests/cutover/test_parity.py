"""What the pages' gate calls a difference: what a reader of a cell sees, and not which of two cells was first."""

import datetime as dt
from collections.abc import Sequence
from decimal import Decimal
from uuid import UUID, uuid4

import pytest

from config.cutover.parity import compare_views
from projections.models import BackfilledMark

SHEET = UUID(int=1)
Step = tuple[int, str, str]  # cell, old, new


def lines(steps: Sequence[Step]) -> list[BackfilledMark]:
    """Return a history of these steps, each saved by itself."""
    return [
        BackfilledMark(
            event_id=uuid4(),
            pos=number,
            column_id=UUID(int=cell),
            student_id=UUID(int=9),
            column_title=f"Test {cell}",
            student_name="Ada Lovelace",
            old_value=Decimal(old) if old else None,
            new_value=Decimal(new) if new else None,
            reason="typed",
            actor_name="Grace Hopper",
            batch_id=uuid4(),
            occurred_at=dt.datetime(2026, 5, 4, tzinfo=dt.UTC),
        )
        for number, (cell, old, new) in enumerate(steps)
    ]


COPIES: list[Step] = [(1, "", "5"), (2, "", "7"), (1, "5", "6")]


@pytest.mark.parametrize(
    ("history", "found"),
    [
        (COPIES, []),
        ([COPIES[1], COPIES[0], COPIES[2]], []),  # two people saved at once
        (
            [COPIES[2], COPIES[1], COPIES[0]],
            ["the copies and the history show the same changes in another order"],
        ),
        (
            COPIES[:2],
            ["only the copies show here: 5 → 6, Grace Hopper, typed in the sheet"],
        ),
        (
            [*COPIES[:2], COPIES[1], (1, "5", "8")],
            [
                "only the copies show here: 5 → 6, Grace Hopper, typed in the sheet",
                "only the history shows here: 5 → 8, Grace Hopper, typed in the sheet",
                "only the history shows here: — → 7, Grace Hopper, typed in the sheet",
            ],
        ),
    ],
)
def test_views_differ_where_a_cell_tells_something_else(history: list[Step], found: list[str]) -> None:
    assert [each.what for each in compare_views(SHEET, lines(COPIES), lines(history))] == found
