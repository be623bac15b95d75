"""The forms of an exam and of the classes that sit it."""

from datetime import timedelta
from decimal import Decimal
from typing import Any

from django import forms

from exams.models import Exam, ExamTarget
from exams.models.exams import LONGEST_TIME_LIMIT
from gradebook.admin.seen import SeenForm
from gradebook.models import Column


class MinutesField(forms.DecimalField):
    """A duration, written as minutes."""

    def prepare_value(self, value: Any) -> Any:
        """Show a duration as minutes, without needless zeros."""
        if isinstance(value, timedelta):
            return f"{Decimal(value // timedelta(seconds=1)) / 60:.2f}".rstrip("0").rstrip(".")
        return value

    def clean(self, value: Any) -> timedelta | None:
        """Return a duration, or None for none."""
        minutes = super().clean(value)
        return None if minutes is None else timedelta(seconds=int(minutes * 60))

    def has_changed(self, initial: Any, data: Any) -> bool:
        """Compare what is written with what was shown."""
        return (self.prepare_value(initial) or "") != (data or "")


class ExamForm(SeenForm[Exam]):
    """What a person says about an exam; its school is its course's."""

    time_limit = MinutesField(
        label="Time limit (minutes)",
        required=False,
        min_value=Decimal(1),
        max_value=Decimal(LONGEST_TIME_LIMIT // timedelta(minutes=1)),
        decimal_places=2,
        help_text="From each student's own start. Empty: until the close.",
    )

    class Meta:
        model = Exam
        fields = [
            *(
                "title",
                "course",
                "period",
                "opens_at",
                "closes_at",
                "time_limit",
                "grace_seconds",
                "late_seconds",
            ),
            *("attempts_allowed", "counting_attempt", "scores_released_at"),
        ]
        help_texts = {
            "grace_seconds": "Seconds after the deadline in which a hand-in still counts as on time.",
            "late_seconds": "Seconds after those in which one is accepted and called late.",
            "scores_released_at": "From then on students see their scores. Empty: not yet.",
        }

    def clean(self) -> dict[str, Any]:
        """Refuse a period of another school; take the school from the course."""
        cleaned = super().clean() or {}
        course = cleaned.get("course") or getattr(self.instance, "course", None)
        period = cleaned.get("period") or getattr(self.instance, "period", None)
        if course and period and course.school_id != period.school_id:
            self.add_error("period", f"This period belongs to another school than {course}.")
        if course is not None:
            self.instance.school_id = course.school_id
        return cleaned


class ColumnChoice(forms.ModelChoiceField[Column]):
    """A column, named with the class whose sheet it is in."""

    def label_from_instance(self, column: Column) -> str:
        """Return the words of the list."""
        return f"{column.sheet.school_class}: {column.title}"


class TargetForm(forms.ModelForm[ExamTarget]):
    """A class, and the column its results go to."""

    column = ColumnChoice(
        Column.objects.none(), required=False, help_text="Empty: none yet. “Open columns” makes them all."
    )

    def clean(self) -> dict[str, Any]:
        """Refuse a class of another school, and a column of another class, course or period."""
        cleaned = super().clean() or {}
        exam, school_class, column = (cleaned.get(name) for name in ("exam", "school_class", "column"))
        if exam and school_class and school_class.school_id != exam.school_id:
            self.add_error("school_class", f"{school_class} is a class of another school.")
        if (
            exam
            and column
            and (column.sheet.school_class, column.sheet.course_id, column.sheet.period_id)
            != (
                school_class,
                exam.course_id,
                exam.period_id,
            )
        ):
            self.add_error("column", "This column is in the mark sheet of another class, course or period.")
        return cleaned
