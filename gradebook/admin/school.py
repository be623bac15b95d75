"""School structure in the admin. Whatever is put together here must be of one school; the forms say so before the database would."""

from typing import Any

from django import forms
from django.contrib import admin
from django.http import HttpRequest

from gradebook.admin.scoping import SchoolScoped, SchoolScopedInline, StaysInItsSchool, person_of
from gradebook.errors import AssignmentRefused
from gradebook.models import (
    Course,
    Enrolment,
    Period,
    Role,
    School,
    SchoolClass,
    TeachingAssignment,
)
from gradebook.queries.schools import knows_time_zone
from gradebook.services.sheets import check_assignment, open_sheet


class SchoolForm(forms.ModelForm[School]):
    """A school, by a clock that everybody here can read."""

    def clean_time_zone(self) -> str:
        """Refuse a time zone that the database does not know: it says which day a student is in a class."""
        name = str(self.cleaned_data["time_zone"])
        if not knows_time_zone(name):
            raise forms.ValidationError(f"{name!r} is no time zone to the database: choose one by its place.")
        return name


@admin.register(School)
class SchoolAdmin(SchoolScoped[School]):
    """Schools and their time zones."""

    form = SchoolForm
    school_path = "pk"
    list_display = ("name", "time_zone")
    search_fields = ("name",)

    def has_add_permission(self, request: HttpRequest) -> bool:
        """A school begins with an operator: staff of one have to do with that one only."""
        return super().has_add_permission(request) and person_of(request).school_id is None


@admin.register(Period)
class PeriodAdmin(StaysInItsSchool[Period]):
    """Terms of a school."""

    school_path = "school"
    list_display = ("name", "school", "starts_on", "ends_on", "locked_at", "generation")
    readonly_fields = ("locked_at", "locked_by", "generation")  # through their own pages, with their events
    list_filter = (("school", admin.RelatedOnlyFieldListFilter),)
    list_select_related = ("school",)
    search_fields = ("name",)
    date_hierarchy = "starts_on"


@admin.register(Course)
class CourseAdmin(StaysInItsSchool[Course]):
    """Subjects of a school."""

    school_path = "school"
    list_display = ("title", "code", "school")
    list_filter = (("school", admin.RelatedOnlyFieldListFilter),)
    list_select_related = ("school",)
    search_fields = ("title", "code")


class EnrolmentForm(forms.ModelForm[Enrolment]):
    """A student of the class's own school."""

    def clean(self) -> dict[str, Any]:
        """Refuse whoever is no student, or of another school."""
        fields = super().clean() or self.cleaned_data
        student, school_class = fields.get("student"), fields.get("school_class")
        if student and student.role != Role.STUDENT:
            self.add_error("student", "Only students are enrolled in classes.")
        elif student and school_class and student.school_id != school_class.school_id:
            self.add_error("student", "The student and the class are of different schools.")
        return fields


class EnrolmentInline(SchoolScopedInline):
    """Who is in a class."""

    model = Enrolment
    form = EnrolmentForm
    autocomplete_fields = ("student",)
    extra = 1


@admin.register(SchoolClass)
class SchoolClassAdmin(StaysInItsSchool[SchoolClass]):
    """Classes with their students."""

    school_path = "school"
    list_display = ("name", "school")
    list_filter = (("school", admin.RelatedOnlyFieldListFilter),)
    list_select_related = ("school",)
    search_fields = ("name",)
    inlines = (EnrolmentInline,)


@admin.register(Enrolment)
class EnrolmentAdmin(SchoolScoped[Enrolment]):
    """Who is in which class, and when."""

    school_path = "school_class__school"
    form = EnrolmentForm
    list_display = ("student", "school_class", "starts_on", "ends_on")
    list_filter = (("school_class__school", admin.RelatedOnlyFieldListFilter),)
    list_select_related = ("student", "school_class")
    search_fields = ("student__username", "student__last_name", "school_class__name")
    autocomplete_fields = ("student", "school_class")


class TeachingAssignmentForm(forms.ModelForm[TeachingAssignment]):
    """A teacher, and a class, course and period of the teacher's own school."""

    def clean(self) -> dict[str, Any]:
        """Refuse what the service would."""
        fields = super().clean() or self.cleaned_data
        parts = {name: fields.get(name) for name in ("teacher", "school_class", "course", "period")}
        if all(parts.values()):
            try:
                check_assignment(**parts)  # type: ignore[arg-type] # none of them is None here
            except AssignmentRefused as refused:
                raise forms.ValidationError(refused.detail) from refused
        return fields


@admin.register(TeachingAssignment)
class TeachingAssignmentAdmin(SchoolScoped[TeachingAssignment]):
    """Who teaches what; with an assignment its mark sheet is opened."""

    school_path = "period__school"
    form = TeachingAssignmentForm
    list_display = ("teacher", "course", "school_class", "period")
    list_filter = (
        ("period__school", admin.RelatedOnlyFieldListFilter),
        ("period", admin.RelatedOnlyFieldListFilter),
    )
    list_select_related = ("teacher", "course", "school_class", "period")
    search_fields = ("teacher__username", "teacher__last_name", "course__title", "school_class__name")
    autocomplete_fields = ("teacher", "school_class", "course", "period")

    def save_model(
        self,
        request: HttpRequest,
        obj: TeachingAssignment,
        form: forms.ModelForm[TeachingAssignment],
        change: bool,  # noqa: FBT001 - Django's signature
    ) -> None:
        """Save the assignment and open its mark sheet, if it is the first."""
        super().save_model(request, obj, form, change)
        open_sheet(assignment=obj)
