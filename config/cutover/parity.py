"""Whether the copies and what replaces them say the same. Pure: it is given both sides and names each difference.

The one thing to know: contents are compared in one canonical form, decimals as their shortest text, and a cell that was cleared is not a
cell that never held anything.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import NamedTuple
from uuid import UUID

from config.cutover.findings import Finding
from gradebook.cells import CellKey
from gradebook.snapshots.cells import CopiedCell
from projections.history.lines import describe_change
from projections.models import BackfilledMark, HistoryEntry

Cells = Mapping[CellKey, CopiedCell]


_FIELDS = tuple(field.attname for field in BackfilledMark._meta.concrete_fields)  # noqa: SLF001 - Django's documented API


class Shown(NamedTuple):
    """A line of history as a reader sees it. Not its time: an event happens a moment before its copy is written."""

    column_title: str
    student_name: str
    old: str
    new: str
    why: str
    who: str

    def __str__(self) -> str:
        return f"{self.old} → {self.new}, {self.who}, {self.why}"


def compare_cells(sheet_id: UUID, copied: Cells, shown: Cells) -> Iterator[Finding]:
    """Name every cell in which a sheet's newest copy and its marks differ, in the order of the keys."""
    for key in sorted(copied.keys() | shown.keys()):
        copy, mark = copied.get(key), shown.get(key)
        if (copy and copy.shown) != (mark and mark.shown):
            yield Finding(sheet_id, key, f"the copy says {_say(copy)}, the sheet says {_say(mark)}")


def compare_batch(
    sheet_id: UUID, changes: Mapping[CellKey, tuple[str, str]], events: Mapping[CellKey, tuple[str, str]]
) -> Iterator[Finding]:
    """Name every cell whose change between two copies is not what the events of that save say."""
    for key in sorted(changes.keys() | events.keys()):
        change, event = changes.get(key), events.get(key)
        if change != event:
            yield Finding(
                sheet_id, key, f"the copies say {_say_change(change)}, the log says {_say_change(event)}"
            )


def compare_lines(
    sheet_id: UUID, expected: Iterable[BackfilledMark], found: Iterable[BackfilledMark]
) -> Iterator[Finding]:
    """Name every backfilled line that is not, field by field, what comparing the copies gives. Both newest first."""
    for should, line in zip_longest(expected, found):
        if _fields(should) != _fields(line):
            either = should or line
            assert either is not None
            yield Finding(
                sheet_id,
                CellKey(either.column_id, either.student_id),
                f"the copy of {either.occurred_at:%Y-%m-%d %H:%M:%S} says {_say_line(should)}, the history says {_say_line(line)}",
            )


def compare_views(
    sheet_id: UUID, old: Iterable[HistoryEntry], new: Iterable[HistoryEntry]
) -> Iterator[Finding]:
    """Name what a reader of the history would see differ, cell by cell, between comparing the copies and reading it. Both oldest first.

    The order of two cells is nobody's promise: of two people who save at once, one is first in the log and the other may be in the copies.
    """
    should, found = _by_cell(old), _by_cell(new)
    for key in sorted(should.keys() | found.keys()):
        if should[key] != found[key]:
            yield from _name_unlike(sheet_id, key, should[key], found[key])


def _by_cell(lines: Iterable[HistoryEntry]) -> defaultdict[CellKey, list[Shown]]:
    cells: defaultdict[CellKey, list[Shown]] = defaultdict(list)
    for line in lines:
        cells[CellKey(line.column_id, line.student_id)].append(_show(line))
    return cells


def _name_unlike(
    sheet_id: UUID, key: CellKey, should: Sequence[Shown], found: Sequence[Shown]
) -> Iterator[Finding]:
    missing, extra = Counter(should) - Counter(found), Counter(found) - Counter(should)
    for lines, who in ((missing, "the copies show"), (extra, "the history shows")):
        for line in sorted(lines.elements()):
            yield Finding(sheet_id, key, f"only {who} here: {line}")
    if not missing and not extra:
        yield Finding(sheet_id, key, "the copies and the history show the same changes in another order")


def _show(line: HistoryEntry) -> Shown:
    told = describe_change(line)
    return Shown(
        line.column_title,
        line.student_name,
        told.old,
        told.new,
        told.why,
        told.who,
    )


def _fields(line: BackfilledMark | None) -> Sequence[object]:
    if line is None:
        return ()
    return [getattr(line, name) for name in _FIELDS]


def _say(cell: CopiedCell | None) -> str:
    return "nothing" if cell is None else str(cell)


def _say_change(change: tuple[str, str] | None) -> str:
    return "nothing" if change is None else f"{change[0] or 'blank'} → {change[1] or 'blank'}"


def _say_line(line: BackfilledMark | None) -> str:
    return "nothing" if line is None else str(_show(line))
