"""O5 at its full size: every projection rebuilt, in place and beside, while the gate takes 150 hand-ins a second and workers grade them.

The real processes; what a rebuild must not do is make another consumer late.
"""

import os
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Self

import pytest
from django.db import connection

from exams.models import Exam
from gradebook.models import Enrolment, Mark, User
from outbox.consumers.staleness import ConsumerStatus, list_consumer_statuses
from outbox.log.reading import get_head
from outbox.models import Consumer
from projections.models import MarkHistory
from tests import factories
from tests.benchmarks.hall import Hall
from tests.load import run_load
from tests.processes.running import Running, everything_running
from tests.serving import serving
from tests.waiting import wait_until

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.process,
    pytest.mark.chaos,
    pytest.mark.timeout(900),
]

RATE = 150
SECONDS = int(os.environ.get("CHAOS_SECONDS", "120"))
PROJECTIONS = ("marksheet_history", "analytics")


@pytest.fixture
def hall(transactional_db: None, tmp_path: Path) -> Hall:
    """An exam that no person needs to mark, whose results go to a column."""
    revision = factories.published_revision(questions=factories.questions(20, ("true_false",)))
    exam = revision.exam
    sheet = factories.sheet(factories.school_class(exam.school), exam.course, exam.period)
    column = factories.column(sheet, source_id=exam.pk, max_points=20, title="Exam")
    factories.target(exam, sheet.school_class, column)
    return Hall(tmp_path, revision)


def enrol_everybody() -> None:
    """Put whoever was seated into the exam's class."""
    sheet_class = Exam.objects.get().targets.get().school_class
    since = factories.enrolment(factories.student(sheet_class.school), sheet_class).starts_on
    seated = User.objects.filter(attempts__isnull=False)
    Enrolment.objects.bulk_create(
        Enrolment(student=student, school_class=sheet_class, starts_on=since) for student in seated
    )


class Watching:
    """Looks at every consumer five times a second, and keeps the oldest each was, by the projection that was being rebuilt."""

    def __init__(self) -> None:
        self.rebuilt = ""
        self.oldest: dict[tuple[str, str], float] = {}
        self.late: list[tuple[str, ConsumerStatus]] = []
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._look)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._end.set()
        self._thread.join()

    def _look(self) -> None:
        try:
            while not self._end.wait(0.2):
                for status in list_consumer_statuses():
                    self._note(self.rebuilt, status)
        finally:
            connection.close()

    def _note(self, rebuilt: str, status: ConsumerStatus) -> None:
        key = (rebuilt, status.name)
        self.oldest[key] = max(self.oldest.get(key, 0.0), status.staleness.total_seconds())
        if status.is_stale and status.name != rebuilt:
            self.late.append((rebuilt, status))


@contextmanager
def handing_in(port: int, file: Path) -> Iterator[dict[str, int]]:
    """Let students hand in at the steady rate meanwhile; the answers are there at the end."""
    answers: dict[str, int] = {}

    def load() -> None:
        answers.update(run_load(port, file, connections=128, seconds=SECONDS, rate=RATE).answers)

    thread = threading.Thread(target=load)
    thread.start()
    try:
        yield answers
    finally:
        thread.join()


def test_o5_projections_rebuilt_under_the_steady_load_end_equal_and_make_nobody_late(
    hall: Hall, process_environment: Mapping[str, str], tmp_path: Path
) -> None:
    def run(*words: str) -> str:
        with Running(*words, environment=process_environment, log=tmp_path / "rebuild.log") as command:
            assert command.wait() == 0, command.output
            return command.output

    file = hall.write_requests(int(RATE * SECONDS * 1.5))
    enrol_everybody()
    with serving(process_environment) as gate, everything_running(process_environment, tmp_path):
        with handing_in(gate.port, file) as answers:
            wait_until(lambda: MarkHistory.objects.count() > RATE * SECONDS / 4, seconds=SECONDS)
            with Watching() as watching:
                for name in PROJECTIONS:
                    for how in ((), ("--beside",)):
                        watching.rebuilt = name
                        run("rebuild_projection", name, *how)
                        watching.rebuilt = ""
        wait_until(lambda: Mark.objects.count() == answers["202"], seconds=120)
        wait_until(lambda: MarkHistory.objects.count() == answers["202"], seconds=60)
        for name in PROJECTIONS:
            assert f"{name} equals the log" in run("rebuild_projection", name, "--compare")
    print(f"\n{answers}, oldest by what was rebuilt: {watching.oldest}")  # noqa: T201 - the figures are what a full run is for
    assert set(answers) == {"202"}
    assert watching.late == []
    assert get_head().pos >= 3 * answers["202"]
    assert set(Consumer.objects.filter(name__in=PROJECTIONS).values_list("generation", flat=True)) == {2}
