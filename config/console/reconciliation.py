"""One exam counted along the whole path: attempts, submissions, events, jobs, results, marks; and every difference named."""

import dataclasses
from uuid import UUID

from django.db import connection

from outbox.db import fetch_row


@dataclasses.dataclass(frozen=True, slots=True)
class Counts:
    """What `reconcile_exam.sql` counts, in its order."""

    attempts: int
    open: int
    not_taken: int
    handed_in: int
    submissions: int
    accepted_events: int
    jobs: int
    dead_letters: int
    results: int
    graded_events: int
    posts: int
    marks: int


@dataclasses.dataclass(frozen=True, slots=True)
class Difference:
    """Two counts that should be alike. `is_fault`: nothing but a fault explains it; else time or a person settles it."""

    words: str
    is_fault: bool


def read_counts(exam_id: UUID) -> Counts:
    """Count one exam, in one statement that sees one moment."""
    with connection.cursor() as cursor:
        return Counts(*fetch_row(cursor, "config", "reconcile_exam", {"exam": exam_id}))


def list_differences(counts: Counts) -> list[Difference]:
    """Return what is not alike, in the order of the path; empty when everything that was handed in has arrived."""
    ungraded = counts.submissions - counts.results
    found = [
        _fault(
            counts.handed_in - counts.submissions, "Attempts that count as handed in and have no submission"
        ),
        _fault(
            counts.submissions - counts.handed_in,
            "Submissions of attempts that do not count as handed in",
        ),
        _fault(counts.submissions - counts.accepted_events, "Submissions without an event in the log"),
        _fault(ungraded - counts.jobs - counts.dead_letters, "Submissions with neither a result nor a job"),
        _fault(counts.results - counts.graded_events, "Results without an event in the log"),
        _wait(min(ungraded, counts.jobs), "Submissions that wait for a worker"),
        _wait(counts.dead_letters, "Jobs that were given up (see the dead letters)"),
        _wait(
            counts.posts - counts.marks,
            "Results that have not reached the marksheet (see the consumer gradebook_marks)",
        ),
    ]
    return [difference for difference in found if difference is not None]


def _fault(count: int, words: str) -> Difference | None:
    return Difference(f"{words}: {count}", is_fault=True) if count > 0 else None


def _wait(count: int, words: str) -> Difference | None:
    return Difference(f"{words}: {count}", is_fault=False) if count > 0 else None
