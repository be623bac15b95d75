"""Tables of the gradebook: people, school structure, mark sheets and marks."""

from gradebook.models.cards import CardRelease, ReportCard
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
from gradebook.models.snapshots import Cutover, MarkSnapshot
from gradebook.models.terms import Amendment, AmendmentState
from gradebook.models.totals import (
    Category,
    LetterScale,
    LetterStep,
    Scheme,
    StoredTotal,
    TotalCause,
    TotalState,
    Treatment,
)

__all__ = [
    "Amendment",
    "AmendmentState",
    "CardRelease",
    "Category",
    "Column",
    "ColumnSource",
    "Course",
    "Cutover",
    "Enrolment",
    "LetterScale",
    "LetterStep",
    "Mark",
    "MarkCode",
    "MarkSheet",
    "MarkSnapshot",
    "MarkSource",
    "Notification",
    "Period",
    "ReportCard",
    "Role",
    "Scheme",
    "School",
    "SchoolClass",
    "StoredTotal",
    "TeachingAssignment",
    "TotalCause",
    "TotalState",
    "Treatment",
    "User",
]
