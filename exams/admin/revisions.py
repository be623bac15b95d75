"""Revisions: the way from questions to a published paper, with a preview of what students will see.

The buttons of the page are views of their own. All but the preview change something, so they take POST only.
"""

from decimal import Decimal
from typing import Any
from uuid import UUID

from django import forms
from django.contrib import admin, messages
from django.db import transaction
from django.db.models import Count, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import URLPattern, path, reverse
from django.views.decorators.http import require_POST

from exams.admin.answer_key import describe_answers
from exams.admin.scoping import SchoolScoped, clock, person_of
from exams.canonical import write_number
from exams.errors import ExamsError, NotPublishable
from exams.gift import GiftPaper, GiftRefused, read_gift
from exams.gift.reader import LARGEST_FILE
from exams.models import ExamRevision, QuestionKind
from exams.paper import find_problems, find_warnings, freeze
from exams.paper.problems import name_of
from exams.paper.text import plain_text
from exams.services.authoring import (
    add_questions,
    copy_revision,
    list_drafts,
    lock_unpublished,
    publish_revision,
)


class GiftForm(forms.Form):
    """A file of questions."""

    file = forms.FileField(label="GIFT file", help_text="Questions in Moodle's GIFT format, UTF-8.")
    shuffle = forms.BooleanField(
        required=False, label="Shuffle choices", help_text="For files that put the right choice first."
    )

    def clean_file(self) -> bytes:
        """Return the file's bytes, if there are not too many."""
        file = self.cleaned_data["file"]
        if file.size > LARGEST_FILE:
            raise forms.ValidationError(f"The file is larger than {LARGEST_FILE // 1024 // 1024} MiB.")
        return bytes(file.read())


@admin.register(ExamRevision)
class RevisionAdmin(SchoolScoped[ExamRevision]):
    """One page per revision: its instructions, its questions, and what keeps it from being published."""

    school_path = "exam__school"
    change_form_template = "admin/exams/examrevision/change_form.html"
    list_display = ["exam", "number", "state", "question_count"]
    list_display_links = ["exam", "number"]
    list_select_related = ["exam__school"]
    list_filter = [("published_at", admin.EmptyFieldListFilter)]
    search_fields = ["exam__title"]
    fields = ["exam", "number", "state", "instructions"]
    readonly_fields = ["exam", "number", "state"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[ExamRevision]:
        """Return revisions without their frozen papers, which are large."""
        revisions = super().get_queryset(request).defer("paper", "key")
        return revisions.annotate(questions_in_it=Count("questions")).order_by("exam", "-number")

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Revisions are started from their exam's page, which numbers them."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: ExamRevision | None = None) -> bool:
        """A published revision never changes."""
        return super().has_change_permission(request, obj) and not (obj and obj.published_at)

    def has_delete_permission(self, request: HttpRequest, obj: ExamRevision | None = None) -> bool:
        """Nor does it go."""
        return super().has_delete_permission(request, obj) and not (obj and obj.published_at)

    def get_urls(self) -> list[URLPattern]:
        """Add the buttons of the page."""
        view = self.admin_site.admin_view
        return [
            path("<uuid:revision_id>/preview/", view(self.preview), name="exams_examrevision_preview"),
            path(
                "<uuid:revision_id>/publish/",
                view(require_POST(self.publish)),
                name="exams_examrevision_publish",
            ),
            path("<uuid:revision_id>/copy/", view(require_POST(self.copy)), name="exams_examrevision_copy"),
            path("<uuid:revision_id>/import/", view(self.import_file), name="exams_examrevision_import"),
            *super().get_urls(),
        ]

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        """Show the questions below the form, with what is wrong."""
        revision = self.get_object(request, object_id)
        context = (extra_context or {}) | (_questions_context(revision) if revision else {})
        return super().change_view(request, object_id, form_url, context)

    def preview(self, request: HttpRequest, revision_id: UUID) -> HttpResponse:
        """Show the paper as a student gets it, and the key beside it."""
        allowed = (
            self.get_queryset(request) if self.has_view_permission(request) else ExamRevision.objects.none()
        )
        revision = get_object_or_404(allowed.select_related("exam"), pk=revision_id)
        drafts = list_drafts(revision)
        context = {
            "revision": revision,
            "paper": revision.paper or freeze(drafts).paper,
            "problems": [] if revision.published_at else find_problems(drafts),
            "answers": [
                (
                    QuestionKind(draft.kind).label,
                    name_of(draft),
                    describe_answers(draft),
                    plain_text(draft.feedback, draft.text_format),
                )
                for draft in drafts
            ],
        }
        return render(request, "admin/exams/examrevision/preview.html", context)

    def publish(self, request: HttpRequest, revision_id: UUID) -> HttpResponse:
        """Freeze the revision; say all that stands against it."""
        revision = self._editable(request, revision_id)
        try:
            published = publish_revision(revision=revision, by=person_of(request))
        except NotPublishable as refusal:
            for problem in refusal.extra.get("problems", [refusal.detail]):
                messages.error(request, problem)
        except ExamsError as refusal:
            messages.error(request, refusal.detail)
        else:
            self.log_change(request, published, "Published.")
            messages.success(
                request,
                f"Published: {write_number(published.max_points or Decimal(0))} points. It never changes from here on.",
            )
        return redirect("admin:exams_examrevision_change", revision_id)

    def copy(self, request: HttpRequest, revision_id: UUID) -> HttpResponse:
        """Start the next revision from this one."""
        revision = copy_revision(revision=self._editable(request, revision_id))
        self.log_addition(request, revision, f"Copied from {revision_id}.")
        messages.success(
            request, f"This is revision {revision.number}, with the same questions, to be changed."
        )
        return redirect("admin:exams_examrevision_change", revision.pk)

    def import_file(self, request: HttpRequest, revision_id: UUID) -> HttpResponse:
        """Append the questions of a file, all of them or none."""
        revision = self._editable(request, revision_id)
        form = GiftForm(request.POST or None, request.FILES or None)
        faults = []
        if request.method == "POST" and form.is_valid():
            try:
                self._append(request, revision, _read(form))
            except GiftRefused as refused:
                faults = refused.faults
            except ExamsError as refusal:
                form.add_error(None, refusal.detail)
            else:
                return redirect("admin:exams_examrevision_change", revision_id)
        context = self.admin_site.each_context(request) | {
            "title": "Import questions",
            "opts": self.opts,
            "revision": revision,
            "form": form,
            "faults": faults,
        }
        return render(request, "admin/exams/examrevision/import.html", context)

    @transaction.atomic
    def _append(self, request: HttpRequest, revision: ExamRevision, paper: GiftPaper) -> None:
        locked = lock_unpublished(revision)
        add_questions(revision=locked, questions=paper.questions)
        if paper.instructions:
            locked.instructions = f"{locked.instructions}\n\n{paper.instructions}".strip()
            locked.save(update_fields=["instructions"])
        self.log_change(request, locked, f"Imported {len(paper.questions)} questions.")
        for note in paper.notes:
            messages.warning(request, note)
        messages.success(request, f"{len(paper.questions)} questions imported.")

    def _editable(self, request: HttpRequest, revision_id: UUID) -> ExamRevision:
        """Return the revision if this person may change papers, or 404; a published one is refused by the commands."""
        allowed = (
            self.get_queryset(request) if self.has_change_permission(request) else ExamRevision.objects.none()
        )
        return get_object_or_404(allowed, pk=revision_id)

    @admin.display(description="state", ordering="published_at")
    def state(self, revision: ExamRevision) -> str:
        """Whether students get it."""
        if revision.published_at is None:
            return "not published"
        return f"published {clock(revision.published_at, revision.exam.school.time_zone)}"

    @admin.display(description="questions")
    def question_count(self, revision: ExamRevision) -> int:
        """How many there are."""
        return int(getattr(revision, "questions_in_it", 0))


def _read(form: GiftForm) -> GiftPaper:
    paper = read_gift(form.cleaned_data["file"])
    return paper.shuffled() if form.cleaned_data["shuffle"] else paper


def _questions_context(revision: ExamRevision) -> dict[str, Any]:
    """Return what the page lists: every question with its address, and what is wrong with it."""
    drafts = list_drafts(revision)
    problems, warnings = find_problems(drafts), find_warnings(drafts)
    return {
        "revision": revision,
        "points": write_number(sum((draft.points for draft in drafts), Decimal(0))),
        "questions": [
            {
                "number": number,
                "name": name_of(draft),
                "kind": QuestionKind(draft.kind).label,
                "points": write_number(draft.points),
                "url": reverse("admin:exams_question_change", args=[draft.id]),
                "problems": [problem.message for problem in problems if problem.number == number],
                "warnings": [warning.message for warning in warnings if warning.number == number],
            }
            for number, draft in enumerate(drafts, start=1)
        ],
        "is_publishable": bool(drafts) and not problems and not revision.published_at,
    }
