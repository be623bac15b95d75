"""Tables of the exams app, from the paper to the result."""

from exams.models.attachments import (
    Attachment,
    AttachmentVersion,
    FileType,
    ObjectRole,
    ObjectState,
    StoredObject,
    VersionState,
)
from exams.models.attempts import Attempt, AttemptState, Draft
from exams.models.exams import CountingAttempt, Exam, ExamTarget, ScoreRelease
from exams.models.papers import AnswerOption, ExamRevision, Question, QuestionKind
from exams.models.submissions import Decision, Origin, Result, ResultState, Submission
from exams.models.times import Accommodation, Extension, ExtensionKind

__all__ = [
    "Accommodation",
    "AnswerOption",
    "Attachment",
    "AttachmentVersion",
    "Attempt",
    "AttemptState",
    "CountingAttempt",
    "Decision",
    "Draft",
    "Exam",
    "ExamRevision",
    "ExamTarget",
    "Extension",
    "ExtensionKind",
    "FileType",
    "ObjectRole",
    "ObjectState",
    "Origin",
    "Question",
    "QuestionKind",
    "Result",
    "ResultState",
    "ScoreRelease",
    "StoredObject",
    "Submission",
    "VersionState",
]
