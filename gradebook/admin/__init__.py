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

__all__ = [
    "ColumnAdmin",
    "CourseAdmin",
    "EnrolmentAdmin",
    "MarkAdmin",
    "MarkSheetAdmin",
    "PeriodAdmin",
    "PersonAdmin",
    "SchoolAdmin",
    "SchoolClassAdmin",
    "TeachingAssignmentAdmin",
]
