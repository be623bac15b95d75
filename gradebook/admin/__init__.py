"""Django's admin for people, school structure and mark sheets. Marks are shown, never edited: they change through services only."""

from gradebook.admin.people import PersonAdmin
from gradebook.admin.school import (
    CourseAdmin,
    EnrolmentAdmin,
    PeriodAdmin,
    SchoolAdmin,
    SchoolClassAdmin,
    TeachingAssignmentAdmin,
)
from gradebook.admin.sheets import ColumnAdmin, MarkAdmin, MarkSheetAdmin
from gradebook.admin.terms import AmendmentAdmin, LetterScaleAdmin, ReportCardAdmin

__all__ = [
    "AmendmentAdmin",
    "ColumnAdmin",
    "CourseAdmin",
    "EnrolmentAdmin",
    "LetterScaleAdmin",
    "MarkAdmin",
    "MarkSheetAdmin",
    "PeriodAdmin",
    "PersonAdmin",
    "ReportCardAdmin",
    "SchoolAdmin",
    "SchoolClassAdmin",
    "TeachingAssignmentAdmin",
]
