"""Accommodations and extensions: whoever changes one moves the deadlines of attempts under way in the same transaction."""

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.db.models import QuerySet
from django.forms import ModelForm
from django.http import HttpRequest

from exams.admin.scoping import SchoolScoped, person_of
from exams.models import Accommodation, Extension
from exams.services.deadlines import Moved, move_exam_deadlines, move_student_deadlines
from gradebook.models import Role, User
from gradebook.queries.names import by_name


@admin.register(Accommodation)
class AccommodationAdmin(SchoolScoped[Accommodation]):
    """Extra time that a student always has."""

    school_path = "student__school"
    list_display = ["student", "extra_time_factor", "note"]
    list_select_related = ["student"]
    search_fields = ["student__username", "student__first_name", "student__last_name"]

    def formfield_for_foreignkey(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        """Offer students."""
        kwargs.setdefault("queryset", _students(request))
        return super().formfield_for_foreignkey(db_field, request, **kwargs)

    def get_readonly_fields(self, request: HttpRequest, obj: Accommodation | None = None) -> list[str]:
        """Keep an accommodation with its student."""
        return ["student"] if obj else []

    def save_model(
        self, request: HttpRequest, obj: Accommodation, form: ModelForm[Accommodation], change: Any
    ) -> None:
        """Save, and move deadlines."""
        super().save_model(request, obj, form, change)
        self._move(request, obj)

    def delete_model(self, request: HttpRequest, obj: Accommodation) -> None:
        """Delete, and move deadlines."""
        super().delete_model(request, obj)
        self._move(request, obj)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Accommodation]) -> None:
        """Delete one by one, as from their own pages."""
        for accommodation in queryset:
            self.delete_model(request, accommodation)

    def _move(self, request: HttpRequest, accommodation: Accommodation) -> None:
        moved = move_student_deadlines(
            student_id=accommodation.student_id, reason="accommodation changed", by=person_of(request).pk
        )
        _tell(request, moved)


class ExtensionForm(forms.ModelForm[Extension]):
    """More time for one exam."""

    class Meta:
        model = Extension
        fields = ["exam", "student", "school_class", "kind", "amount", "reason"]
        help_texts = {
            "student": "One student; or a class; or neither, for everybody.",
            "kind": (
                "Minutes: more time to work, for attempts under way too. Calendar days: a later close at the same hour on the"
                " school's clock; a time limit stays as it is."
            ),
        }

    def clean(self) -> dict[str, Any]:
        """Refuse a student or class of another school than the exam's."""
        cleaned = super().clean() or {}
        exam = cleaned.get("exam")
        for name in ("student", "school_class"):
            chosen = cleaned.get(name)
            if exam and chosen and chosen.school_id != exam.school_id:
                self.add_error(name, f"{chosen} is not of the exam's school.")
        return cleaned


@admin.register(Extension)
class ExtensionAdmin(SchoolScoped[Extension]):
    """Grants: given or taken back, never rewritten, so that each stays what it was when deadlines moved by it."""

    form = ExtensionForm
    school_path = "exam__school"
    list_display = ["exam", "whose", "amount", "kind", "reason", "granted_by", "granted_at"]
    list_filter = ["kind"]
    list_select_related = ["exam", "student", "school_class", "granted_by"]
    search_fields = ["exam__title", "student__username", "reason"]

    def has_change_permission(self, request: HttpRequest, obj: Extension | None = None) -> bool:
        """Nobody rewrites a grant."""
        return False

    def formfield_for_foreignkey(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        """Offer students, and exams and classes of one's own school."""
        if db_field.name == "student":
            kwargs.setdefault("queryset", _students(request))
        return super().formfield_for_foreignkey(db_field, request, **kwargs)

    def save_model(
        self, request: HttpRequest, obj: Extension, form: ModelForm[Extension], change: Any
    ) -> None:
        """Grant it, and move deadlines."""
        obj.granted_by = person_of(request)
        super().save_model(request, obj, form, change)
        self._move(request, obj, obj.reason)

    def delete_model(self, request: HttpRequest, obj: Extension) -> None:
        """Take it back, and move deadlines."""
        super().delete_model(request, obj)
        self._move(request, obj, f"taken back: {obj.reason}")

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Extension]) -> None:
        """Take them back one by one, as from their own pages."""
        for extension in queryset:
            self.delete_model(request, extension)

    def _move(self, request: HttpRequest, extension: Extension, reason: str) -> None:
        _tell(
            request, move_exam_deadlines(exam_id=extension.exam_id, reason=reason, by=person_of(request).pk)
        )

    @admin.display(description="for")
    def whose(self, extension: Extension) -> str:
        """Whom it is for."""
        if extension.student:
            return extension.student.full_name
        return str(extension.school_class or "everybody")


def _students(request: HttpRequest) -> QuerySet[User]:
    students = User.objects.filter(role=Role.STUDENT).order_by(*by_name())
    school_id = person_of(request).school_id
    return students if school_id is None else students.filter(school=school_id)


def _tell(request: HttpRequest, moved: Moved) -> None:
    if moved.moved:
        messages.info(request, f"{moved.moved} deadlines moved, {moved.reopened} attempts opened again.")
