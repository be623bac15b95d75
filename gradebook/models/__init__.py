"""Tables of the gradebook: people, school structure, mark sheets and marks."""

from gradebook.models.marks import (
    Column,
    ColumnSource,
    Mark,
    MarkCode,
    MarkSheet,
    MarkSource,
)
from gradebook.models.notifications import Notification
from gradebook.models.people import Role, User
from gradebook.models.school import (
    Course,
    Enrolment,
    Period,
    School,
    SchoolClass,
    TeachingAssignment,
)

__all__ = [
    "Column",
    "ColumnSource",
    "Course",
    "Enrolment",
    "Mark",
    "MarkCode",
    "MarkSheet",
    "MarkSource",
    "Notification",
    "Period",
    "Role",
    "School",
    "SchoolClass",
    "TeachingAssignment",
    "User",
]
