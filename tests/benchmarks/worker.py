"""How fast exams are graded and jobs are claimed: the same worker with batches against single jobs, a full queue against a short one."""

import datetime as dt
import json
import statistics
from collections.abc import Iterator
from typing import Any
from uuid import UUID

from django.db import connection

from exams.canonical import canonical_answers, digest
from exams.jobs import GRADE
from exams.models import Attempt, Exam, ExamRevision, Result
from outbox.loop import run_loop
from outbox.models import FinishedJob, Job
from outbox.processes import Heart
from outbox.queue.claim import Claimer
from outbox.queue.keeper import Keeper
from outbox.queue.settle import Settled
from outbox.queue.streams import Allowance
from outbox.queue.worker import Worker
from outbox.stopping import Stop
from tests import factories
from tests.benchmarks.harness import BenchDatabase, paired, run, timed
from tests.benchmarks.results import Row

LEASE = dt.timedelta(seconds=60)
MACHINE_KINDS = ("single_choice", "multiple_choice", "true_false", "numeric", "short_text", "matching")
QUESTIONS = 20
VARIANTS = 100  # different sets of answers, from nothing right to everything
GRADED_IN_BATCHES, GRADED_ALONE = 4_000, 800
EXAMS, FINISHED, LONG_QUEUE, SHORT_QUEUE = 10, 1_000_000, 200_000, 1_000
CLAIMS = 15  # of 50 jobs each: three quarters of the short queue
CLAIMED = 50  # jobs at once

# Students in the class, each with one attempt handed in and its job, the answers taking turns. `uuidv7` is PostgreSQL 18's.
HAND_IN = """
WITH number AS MATERIALIZED (
    SELECT uuidv7() AS student_id, uuidv7() AS attempt_id, uuidv7() AS submission_id, position
    FROM generate_series(0, %(count)s - 1) AS position
), student AS (
    INSERT INTO gradebook_user (id, school_id, role, username, password, first_name, last_name, email,
                                is_superuser, is_staff, is_active, date_joined)
    SELECT student_id, %(school_id)s, 'student', student_id::text, '!', '', '', '', false, false, true, now() FROM number
), enrolment AS (
    INSERT INTO gradebook_enrolment (id, student_id, school_class_id, starts_on)
    SELECT uuidv7(), student_id, %(class_id)s, current_date - 30 FROM number
), attempt AS (
    INSERT INTO exams_attempt (id, school_id, exam_id, revision_id, student_id, number, state, started_at,
                               closes_at, grace_until, accepts_until, deadline_rule, failure_reason, version)
    SELECT attempt_id, %(school_id)s, %(exam_id)s, %(revision_id)s, student_id, 1, 'submitted', now(),
           now() + interval '1 h', now() + interval '1 h', now() + interval '1 h', 'exam close', '', 2
    FROM number
), submission AS (
    INSERT INTO exams_submission (id, school_id, exam_id, attempt_id, student_id, revision_id, exam_revision, attempt_key,
                                  answers, payload_sha256, accepted_at, deadline, decision, decision_rule, origin,
                                  receipt_key_id, event_id)
    SELECT submission_id, %(school_id)s, %(exam_id)s, attempt_id, student_id, %(revision_id)s, 1, attempt_id::text,
           handed_in.answers, handed_in.sha256, now(), now() + interval '1 h', 'on_time', 'exam close', 'student',
           'bench', uuidv7()
    FROM number
    JOIN json_to_recordset(%(variants)s) AS handed_in (place integer, answers text, sha256 text)
      ON handed_in.place = number.position %% %(variant_count)s
)
INSERT INTO outbox_job (tenant_id, group_id, job_id, kind, subject_id)
SELECT %(school_id)s, %(exam_id)s, uuidv7(), %(kind)s, submission_id FROM number
"""
WAIT = """
INSERT INTO outbox_job (tenant_id, group_id, job_id, kind, subject_id, run_at)
SELECT %(tenant)s, (%(exams)s::uuid[])[1 + number %% cardinality(%(exams)s::uuid[])], gen_random_uuid(), 'bench', uuidv7(),
       clock_timestamp() - interval '1 hour' + number * interval '1 microsecond'
FROM generate_series(1, %(count)s) AS number
"""
FINISH = """
INSERT INTO outbox_finishedjob (tenant_id, group_id, job_id, kind, subject_id, tries)
SELECT %(tenant)s, (%(exams)s::uuid[])[1 + number %% cardinality(%(exams)s::uuid[])], gen_random_uuid(), 'bench', uuidv7(), 1
FROM generate_series(1, %(count)s) AS number
"""


class GradingRoom:
    """One exam of 20 questions, a class that hands it in, and a worker."""

    def __init__(self) -> None:
        questions = factories.questions(QUESTIONS, MACHINE_KINDS)  # type: ignore[arg-type]
        self._revision: ExamRevision = factories.published_revision(questions=questions)
        self._exam: Exam = self._revision.exam
        self._class = factories.target(self._exam).school_class
        self._variants = [self._make_variant(place) for place in range(VARIANTS)]

    def _make_variant(self, place: int) -> dict[str, object]:
        """Return answers of which `place` percent are right and the others are left out or nonsense."""
        right = factories.right_answers(self._revision)
        known = QUESTIONS * place // VARIANTS
        answers = {
            key: value if number < known else "nonsense"
            for number, (key, value) in enumerate(right.items())
            if number < known or number % 2
        }
        text = canonical_answers(answers)
        return {"place": place, "answers": text, "sha256": digest(text)}

    def hand_in(self, count: int) -> None:
        """Hand in so many attempts, each with its job."""
        with connection.cursor() as cursor:
            cursor.execute(
                HAND_IN,
                {
                    "count": count,
                    "school_id": self._exam.school_id,
                    "class_id": self._class.pk,
                    "exam_id": self._exam.pk,
                    "revision_id": self._revision.pk,
                    "kind": GRADE,
                    "variants": json.dumps(self._variants),
                    "variant_count": VARIANTS,
                },
            )

    def grade(self, count: int, *, batch: int) -> float:
        """Return how many of `count` submissions a second one worker process grades, claiming so many at a time."""
        before = Result.objects.count()
        claimer = Claimer(kinds=[GRADE], lease=LEASE, batch=batch, per_group=batch)
        with Stop() as stop, Keeper(Heart("worker"), LEASE) as keeper:
            worker = Worker(claimer, keeper, stop)
            seconds = timed(lambda: run_loop(worker.step_until_idle, stop))
        assert worker.ended == {Settled.FINISHED: count}, worker.describe()
        assert Result.objects.count() - before == count
        assert not Attempt.objects.filter(state="submitted").exists()
        return count / seconds


class WaitingRoom:
    """A queue of no work at all, of any length."""

    def __init__(self) -> None:
        self._rows: dict[str, Any] = {
            "tenant": UUID(int=1),
            "exams": [UUID(int=1000 + exam) for exam in range(EXAMS)],
        }

    def fill(self, *, waiting: int, finished: int) -> None:
        """Empty both tables and fill them anew."""
        with connection.cursor() as cursor:
            cursor.execute("TRUNCATE outbox_job, outbox_finishedjob")
            cursor.execute(FINISH, self._rows | {"count": finished})
            cursor.execute(WAIT, self._rows | {"count": waiting})
        assert (Job.objects.count(), FinishedJob.objects.count()) == (waiting, finished)

    def claim(self) -> float:
        """Return the seconds the median claim of 50 takes, from asking to the jobs in hand, looks at the streams included."""
        claimer = Claimer(
            kinds=["bench"], lease=LEASE, batch=CLAIMED, per_group=CLAIMED, backlog=Allowance(10.0**9)
        )
        durations = []
        for _ in range(CLAIMS):
            claims = []
            durations.append(timed(lambda: claims.append(claimer.claim(by=None))))  # noqa: B023 - called at once
            assert claims[0] is not None
            assert len(claims[0].jobs) == CLAIMED
        return statistics.median(durations)


def measure(database: BenchDatabase) -> Iterator[Row]:
    """Measure grading, then claiming."""
    grading, waiting = GradingRoom(), WaitingRoom()

    def grade(count: int, batch: int) -> float:
        grading.hand_in(count)
        database.vacuum()
        database.checkpoint()
        return grading.grade(count, batch=batch)

    def claim(jobs: int, finished: int) -> float:
        waiting.fill(waiting=jobs, finished=finished)
        database.vacuum("outbox_job", "outbox_finishedjob")
        database.checkpoint()
        return waiting.claim()

    yield paired(
        "gradings/s of a 20-question exam, one worker process, to the same worker with claim size 1",
        lambda: grade(GRADED_IN_BATCHES, batch=50),
        lambda: grade(GRADED_ALONE, batch=1),
        reach=5,
    )
    yield paired(
        "seconds to claim 50 with 1 M finished and 200 k waiting jobs, to itself with 1 k waiting",
        lambda: claim(LONG_QUEUE, FINISHED),
        lambda: claim(SHORT_QUEUE, 0),
        reach=1.5,
        at_most=True,
        repeats=5,
    )


if __name__ == "__main__":
    run("worker", measure)
