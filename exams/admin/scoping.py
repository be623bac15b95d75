"""What the pages about exams keep to beside `gradebook.admin.scoping`: times are read and written on the school's own clock."""

from typing import Any
from zoneinfo import ZoneInfo

from django.http import HttpRequest, HttpResponse
from django.template.response import SimpleTemplateResponse
from django.utils import timezone

from exams.models import Exam
from gradebook.admin.scoping import SCHOOL_OF, M, SchoolScoped, SchoolScopedInline, limit_to_school, person_of
from gradebook.moments import write_moment

__all__ = [
    "M",
    "OnSchoolClock",
    "SchoolScoped",
    "SchoolScopedInline",
    "clock",
    "limit_to_school",
    "person_of",
]

SCHOOL_OF[Exam] = "school"


def clock(moment: Any, zone: str) -> str:
    """Return a moment as the school's clock shows it, with the UTC offset; a dash where there is none."""
    return str(write_moment(moment, ZoneInfo(zone))) if moment else "-"


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
