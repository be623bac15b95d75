"""O5: every projection is rebuilt, in place and beside, while people write; it ends equal to the log, and the other consumers go on.

At its full size, with real processes and the gate's steady load, in test_full_size.py.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from decimal import Decimal

import pytest
from django.db import transaction

from exams.consumers.gradebook_marks import GradebookMarks
from gradebook.entries import plain
from gradebook.models import Column, User
from outbox.consumers.beside import rebuild_beside
from outbox.consumers.consumer import ConsumerHandler
from outbox.consumers.following import follow
from outbox.consumers.rebuild import rebuild
from outbox.log.publish import publish
from outbox.log.reading import get_head
from outbox.log.sequencer import sequence_events
from outbox.models import Consumer, Event, ParkedSubject
from outbox.stopping import Stop
from projections.analytics.projector import Analytics
from projections.history.projector import MarksheetHistory
from projections.models import AnalyticsMark, MarkHistory
from tests import factories
from tests.gradebook.marks import save, shown
from tests.people import World
from tests.projections.results import Sat
from tests.sessions import Background
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)

REBUILT: list[ConsumerHandler] = [MarksheetHistory(), Analytics()]
FOLLOWING: list[ConsumerHandler] = [*REBUILT, GradebookMarks()]
WRITERS = 3
BEFORE = 150  # changes in the log before the first rebuild

Report = Callable[[int, int], object]


@pytest.fixture
def cells(world: World) -> list[tuple[Column, User]]:
    """A cell for each writer."""
    column = factories.column(world.sheet, max_points=10)
    students = [factories.student(world.school) for _ in range(WRITERS)]
    for student in students:
        factories.enrolment(student, world.school_class)
    return [(column, student) for student in students]


def _write(cell: tuple[Column, User], teacher: User, stop: Stop) -> int:
    """Change a mark, and grade an attempt, one after the other until told to stop; return how often."""
    column, student = cell
    sat = Sat(exam_id=column.pk)
    version = 0
    while not stop.is_set:
        assert save(column, student, str(version % 9 + 1), version, by=teacher).saved
        with transaction.atomic():
            publish([sat.grade(["1", "0.5", str(version % 4)])])
        version += 1
        sequence_events()
        stop.wait(0.005)  # leave the others some of the processor
    return version


@contextmanager
def _everybody_at_work(cells: list[tuple[Column, User]], teacher: User) -> Iterator[list[int]]:
    """Let writers write and consumers follow; at the end the list has how often each wrote, and everybody has read everything."""
    written: list[int] = []
    with Stop() as writing, Stop() as following:
        writers = [Background(lambda each=each: _write(each, teacher, writing)) for each in cells]  # type: ignore[misc]
        followers = [Background(lambda each=each: follow(each, following)) for each in FOLLOWING]  # type: ignore[misc]
        try:
            wait_until(lambda: MarkHistory.objects.count() >= BEFORE)
            yield written
        finally:
            writing.set()
            written += [writer.result() for writer in writers]
            sequence_events()
            wait_until(lambda: set(Consumer.objects.values_list("position", flat=True)) == {get_head().pos})
            following.set()
            for follower in followers:
                follower.result()


def _others_go_on(name: str) -> Report:
    """Return a report that lets the rebuild go on only once every other consumer has read what was written since it began."""
    others = Consumer.objects.exclude(name=name)
    start = get_head().pos

    def report(_done: int, _total: int) -> None:
        wait_until(lambda: not others.filter(position__lte=start).exists())
        assert not others.filter(is_filling=True).exists()

    return report


def test_projections_rebuilt_while_people_write_end_equal_and_hold_up_nobody(
    cells: list[tuple[Column, User]], teacher: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("outbox.consumers.rebuild.REPLAYED_AT_ONCE", 40)
    monkeypatch.setattr("outbox.consumers.beside.REPLAYED_AT_ONCE", 40)

    with _everybody_at_work(cells, teacher) as written, Stop() as beside:
        for handler in REBUILT:
            with Stop() as stop:
                assert rebuild(handler, stop, report=_others_go_on(handler.name))
            taken = rebuild_beside(handler, beside, report=_others_go_on(handler.name))
            assert taken is not None
            assert taken.total == 0

    changes = Event.objects.filter(kind="MarkChanged").count()
    assert (changes, MarkHistory.objects.count()) == (sum(written), sum(written))
    counted = {mark.student_id: plain(mark.value or Decimal(0)) for mark in AnalyticsMark.objects.all()}
    assert counted == {student.pk: shown(column, student) for column, student in cells}
    with Stop() as stop:
        found = [rebuild_beside(each, stop, report=lambda *_: None, swap=False) for each in REBUILT]
    assert [each and each.total for each in found] == [0, 0]
    assert dict(Consumer.objects.values_list("name", "generation")) == {
        "analytics": 2,
        "gradebook_marks": 1,
        "marksheet_history": 2,
    }
    assert not ParkedSubject.objects.exists()
