"""The log and its consumers in the admin. To pause, resume, release or rebuild: `manage.py consumers`, `rebuild_projection`."""

import json

from django.contrib import admin
from django.contrib.admin import TabularInline
from django.db.models import Count, QuerySet
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.safestring import SafeString

from outbox.admin.read_only import ReadOnly
from outbox.models import Consumer, Event, Heartbeat, ParkedEvent, ParkedSubject, Tick


@admin.register(Event)
class EventAdmin(ReadOnly[Event]):
    """Every fact, newest first; found by its subject or kind, as they are written (an index each would find nothing by parts)."""

    list_display = ["seq", "occurred_at", "kind", "subject", "subject_version", "actor_type", "actor_id"]
    list_filter = ["actor_type"]
    search_fields = ["subject__exact", "kind__exact"]
    ordering = ["-seq"]
    exclude = ["payload"]
    readonly_fields = ["payload_as_text"]

    @admin.display(description="payload")
    def payload_as_text(self, event: Event) -> SafeString:
        """The payload, indented for reading."""
        return format_html("<pre>{}</pre>", json.dumps(event.payload, indent=2, ensure_ascii=False))


@admin.register(Tick)
class TickAdmin(ReadOnly[Tick]):
    """The sequencer's passes, newest first, with the digests that seal them."""

    list_display = ["tick_id", "at", "epoch", "first_pos", "last_pos", "digest_in_hex"]
    ordering = ["-tick_id"]
    exclude = ["digest"]
    readonly_fields = ["digest_in_hex"]

    @admin.display(description="digest")
    def digest_in_hex(self, tick: Tick) -> str:
        """The digest as `verify_log` prints it."""
        return bytes(tick.digest).hex()


@admin.register(Consumer)
class ConsumerAdmin(ReadOnly[Consumer]):
    """Each consumer's cursor and what it fails at."""

    list_display = [
        "name",
        "state",
        "epoch",
        "position",
        "heartbeat_at",
        "advanced_at",
        "failing_pos",
        "failing_tries",
    ]
    list_filter = ["state"]
    ordering = ["name"]


class WaitingEvents(TabularInline[ParkedEvent, ParkedSubject]):
    """The positions that wait for a parked subject."""

    model = ParkedEvent
    ordering = ["pos"]

    def has_view_permission(self, request: HttpRequest, obj: ParkedSubject | None = None) -> bool:
        """Whoever may see the subject."""
        return True

    def has_add_permission(self, request: HttpRequest, obj: ParkedSubject | None = None) -> bool:
        """Nobody adds."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: ParkedSubject | None = None) -> bool:
        """Nobody changes."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: ParkedSubject | None = None) -> bool:
        """Nobody deletes."""
        return False


@admin.register(ParkedSubject)
class ParkedSubjectAdmin(ReadOnly[ParkedSubject]):
    """What consumers had to set aside, and why."""

    list_display = ["consumer", "subject", "error", "tries", "parked_at", "waiting"]
    list_filter = ["consumer"]
    search_fields = ["subject__exact"]
    ordering = ["-parked_at"]
    inlines = [WaitingEvents]

    def get_queryset(self, request: HttpRequest) -> QuerySet[ParkedSubject]:
        """With the number of events that wait, in the same query."""
        return super().get_queryset(request).annotate(events_waiting=Count("events"))

    @admin.display(description="events waiting")
    def waiting(self, parked: ParkedSubject) -> int:
        """How many events wait."""
        return int(parked.events_waiting)  # type: ignore[attr-defined]


@admin.register(Heartbeat)
class HeartbeatAdmin(ReadOnly[Heartbeat]):
    """The processes that said they live, the latest first; a row that has gone silent is a crash."""

    list_display = ["role", "pid", "host", "started_at", "seen_at"]
    list_filter = ["role"]
    ordering = ["-seen_at"]
