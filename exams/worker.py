"""Grading: what the worker does with a job of ours. `prepare` reads and judges, `exams.services.results` writes.

Everything is verified again from the source before it is graded: what the gate let through in a hurry, or what somebody changed
since. What can never be graded becomes a status with a reason that a person understands, at once.
"""

import dataclasses
from collections.abc import Mapping, Sequence
from uuid import UUID

from exams.attachments.queries import Named, list_named, name_files
from exams.canonical import digest, read_answers
from exams.grading import BrokenKey, Key, grade, note_missing_files
from exams.jobs import GRADE, REGRADE
from exams.queries.grading import Keys, ToGrade, list_to_grade
from exams.services.results import Finding, record_findings
from outbox.queue.handlers import ClaimedJob, Done, Outcome, PermanentFailure, Verdict, register_handler


@dataclasses.dataclass(frozen=True, slots=True)
class GradingHandler:
    """Grades the submissions of a batch. The same for fresh work and for regrades: only their lanes differ."""

    kind: str
    keys: Keys = dataclasses.field(default_factory=Keys)

    def prepare(self, jobs: Sequence[ClaimedJob]) -> Sequence[Outcome]:
        """Judge every submission: two reads for the whole batch (three where files were asked for), then only arithmetic.

        Raises `LookupError` for a job whose submission does not exist: that is a defect, not a failed exam.
        """
        submissions = list_to_grade([job.subject_id for job in jobs])
        keys = self.keys.get({submission.revision_id for submission in submissions.values()})
        return _note_missing([_judge(job, submissions, keys) for job in jobs], submissions, keys)

    def write(self, verdicts: Sequence[Verdict]) -> None:
        """Record what was found, in the settling transaction."""
        record_findings([verdict.value for verdict in verdicts if isinstance(verdict.value, Finding)])


def register() -> None:
    """Let workers of this process grade."""
    register_handler(GradingHandler(GRADE))
    register_handler(GradingHandler(REGRADE))


def _judge(
    job: ClaimedJob, submissions: Mapping[UUID, ToGrade], keys: Mapping[UUID, Key | BrokenKey]
) -> Outcome:
    submission = submissions[job.subject_id]
    if submission.is_withdrawn:
        return Done(job)  # an extension opened the attempt again: there is nothing to grade any more
    key = keys.get(submission.revision_id)
    finding = Finding(submission.submission_id, submission.attempt_id, reason=find_obstacle(submission, key))
    if finding.reason or not isinstance(key, Key):
        return PermanentFailure(job, finding.reason, finding)
    return Done(job, dataclasses.replace(finding, grade=grade(key, read_answers(submission.answers))))


def _note_missing(
    outcomes: Sequence[Outcome], submissions: Mapping[UUID, ToGrade], keys: Mapping[UUID, Key | BrokenKey]
) -> list[Outcome]:
    """Note where an answer names a file that has not arrived: a person has to see to it, and nothing else is lost by it."""
    named = {
        outcome.job.subject_id: _name_files(submissions[outcome.job.subject_id], keys) for outcome in outcomes
    }
    arrived = list_named([name for names in named.values() for name in names])
    return [
        _with_notes(outcome, [name for name in named[outcome.job.subject_id] if name not in arrived])
        for outcome in outcomes
    ]


def _name_files(submission: ToGrade, keys: Mapping[UUID, Key | BrokenKey]) -> list[Named]:
    key = keys.get(submission.revision_id)
    if not isinstance(key, Key) or not key.file_questions:
        return []
    return name_files(submission.attempt_id, read_answers(submission.answers), key.file_questions)


def _with_notes(outcome: Outcome, missing: Sequence[Named]) -> Outcome:
    finding = outcome.value if isinstance(outcome, Done) else None
    if not missing or not isinstance(finding, Finding) or finding.grade is None:
        return outcome
    noted = note_missing_files(finding.grade, [name.question_id for name in missing])
    return Done(outcome.job, dataclasses.replace(finding, grade=noted))


def find_obstacle(submission: ToGrade, key: Key | BrokenKey | None) -> str:
    """Return why this submission can never be graded as things stand, in words for student and staff; empty if it can."""
    number, allowed = submission.number, submission.attempts_allowed
    obstacles = {
        "The stored answers are not those the receipt was given for.": digest(submission.answers)
        != submission.payload_sha256,
        "The submission does not belong to the attempt it names.": not submission.matches_attempt,
        "The student's account is not active.": not submission.is_active_student,
        "The exam was not given to a class the student was in when the attempt was started.": not submission.is_targeted,
        f"This is attempt {number}, but only {allowed} may be made.": number > allowed,
        "The exam's paper is not published.": key is None,
        f"The exam's answer key cannot be used. {key}": isinstance(key, BrokenKey),
    }
    return next((reason for reason, stands_in_the_way in obstacles.items() if stands_in_the_way), "")
