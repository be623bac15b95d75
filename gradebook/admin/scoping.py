"""What every page of the administration keeps to: staff of one school see and touch that school only.

Staff without a school are administrators of the whole system; what a rehearsal has left behind is kept from them too, or twenty thousand
people who do not exist would stand before those who do. A page says by `school_path` how its rows lead to their school;
whoever offers rows of a model in a form finds that model's path in `SCHOOL_OF`.
"""

from typing import Any, ClassVar, Final, TypeVar

from django.contrib import admin
from django.db.models import ForeignKey, Model, QuerySet
from django.forms import ModelChoiceField
from django.http import HttpRequest

from gradebook.admin.lateness import JudgedAgain
from gradebook.admin.widgets import autocomplete
from gradebook.models import Column, Course, MarkSheet, Period, School, SchoolClass, User

M = TypeVar("M", bound=Model)

SCHOOL_OF: Final[dict[type[Model], str]] = {
    Column: "sheet__school",
    Course: "school",
    MarkSheet: "school",
    Period: "school",
    School: "pk",
    SchoolClass: "school",
    User: "school",
}


def person_of(request: HttpRequest) -> User:
    """Return who is signed in; the admin lets nobody else through."""
    assert isinstance(request.user, User)
    return request.user


def limit_to_school(rows: QuerySet[M], person: User, path: str) -> QuerySet[M]:
    """Return the rows of this person's school; if they have none, those of every school there is outside of a rehearsal."""
    if person.school_id is not None:
        return rows.filter(**{path: person.school_id})
    return rows.exclude(**{f"{path}__in": School.objects.filter(is_rehearsal=True)})


class NamedWithSchool(ModelChoiceField[Any]):
    """Choices over all schools: each says whose it is, since every school has a 9A."""

    def label_from_instance(self, obj: Any) -> str:
        """Return what the choice is called."""
        return f"{obj} ({obj.school})" if obj.school_id else str(obj)


def limit_choices(db_field: "ForeignKey[Any, Any]", request: HttpRequest, arguments: dict[str, Any]) -> None:
    """Narrow what a form field offers, unless it was narrowed already."""
    model = db_field.remote_field.model
    if "queryset" not in arguments and model in SCHOOL_OF:
        rows = model._default_manager.all()  # noqa: SLF001 - the documented way to a model that is not known before
        arguments["queryset"] = limit_to_school(rows, person_of(request), SCHOOL_OF[model])
        if person_of(request).school_id is None and SCHOOL_OF[model] == "school":
            arguments["queryset"] = arguments["queryset"].select_related("school")
            arguments.setdefault("form_class", NamedWithSchool)


class SchoolScoped(JudgedAgain[M]):
    """Rows, and choices of related rows, of the person's own school only."""

    school_path: ClassVar[str]

    def get_queryset(self, request: HttpRequest) -> QuerySet[M]:
        """Return the rows this person may see."""
        rows: QuerySet[M] = super().get_queryset(request)
        return limit_to_school(rows, person_of(request), self.school_path)

    def formfield_for_foreignkey(
        self, db_field: "ForeignKey[Any, Any]", request: HttpRequest, **kwargs: Any
    ) -> ModelChoiceField[Any] | None:
        """Offer only what belongs to this person's school."""
        limit_choices(db_field, request, kwargs)
        if db_field.name in self.get_autocomplete_fields(request):
            kwargs.setdefault("widget", autocomplete(db_field, self.admin_site))
        return super().formfield_for_foreignkey(db_field, request, **kwargs)


class StaysInItsSchool(SchoolScoped[M]):
    """Rows that others are put together with, all of one school: a school is chosen once, or those others would be of two."""

    def get_readonly_fields(self, request: HttpRequest, obj: M | None = None) -> tuple[str, ...]:
        """Show the school of a row that is there."""
        fixed = ("school",) if obj else ()
        return (*super().get_readonly_fields(request, obj), *fixed)


class SchoolScopedInline(admin.TabularInline[Any, Any]):
    """The same for rows edited inside another's page."""

    def formfield_for_foreignkey(
        self, db_field: "ForeignKey[Any, Any]", request: HttpRequest, **kwargs: Any
    ) -> ModelChoiceField[Any] | None:
        """Offer only what belongs to this person's school."""
        limit_choices(db_field, request, kwargs)
        if db_field.name in self.get_autocomplete_fields(request):
            kwargs.setdefault("widget", autocomplete(db_field, self.admin_site))
        return super().formfield_for_foreignkey(db_field, request, **kwargs)
