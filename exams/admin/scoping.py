"""Two things every page of this admin keeps to: staff of one school see that school, and times are the school's own.

Staff without a school are administrators of the whole system.
"""

from typing import Any, ClassVar, TypeVar
from zoneinfo import ZoneInfo

from django.contrib import admin
from django.db.models import ForeignKey, Model, QuerySet
from django.forms import ModelChoiceField
from django.http import HttpRequest, HttpResponse
from django.template.response import SimpleTemplateResponse
from django.utils import timezone

from exams.models import Exam
from gradebook.models import Column, Course, Period, SchoolClass, User

M = TypeVar("M", bound=Model)

_SCHOOL_OF: dict[type[Model], str] = {
    Column: "sheet__school",
    Course: "school",
    Exam: "school",
    Period: "school",
    SchoolClass: "school",
    User: "school",
}


def person_of(request: HttpRequest) -> User:
    """Return who is signed in; the admin lets nobody else through."""
    assert isinstance(request.user, User)
    return request.user


def clock(moment: Any, zone: str) -> str:
    """Return a moment as the school's clock shows it, with the UTC offset; a dash where there is none."""
    return moment.astimezone(ZoneInfo(zone)).isoformat(sep=" ", timespec="minutes") if moment else "-"


class SchoolScoped(admin.ModelAdmin[M]):
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
        return super().formfield_for_foreignkey(db_field, request, **kwargs)


class SchoolScopedInline(admin.TabularInline[Any, Any]):
    """The same for rows edited inside another's page."""

    def formfield_for_foreignkey(
        self, db_field: "ForeignKey[Any, Any]", request: HttpRequest, **kwargs: Any
    ) -> ModelChoiceField[Any] | None:
        """Offer only what belongs to this person's school."""
        limit_choices(db_field, request, kwargs)
        return super().formfield_for_foreignkey(db_field, request, **kwargs)


def limit_to_school(rows: QuerySet[M], person: User, path: str) -> QuerySet[M]:
    """Return the rows of this person's school, or all of them if they have none."""
    return rows if person.school_id is None else rows.filter(**{path: person.school_id})


def limit_choices(db_field: "ForeignKey[Any, Any]", request: HttpRequest, arguments: dict[str, Any]) -> None:
    """Narrow what a form field offers, unless it was narrowed already."""
    model = db_field.remote_field.model
    if "queryset" not in arguments and model in _SCHOOL_OF:
        rows = model._default_manager.all()  # noqa: SLF001 - the documented way to a model that is not known before
        arguments["queryset"] = limit_to_school(rows, person_of(request), _SCHOOL_OF[model])


class OnSchoolClock(SchoolScoped[M]):
    """A page on which times are read and written on the clock of the row's school, not on the server's."""

    def zone_of(self, request: HttpRequest, object_id: str | None) -> str:
        """Return the IANA zone to use."""
        raise TypeError(f"{type(self).__name__} does not say whose clock it goes by.")

    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        """Read what was sent, and render what is shown, by that clock."""
        with timezone.override(ZoneInfo(self.zone_of(request, object_id))):
            response = super().changeform_view(request, object_id, form_url, extra_context)
            return response.render() if isinstance(response, SimpleTemplateResponse) else response
