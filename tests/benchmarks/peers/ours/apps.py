"""The same job as the peers do (`peers/apps/work.py`), written as one writes a handler here: for the whole batch at once."""

import json
import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from django.apps import AppConfig
from django.db import connection

if TYPE_CHECKING:  # models are not loaded when this module is
    from outbox.queue.handlers import ClaimedJob, Outcome, Verdict

KIND = "bench_grade"
GATED = os.environ.get("PEER_GATED") == "1"
GATE = 4711
WAIT_AT_GATE = "SELECT pg_advisory_lock_shared(%s), pg_advisory_unlock_shared(%s)"
READ_SUBMISSIONS = "SELECT id, exam_id, answers::text FROM bench_submission WHERE id = ANY (%s)"
READ_KEYS = "SELECT exam_id, answers::text FROM bench_key WHERE exam_id = ANY (%s)"
WRITE_RESULTS = (
    "INSERT INTO bench_result (submission_id, points) SELECT * FROM unnest(%s::bigint[], %s::integer[])"
)
WRITE_EVENTS = """
    INSERT INTO bench_event (submission_id, payload)
    SELECT submission_id, jsonb_build_object('points', points)
    FROM unnest(%s::bigint[], %s::integer[]) AS result (submission_id, points)
"""


class OursConfig(AppConfig):
    """Registers the handler when the process starts."""

    name = "tests.benchmarks.peers.ours"

    def ready(self) -> None:
        """Let `run_worker` know the kind."""
        from outbox.queue.handlers import register_handler  # noqa: PLC0415 - needs loaded apps

        register_handler(BenchHandler())


class BenchHandler:
    """Two reads and two writes a batch. A subject's number is its submission's."""

    kind = KIND

    def prepare(self, jobs: "Sequence[ClaimedJob]") -> "Sequence[Outcome]":
        """Read everything and count the points."""
        from outbox.queue.handlers import Done  # noqa: PLC0415 - as above

        with connection.cursor() as cursor:
            if GATED:
                cursor.execute(WAIT_AT_GATE, [GATE, GATE])
            cursor.execute(READ_SUBMISSIONS, [[job.subject_id.int for job in jobs]])
            submissions = {number: (exam, answers) for number, exam, answers in cursor.fetchall()}
            cursor.execute(READ_KEYS, [list({exam for exam, _ in submissions.values()})])
            keys = {exam: json.loads(answers) for exam, answers in cursor.fetchall()}
        return [Done(job, _judge(submissions[job.subject_id.int], keys)) for job in jobs]

    def write(self, verdicts: "Sequence[Verdict]") -> None:
        """Write results and events."""
        rows = [
            [verdict.job.subject_id.int for verdict in verdicts],
            [verdict.value for verdict in verdicts],
        ]
        with connection.cursor() as cursor:
            cursor.execute(WRITE_RESULTS, rows)
            cursor.execute(WRITE_EVENTS, rows)


def _judge(submission: tuple[int, str], keys: Mapping[int, Mapping[str, str]]) -> int:
    exam, text = submission
    answers = json.loads(text)
    return sum(answers.get(question) == answer for question, answer in keys[exam].items())
