"""A class of ours whose every cell has a mark, and the teacher who edits one cell after the other."""

from decimal import Decimal

from django.db import connection

from gradebook.cells import CellChange, CellKey
from gradebook.entries import Entry
from gradebook.models import Column, MarkSheet, MarkSnapshot, User
from gradebook.services.marks import save_marks
from outbox.consumers.batches import run_batch
from outbox.log.sequencer import sequence_events
from projections.history.projector import MarksheetHistory
from projections.history.queries import PAGE_SIZE, list_shown_history
from tests import factories
from tests.benchmarks.harness import timed

STEP = 7  # from one edited cell to the next
KEPT_FOR_AN_EDIT = (
    "gradebook_mark",
    "outbox_event",
    "outbox_eventposition",
    "outbox_tick",
    "projections_markhistory",
)


class Classroom:
    """A full class. Only one at a time may be edited between two looks at the sizes."""

    def __init__(self, students: int, columns: int) -> None:
        self._sheet: MarkSheet = factories.sheet()
        self._teacher = factories.teacher(self._sheet.school)
        factories.assignment(self._teacher, self._sheet.school_class, self._sheet.course, self._sheet.period)
        people: list[User] = [factories.student(self._sheet.school) for _ in range(students)]
        for person in people:
            factories.enrolment(person, self._sheet.school_class)
        heads: list[Column] = [factories.column(self._sheet, max_points=100) for _ in range(columns)]
        self._keys = [CellKey(column.pk, person.pk) for column in heads for person in people]
        self._versions = dict.fromkeys(self._keys, 0)
        self._edits = 0
        self._save(self._keys)

    def edit(self, count: int) -> list[float]:
        """Save so many cells, one at a time; return the seconds of each."""
        return [self._edit() for _ in range(count)]

    def open_drawer(self, count: int) -> list[float]:
        """Read the newest changes so many times, as the drawer does; return the seconds of each."""
        return [timed(self._open_drawer) for _ in range(count)]

    def measure_growth(self, edits: int, tables: tuple[str, ...]) -> float:
        """Save so many cells and return by how many bytes an edit these tables have grown."""
        before = measure_size(tables)
        self.edit(edits)
        return (measure_size(tables) - before) / edits

    def make_copy(self) -> MarkSnapshot:
        """Return an empty copy from long ago, not stored."""
        return MarkSnapshot(
            school_id=self._sheet.school_id,
            sheet=self._sheet,
            action="saved",
            created_at="2024-09-02T08:00Z",
            layout={"columns": [], "students": []},
            cells={},
        )

    def _edit(self) -> float:
        key = self._keys[self._edits * STEP % len(self._keys)]
        return timed(lambda: self._save([key]))

    def _open_drawer(self) -> None:
        assert len(list_shown_history(sheet_id=self._sheet.pk, key=None).lines) == PAGE_SIZE

    def _save(self, keys: list[CellKey]) -> None:
        self._edits += 1
        entry = Entry(value=Decimal(self._edits % 97))  # so that the next time round it is another one
        changes = [CellChange(key, self._versions[key], entry) for key in keys]
        saved = save_marks(sheet=self._sheet, changes=changes, by=self._teacher).saved
        assert len(saved) == len(keys)
        self._versions |= {view.key: view.version for view in saved}


def catch_up() -> None:
    """Number the events there are, and let the history read them."""
    sequence_events()
    while run_batch(MarksheetHistory()).more:
        pass


def measure_size(tables: tuple[str, ...]) -> int:
    """Return the bytes of these tables with their indexes and what they store out of line, once the history has caught up.

    What updates left behind is cleared first.
    """
    catch_up()
    with connection.cursor() as cursor:
        for table in tables:
            cursor.execute(f"VACUUM {table}")
        cursor.execute(
            "SELECT sum(pg_total_relation_size(name::regclass)) FROM unnest(%s::text[]) AS name",
            [list(tables)],
        )
        return int(cursor.fetchone()[0])
