"""Any sequence of copies gives the history that comparing them in a slow, plain way gives, however the walk is cut and interrupted."""

from collections.abc import Sequence
from uuid import UUID

import pytest
from django.db import connection, transaction
from hypothesis import given
from hypothesis import strategies as st

from gradebook.models import MarkSnapshot
from projections.backfill.old_history import walk_old_history
from projections.backfill.walking import backfill_chunk
from projections.models import BackfillCheckpoint, BackfilledMark
from tests.cutover.copies import a_cell, write_copy
from tests.examples import examples
from tests.people import World

pytestmark = pytest.mark.django_db(transaction=True)

STUDENTS, COLUMNS = [UUID(int=number) for number in (1, 2)], [UUID(int=number) for number in (11, 12)]
KEYS = [(column, student) for column in COLUMNS for student in STUDENTS]  # in the order of the keys
# A copy: each of four cells holds a number, a code, was cleared (""), or is not there (None).
COPIES = st.lists(
    st.tuples(*(st.sampled_from([None, "", "5", "7.5", "0", "absent"]) for _ in KEYS)), min_size=1, max_size=8
)
# How the walk goes: chunks of these sizes, a negative one undone at its end (the process was killed before the commit).
CHUNKS = st.lists(st.integers(-4, 4).filter(bool), max_size=10)

Content = Sequence[str | None]


@examples(12)
@given(contents=COPIES, chunks=CHUNKS)
def test_history_of_any_copies_is_what_comparing_them_plainly_gives(
    world: World, contents: Sequence[Content], chunks: Sequence[int]
) -> None:
    _forget_everything()
    for minute, content in enumerate(contents):
        _write(world, content, minute)
    for size in chunks:
        _step(world, abs(size), undone=size < 0)
    while not _step(world, 3):
        pass
    _step(world, 1)
    expected = list(_compare_plainly(contents))
    found = [_as_change(line) for line in BackfilledMark.objects.order_by("pos")]
    assert found == expected
    assert list(BackfilledMark.objects.order_by("pos").values_list("pos", flat=True)) == list(
        range(-len(expected), 0)
    )
    with transaction.atomic():
        assert [_as_change(line) for line in walk_old_history(world.sheet.pk)] == expected


def _write(world: World, content: Content, minute: int) -> None:
    cells: dict[str, dict[str, dict[str, str]]] = {}
    for (column, student), text in zip(KEYS, content, strict=True):
        if text is not None:
            cells.setdefault(str(student), {})[str(column)] = a_cell(text)
    write_copy(world.sheet, cells, minute=minute)


def _step(world: World, size: int, *, undone: bool = False) -> bool:
    with transaction.atomic():
        complete = backfill_chunk(world.sheet.pk, size=size).is_complete
        transaction.set_rollback(undone)
    return complete


def _compare_plainly(contents: Sequence[Content]) -> list[tuple[int, UUID, UUID, str, str]]:
    """The slow way: every cell of every copy, looked at one after the other; a blank looks like a cell that is not there."""
    found = []
    shown = dict.fromkeys(KEYS, "")
    for minute, content in enumerate(contents):
        for key, text in zip(KEYS, content, strict=True):
            if shown[key] != (text or ""):
                found.append((minute, *key, shown[key], text or ""))
            shown[key] = text or ""
    return found


def _as_change(line: BackfilledMark) -> tuple[int, UUID, UUID, str, str]:
    old = line.old_code or ("" if line.old_value is None else f"{line.old_value.normalize():f}")
    new = line.new_code or ("" if line.new_value is None else f"{line.new_value.normalize():f}")
    return line.occurred_at.minute, line.column_id, line.student_id, old, new


def _forget_everything() -> None:
    tables = [model._meta.db_table for model in (MarkSnapshot, BackfilledMark, BackfillCheckpoint)]
    with connection.cursor() as cursor:
        cursor.execute(f"TRUNCATE {', '.join(tables)}")
