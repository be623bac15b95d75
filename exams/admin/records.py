"""What students did and what came of it: to be read and searched here, changed nowhere."""

import json
from typing import Any

from django.contrib import admin
from django.db.models import Model
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.safestring import SafeString

from exams.admin.scoping import M, SchoolScoped
from exams.models import Attempt, Result, Submission


class ReadOnly(SchoolScoped[M]):
    """A page that shows and cannot change."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Nobody adds."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Nobody changes."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Nobody deletes."""
        return False


@admin.register(Attempt)
class AttemptAdmin(ReadOnly[Attempt]):
    """Attempts with their personal deadlines."""

    school_path = "exam__school"
    list_display = ["exam", "student", "number", "state", "started_at", "closes_at", "deadline_rule"]
    list_filter = ["state", ("exam", admin.RelatedOnlyFieldListFilter)]
    list_select_related = ["exam", "student"]
    search_fields = ["id", "student__username", "student__last_name", "exam__title"]
    exclude = ["school_id"]


@admin.register(Submission)
class SubmissionAdmin(ReadOnly[Submission]):
    """What was handed in, exactly as the receipt's digest covers it."""

    school_path = "attempt__exam__school"
    list_display = ["attempt", "accepted_at", "decision", "origin", "payload_sha256", "withdrawn_at"]
    list_filter = ["decision", "origin"]
    list_select_related = ["attempt"]
    search_fields = ["id", "payload_sha256", "attempt__student__username", "attempt__exam__title"]
    exclude = ["answers", "school_id"]
    readonly_fields = ["answers_as_written"]

    @admin.display(description="answers")
    def answers_as_written(self, submission: Submission) -> SafeString:
        """The answers, indented for reading."""
        return _indented(json.loads(submission.answers))


@admin.register(Result)
class ResultAdmin(ReadOnly[Result]):
    """What grading found, question by question."""

    school_path = "submission__attempt__exam__school"
    list_display = ["submission", "state", "score", "max_points", "version", "graded_at"]
    list_filter = ["state"]
    list_select_related = ["submission"]
    search_fields = ["submission__id", "submission__attempt__student__username"]
    exclude = ["breakdown", "school_id"]
    readonly_fields = ["breakdown_as_text"]

    @admin.display(description="breakdown")
    def breakdown_as_text(self, result: Result) -> SafeString:
        """Question by question, indented for reading."""
        return _indented(result.breakdown)


def _indented(value: Any) -> SafeString:
    return format_html("<pre>{}</pre>", json.dumps(value, indent=2, ensure_ascii=False))
