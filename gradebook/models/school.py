"""School structure: who learns and who teaches what, where and when. All of it stays inside one school."""

import zoneinfo

from django.core.exceptions import ValidationError
from django.db import models
from django.db.models import F, Q
from uuid_utils.compat import uuid7


def validate_time_zone(name: str) -> None:
    """Refuse a name that is not in the IANA time zone database."""
    if name not in zoneinfo.available_timezones():
        message = f"{name!r} is not an IANA time zone, such as Europe/Helsinki."
        raise ValidationError(message)


class School(models.Model):
    """One school; its time zone decides what a calendar day is."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    name = models.CharField(max_length=200, unique=True)
    time_zone = models.CharField(max_length=60, default="UTC", validators=[validate_time_zone])
    # Made by `manage.py rehearse_deadline`: it has no people, and nobody is shown it in a list.
    is_rehearsal = models.BooleanField(default=False, db_default=False, editable=False)

    def __str__(self) -> str:
        return self.name


class Period(models.Model):
    """A term: the stretch of days that marks belong to.

    A locked term's marks stand still. `generation` is raised by everything that changes what the term's marks may say: locking,
    opening again, a signed amendment. A report cites it, and a page that was loaded at another one may not save
    (`gradebook.services.terms`).
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    school = models.ForeignKey(School, on_delete=models.PROTECT)
    name = models.CharField(max_length=100)
    starts_on = models.DateField()
    ends_on = models.DateField()
    generation = models.PositiveIntegerField(default=1, db_default=1, editable=False)
    locked_at = models.DateTimeField(null=True, editable=False)
    locked_by = models.ForeignKey(
        "gradebook.User", on_delete=models.PROTECT, null=True, related_name="+", editable=False
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["school", "name"], name="period_names_unique_in_school"),
            models.CheckConstraint(
                condition=Q(ends_on__gte=F("starts_on")),
                name="periods_end_after_they_start",
            ),
            models.CheckConstraint(
                condition=Q(locked_by__isnull=True) | Q(locked_at__isnull=False),
                name="an_open_term_has_no_locker",
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def is_locked(self) -> bool:
        """Whether its marks stand still."""
        return self.locked_at is not None


class Course(models.Model):
    """A subject taught, such as Mathematics 9."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    school = models.ForeignKey(School, on_delete=models.PROTECT)
    code = models.CharField(max_length=30)
    title = models.CharField(max_length=200)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["school", "code"], name="course_codes_unique_in_school")
        ]

    def __str__(self) -> str:
        return self.title


class SchoolClass(models.Model):
    """A group of students taught together, such as 9B."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    school = models.ForeignKey(School, on_delete=models.PROTECT)
    name = models.CharField(max_length=60)

    class Meta:
        verbose_name = "class"
        verbose_name_plural = "classes"
        constraints = [
            models.UniqueConstraint(fields=["school", "name"], name="class_names_unique_in_school")
        ]

    def __str__(self) -> str:
        return self.name


class Enrolment(models.Model):
    """A student is in a class from one day to another (open-ended while `ends_on` is empty)."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    student = models.ForeignKey("gradebook.User", on_delete=models.PROTECT, related_name="enrolments")
    school_class = models.ForeignKey(SchoolClass, on_delete=models.PROTECT, related_name="enrolments")
    starts_on = models.DateField()
    ends_on = models.DateField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["student", "school_class"],
                condition=Q(ends_on__isnull=True),
                name="one_open_enrolment_per_class",
            ),
            models.CheckConstraint(
                condition=Q(ends_on__isnull=True) | Q(ends_on__gte=F("starts_on")),
                name="enrolments_end_after_they_start",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.student} in {self.school_class}"


class TeachingAssignment(models.Model):
    """A teacher may enter marks for this class in this course and period."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    teacher = models.ForeignKey("gradebook.User", on_delete=models.PROTECT, related_name="assignments")
    school_class = models.ForeignKey(SchoolClass, on_delete=models.PROTECT, related_name="assignments")
    course = models.ForeignKey(Course, on_delete=models.PROTECT, related_name="assignments")
    period = models.ForeignKey(Period, on_delete=models.PROTECT, related_name="assignments")

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["teacher", "school_class", "course", "period"],
                name="a_teacher_is_assigned_once",
            )
        ]

    def __str__(self) -> str:
        return f"{self.teacher}: {self.course}, {self.school_class}, {self.period}"
