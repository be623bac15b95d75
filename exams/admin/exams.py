"""Exams: when they may be sat, by which classes, and the way to their papers."""

from typing import Any
from uuid import UUID

from django.contrib import admin, messages
from django.db.models import Count, Max, OuterRef, Q, QuerySet, Subquery
from django.forms import ModelForm
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import URLPattern, path, reverse
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.views.decorators.http import require_POST

from exams.admin.exam_forms import ColumnChoice, ExamForm, TargetForm
from exams.admin.scoping import OnSchoolClock, SchoolScopedInline, clock, person_of
from exams.errors import ExamsError
from exams.models import Attempt, Exam, ExamTarget
from exams.services.authoring import start_revision
from exams.services.deadlines import move_exam_deadlines
from exams.services.targets import open_columns
from gradebook.errors import GradebookError
from gradebook.models import Column, Course

_TIMES = {"opens_at", "closes_at", "time_limit", "grace_seconds", "late_seconds"}


class TargetInline(SchoolScopedInline):
    """The classes that sit the exam."""

    model = ExamTarget
    form = TargetForm
    extra = 1
    verbose_name = "class that sits it"
    verbose_name_plural = "classes that sit it"

    def get_formset(self, request: HttpRequest, obj: Any = None, **kwargs: Any) -> Any:
        """Offer the columns of the exam's course and period."""
        formset = super().get_formset(request, obj, **kwargs)
        choice = formset.form.base_fields["column"]
        assert isinstance(choice, ColumnChoice)
        if obj:
            columns = Column.objects.filter(sheet__course=obj.course_id, sheet__period=obj.period_id)
            choice.queryset = columns.select_related("sheet__school_class")
        return formset


@admin.register(Exam)
class ExamAdmin(OnSchoolClock[Exam]):
    """One page per exam."""

    form = ExamForm
    school_path = "school"
    change_form_template = "admin/exams/exam/change_form.html"
    inlines = [TargetInline]
    list_display = ["title", "course", "period", "opens", "closes", "paper", "attempts_made"]
    list_filter = [
        ("period", admin.RelatedOnlyFieldListFilter),
        ("course", admin.RelatedOnlyFieldListFilter),
    ]
    list_select_related = ["course", "period", "school"]
    search_fields = ["title", "course__title", "course__code"]
    date_hierarchy = "opens_at"
    actions = ["release_scores"]
    readonly_fields = ["papers"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Exam]:
        """Return exams with what the list says about them, in one read."""
        attempts = Attempt.objects.filter(exam=OuterRef("pk")).order_by().values("exam")
        return (
            super()
            .get_queryset(request)
            .annotate(
                newest=Max("revisions__number", filter=Q(revisions__published_at__isnull=False)),
                attempt_count=Subquery(attempts.annotate(count=Count("pk")).values("count")),
            )
        )

    def zone_of(self, request: HttpRequest, object_id: str | None) -> str:
        """Go by the exam's school; for a new exam, by the school of the course that was chosen."""
        exam = self.get_object(request, object_id) if object_id else None
        if exam:
            return exam.school.time_zone
        course = (
            Course.objects.filter(pk__in=_ids(request.POST.get("course"))).select_related("school").first()
        )
        school = course.school if course else person_of(request).school
        return school.time_zone if school else "UTC"

    def get_form(
        self,
        request: HttpRequest,
        obj: Exam | None = None,
        change: bool = False,  # noqa: FBT001, FBT002 - Django's signature
        **kwargs: Any,
    ) -> type[ModelForm[Exam]]:
        """Say whose clock the times are on."""
        form = super().get_form(request, obj, change, **kwargs)
        whose = f"{obj.school}, {obj.school.time_zone}" if obj else "the course's school"
        for name in {"opens_at", "closes_at", "scores_released_at"} & form.base_fields.keys():
            own = ExamForm.Meta.help_texts.get(name, "")
            form.base_fields[name].help_text = f"{own} On the clock of {whose}.".strip()
        return form

    def get_fields(self, request: HttpRequest, obj: Exam | None = None) -> Any:
        """Show the papers once there is an exam to have some."""
        seen = ["seen"] if obj and self.has_change_permission(request, obj) else []
        return [*ExamForm.Meta.fields, *(["papers"] if obj else []), *seen]

    def get_readonly_fields(self, request: HttpRequest, obj: Exam | None = None) -> Any:
        """Keep an exam that somebody has begun in its course and period."""
        fixed = ["course", "period"] if obj and obj.attempts.exists() else []
        return [*fixed, *self.readonly_fields]

    def save_model(self, request: HttpRequest, obj: Exam, form: ModelForm[Exam], change: Any) -> None:
        """Save over what the page showed; changed times reach the attempts under way."""
        if change and isinstance(form, ExamForm):
            form.require_unchanged()
        super().save_model(request, obj, form, change)
        if change and _TIMES & set(form.changed_data):
            moved = move_exam_deadlines(exam_id=obj.pk, reason="exam times changed", by=person_of(request).pk)
            if moved.moved:
                messages.info(
                    request, f"{moved.moved} deadlines moved, {moved.reopened} attempts opened again."
                )

    def get_urls(self) -> list[URLPattern]:
        """Add the two buttons of the page."""
        view = self.admin_site.admin_view
        return [
            path("<uuid:exam_id>/revise/", view(require_POST(self.revise)), name="exams_exam_revise"),
            path("<uuid:exam_id>/columns/", view(require_POST(self.open_columns)), name="exams_exam_columns"),
            *super().get_urls(),
        ]

    def revise(self, request: HttpRequest, exam_id: Any) -> HttpResponse:
        """Start the exam's next revision, empty."""
        exam = self._editable(request, exam_id)
        revision = start_revision(exam=exam)
        self.log_change(request, exam, f"Started revision {revision.number}.")
        return redirect("admin:exams_examrevision_change", revision.pk)

    def open_columns(self, request: HttpRequest, exam_id: Any) -> HttpResponse:
        """Give every class a column for the results."""
        exam = self._editable(request, exam_id)
        try:
            targets = open_columns(exam=exam, by=person_of(request))
        except (ExamsError, GradebookError) as refusal:
            messages.error(request, refusal.detail)
        else:
            messages.success(request, f"{len(targets)} columns opened in the mark sheets.")
        return redirect("admin:exams_exam_change", exam.pk)

    def _editable(self, request: HttpRequest, exam_id: Any) -> Exam:
        """Return the exam if this person may change it, or 404."""
        allowed = self.get_queryset(request) if self.has_change_permission(request) else Exam.objects.none()
        return get_object_or_404(allowed, pk=exam_id)

    @admin.action(description="Release scores to students now", permissions=["change"])
    def release_scores(self, request: HttpRequest, exams: QuerySet[Exam]) -> None:
        """Let students see their scores."""
        released = Exam.objects.filter(pk__in=exams, scores_released_at=None).update(
            scores_released_at=timezone.now()
        )
        messages.success(request, f"Scores of {released} exams released.")

    @admin.display(ordering="opens_at")
    def opens(self, exam: Exam) -> str:
        """On the school's clock."""
        return clock(exam.opens_at, exam.school.time_zone)

    @admin.display(ordering="closes_at")
    def closes(self, exam: Exam) -> str:
        """On the school's clock."""
        return clock(exam.closes_at, exam.school.time_zone)

    @admin.display(description="paper")
    def paper(self, exam: Exam) -> str:
        """Which revision students get."""
        newest = getattr(exam, "newest", None)
        return f"revision {newest}" if newest else "not published"

    @admin.display(description="attempts", ordering="attempt_count")
    def attempts_made(self, exam: Exam) -> int:
        """How many were begun."""
        return int(getattr(exam, "attempt_count", None) or 0)

    @admin.display(description="papers")
    def papers(self, exam: Exam) -> SafeString | str:
        """Every revision, newest first."""
        lines = (
            (
                reverse("admin:exams_examrevision_change", args=[revision.pk]),
                revision.number,
                f"published {clock(revision.published_at, exam.school.time_zone)}"
                if revision.published_at
                else "not published",
            )
            for revision in exam.revisions.defer("paper", "key").order_by("-number")
        )
        items = format_html_join("", '<li><a href="{}">Revision {}</a>, {}</li>', lines)
        return format_html('<ul class="papers">{}</ul>', items) if items else "None yet."


def _ids(text: str | None) -> list[UUID]:
    """Return what a form sent as an id, if it is one."""
    try:
        return [UUID(text or "")]
    except ValueError:
        return []
