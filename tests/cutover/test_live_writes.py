"""M2: teachers save while the backfill walks through the copies of their sheet. What they save is the newer thing, whatever the walk does."""

from itertools import count, pairwise

import pytest

from config.cutover.gates import list_gates
from gradebook.models import Mark, User
from gradebook.snapshots.carrying import carry_over_marks
from gradebook.snapshots.phases import Phase
from outbox.models import Event
from outbox.stopping import Stop
from projections.backfill.walking import backfill_chunk
from projections.models import WholeHistory
from tests import factories
from tests.cutover.copies import cells_of, enter, write_steps
from tests.cutover.old_class import CatchUp, catch_up
from tests.gradebook.marks import save
from tests.people import World
from tests.sessions import Background
from tests.waiting import wait_until

__all__ = ["catch_up"]
pytestmark = pytest.mark.django_db(transaction=True)

COPIES = 30


def test_no_save_is_lost_or_overtaken_by_a_backfill_that_runs_meanwhile(
    world: World, student: User, other_student: User, teacher: User, catch_up: CatchUp
) -> None:
    column = factories.column(world.sheet, title="Essay", max_points=10)
    students = (student, other_student)
    write_steps(
        world.sheet,
        [cells_of(column, {student: str(n % 7), other_student: str(n % 5)}) for n in range(COPIES)],
    )
    carry_over_marks(sheet=world.sheet, by=teacher)
    enter(Phase.BACKFILL)

    def write(person: User, stop: Stop) -> int:
        for version in count(1):
            assert save(column, person, str(version % 10) + ".5", version, by=teacher).saved
            if stop.is_set:
                return version
        raise AssertionError

    with Stop() as stop:
        writers = [Background(lambda each=each: write(each, stop)) for each in students]  # type: ignore[misc]
        for saves in count(1):
            wait_until(lambda least=saves: Event.objects.count() >= least)  # type: ignore[misc]
            if backfill_chunk(world.sheet.pk, size=1).is_complete:
                break
        stop.set()
        saved = {each.pk: writer.result() for each, writer in zip(students, writers, strict=True)}
    catch_up()

    for each in students:
        lines = list(WholeHistory.objects.filter(student_id=each.pk).order_by("pos"))
        assert len([line for line in lines if line.pos > 0]) == saved[each.pk]
        assert [line.old_value for line in lines[1:]] == [line.new_value for line in lines[:-1]]
        assert all(older.occurred_at <= newer.occurred_at for older, newer in pairwise(lines))
        assert lines[-1].new_value == Mark.objects.get(student=each).value
    reports = [gate.check() for gate in list_gates(Phase.REPLAY)]
    assert {report.name: report.first for report in reports} == {report.name: [] for report in reports}
