"""A full examination hall: students in any number, each with an open attempt at one 20-question exam, ready to hand in."""

import datetime as dt
import json
from collections.abc import Iterator
from pathlib import Path
from typing import cast
from uuid import UUID

from django.db import connection
from uuid_utils.compat import uuid7

from exams import tokens
from exams.models import ExamRevision
from gradebook.models import Role, School, User
from tests import factories
from tests.load import write_requests
from tests.posting import Sitting

# `uuidv7` is PostgreSQL 18's: benchmarks run on the embedded server.
_SEAT_STUDENTS = """
WITH student AS (
    INSERT INTO gradebook_user (id, school_id, role, username, password, first_name, last_name, email,
                                is_superuser, is_staff, is_active, date_joined)
    SELECT uuidv7(), %(school_id)s, 'student', uuidv7()::text, '!', '', '', '', false, false, true, now()
    FROM generate_series(1, %(count)s)
    RETURNING id
)
INSERT INTO exams_attempt (id, school_id, exam_id, revision_id, student_id, number, state, started_at,
                           closes_at, grace_until, accepts_until, deadline_rule, failure_reason, version)
SELECT uuidv7(), %(school_id)s, %(exam_id)s, %(revision_id)s, student.id, 1, 'open', now(),
       now() + interval '5 h', now() + interval '5 h', now() + interval '5 h', 'exam close', '', 1
FROM student
RETURNING id, student_id
"""


class Hall:
    """Makes hand-ins that were never sent before."""

    def __init__(self, folder: Path, revision: ExamRevision | None = None) -> None:
        self._folder = folder
        self._revision: ExamRevision = revision or factories.published_revision(
            questions=factories.questions(20)
        )
        self._school: School = self._revision.exam.school
        self.answers = {question["id"]: "an answer of some length" for question in self._revision.paper or ()}

    def write_requests(self, count: int) -> Path:
        """Seat so many students and return the file of their requests, for the load generator."""
        file = self._folder / f"{uuid7()}.requests"
        write_requests(file, self._requests(count), json.dumps({"answers": self.answers}))
        return file

    def seat(self, count: int) -> Iterator[Sitting]:
        """Seat so many students, each with a token."""
        now = dt.datetime.now(tz=dt.UTC)
        for attempt_id, student_id in self._seat(count):
            student = User(id=student_id, school=self._school, role=Role.STUDENT)
            yield Sitting(attempt_id, tokens.issue(student, now=now).access)

    def _requests(self, count: int) -> Iterator[tuple[str, str]]:
        return ((sitting.path, sitting.token) for sitting in self.seat(count))

    def _seat(self, count: int) -> list[tuple[UUID, UUID]]:
        parameters: dict[str, UUID | int] = {
            "school_id": self._school.pk,
            "exam_id": self._revision.exam_id,
            "revision_id": self._revision.pk,
            "count": count,
        }
        with connection.cursor() as cursor:
            cursor.execute(_SEAT_STUDENTS, parameters)
            return cast("list[tuple[UUID, UUID]]", cursor.fetchall())

    def count_handed_in(self) -> int:
        """Return how many attempts were handed in with all that belongs to it: submission, job and event."""
        with connection.cursor() as cursor:
            cursor.execute(
                """
                SELECT count(*)
                FROM exams_attempt AS attempt
                JOIN exams_submission AS submission ON submission.attempt_id = attempt.id
                JOIN outbox_job AS job ON job.group_id = submission.exam_id AND job.subject_id = submission.id
                JOIN outbox_event AS event ON event.event_id = submission.event_id
                WHERE attempt.state = 'submitted' AND attempt.revision_id = %s
                """,
                [self._revision.pk],
            )
            return cast("int", cursor.fetchone()[0])
