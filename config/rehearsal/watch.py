"""What the database says while the rehearsal runs, and at its end."""

import time
from typing import NamedTuple
from uuid import UUID

from django.db import connection

from config.rehearsal.reconcile import Record
from outbox.db import fetch_row, load_sql


class Sample(NamedTuple):
    """How far the exam is, so many seconds after the begin of the window; `oldest` is the age of the job that waits longest."""

    at: float
    handed_in: int
    results: int
    marks: int
    waiting: int
    oldest: float

    @property
    def is_drained(self) -> bool:
        """Whether everything handed in has arrived in the mark sheets."""
        return self.waiting == 0 and self.handed_in == self.results == self.marks


class Watch:
    """Takes samples of one exam."""

    def __init__(self, exam_id: UUID, start_at: float) -> None:
        self._exam_id = exam_id
        self._start_at = start_at
        self.samples: list[Sample] = []

    def look(self) -> Sample:
        """Take a sample and return it."""
        at = time.monotonic() - self._start_at
        with connection.cursor() as cursor:
            row = fetch_row(cursor, "config.rehearsal", "sample_progress", {"exam": self._exam_id})
        sample = Sample(at, *row)
        self.samples.append(sample)
        return sample


def list_records(exam_id: UUID) -> list[Record]:
    """Return what the tables hold of each attempt."""
    with connection.cursor() as cursor:
        cursor.execute(load_sql("config.rehearsal", "list_records"), {"exam": exam_id})
        return [Record(*row) for row in cursor.fetchall()]
