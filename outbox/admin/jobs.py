"""The queue in the admin: what waits, what runs, what is done, and what was given up. To replay: `manage.py dead_letters`."""

import json

from django.contrib import admin
from django.utils.html import format_html
from django.utils.safestring import SafeString

from outbox.admin.read_only import ReadOnly
from outbox.models import DeadLetter, FinishedJobListing, JobListing, RetryBudget


def show_json(value: object) -> SafeString:
    """Return a JSON value indented for reading."""
    return format_html("<pre>{}</pre>", json.dumps(value, indent=2, ensure_ascii=False))


@admin.register(JobListing)
class JobAdmin(ReadOnly[JobListing]):
    """What waits and what runs, in order of arrival."""

    list_display = [
        "job_id",
        "kind",
        "state",
        "lane",
        "group_id",
        "run_at",
        "tries",
        "lost_leases",
        "leased_until",
    ]
    list_filter = ["state", "lane"]
    search_fields = ["job_id__exact", "subject_id__exact", "group_id__exact", "leased_by__exact"]
    ordering = ["run_at"]
    exclude = ["history"]
    readonly_fields = ["failed_tries"]

    @admin.display(description="failed tries")
    def failed_tries(self, job: JobListing) -> SafeString:
        """Every try that failed, oldest first."""
        return show_json(job.history)


@admin.register(FinishedJobListing)
class FinishedJobAdmin(ReadOnly[FinishedJobListing]):
    """What is done, found by what it was for."""

    list_display = ["job_id", "kind", "group_id", "subject_id", "tries", "finished_at"]
    list_filter = ["lane"]
    search_fields = ["job_id__exact", "subject_id__exact", "group_id__exact"]


@admin.register(DeadLetter)
class DeadLetterAdmin(ReadOnly[DeadLetter]):
    """What was given up, newest first, with the cause and every failed try."""

    list_display = [
        "died_at",
        "kind",
        "cause",
        "error_class",
        "subject_id",
        "tries",
        "lost_leases",
        "replayed_at",
    ]
    list_filter = ["cause", ("replayed_at", admin.EmptyFieldListFilter)]
    search_fields = ["id__exact", "subject_id__exact", "group_id__exact"]
    ordering = ["-died_at"]
    exclude = ["history"]
    readonly_fields = ["failed_tries"]

    @admin.display(description="failed tries")
    def failed_tries(self, letter: DeadLetter) -> SafeString:
        """Every try that failed, oldest first."""
        return show_json(letter.history)


@admin.register(RetryBudget)
class RetryBudgetAdmin(ReadOnly[RetryBudget]):
    """How many retries each kind may still make."""

    list_display = ["kind", "tokens", "updated_at"]
