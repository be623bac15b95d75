"""The smallest valid row of everything, for tests: `factories.attempt()` makes all it needs, names win over defaults.

A factory takes the parents it hangs on and any field by name. Nothing is random: names and numbers count upwards.
"""

from tests.factories.exams import (
    accommodation,
    attempt,
    draft_revision,
    exam,
    extension,
    published_revision,
    right_answers,
    target,
)
from tests.factories.gradebook import (
    PASSWORD,
    admin,
    assignment,
    column,
    course,
    enrolment,
    period,
    school,
    school_class,
    sheet,
    student,
    teacher,
)
from tests.factories.papers import ALL_KINDS, a_question, questions

__all__ = [
    "ALL_KINDS",
    "PASSWORD",
    "a_question",
    "accommodation",
    "admin",
    "assignment",
    "attempt",
    "column",
    "course",
    "draft_revision",
    "enrolment",
    "exam",
    "extension",
    "period",
    "published_revision",
    "questions",
    "right_answers",
    "school",
    "school_class",
    "sheet",
    "student",
    "target",
    "teacher",
]
