"""The advisory locks of the exams app, all in one place: what a personal deadline is computed from stays still meanwhile.

A deadline is read from three sources (the exam's window, the student's accommodation, the extensions) and stored with the
attempt. Whoever starts an attempt shares the exam's times and owns the student's; whoever changes the exam's times, or one
student's, owns them. So a change either sees the new attempt or is seen by it, and two starts of one student take turns.
They end with the transaction (PgBouncer is fine) and come before any row lock. Two ids may share a key: that costs a wait.
"""

from enum import IntEnum
from uuid import UUID

from django.db import connection

from outbox.db import require_transaction


class Thing(IntEnum):
    """The first half of an advisory key: what is locked. The second half is taken from the thing's id."""

    EXAM_TIMES = 20_001
    STUDENT_TIMES = 20_002


def lock_for_start(*, exam_id: UUID, student_id: UUID) -> None:
    """Keep this exam's times as they are, and let this student start only one attempt at a time."""
    _run(
        "SELECT pg_advisory_xact_lock_shared(%s, %s), pg_advisory_xact_lock(%s, %s)",
        [*_key(Thing.EXAM_TIMES, exam_id), *_key(Thing.STUDENT_TIMES, student_id)],
    )


def lock_exam_times(exam_id: UUID) -> None:
    """Wait for the starts under way, and hold later ones back: the exam's times are about to change for everybody."""
    _run("SELECT pg_advisory_xact_lock(%s, %s)", _key(Thing.EXAM_TIMES, exam_id))


def lock_student_times(student_id: UUID) -> None:
    """Hold this student's starts back: their accommodation is about to change."""
    _run("SELECT pg_advisory_xact_lock(%s, %s)", _key(Thing.STUDENT_TIMES, student_id))


def _key(thing: Thing, thing_id: UUID) -> list[int]:
    last_four_bytes = thing_id.bytes[
        -4:
    ]  # the random end of a UUIDv7, as the signed integer PostgreSQL wants
    return [thing, int.from_bytes(last_four_bytes, signed=True)]


def _run(statement: str, parameters: list[int]) -> None:
    require_transaction()
    with connection.cursor() as cursor:
        cursor.execute(statement, parameters)
