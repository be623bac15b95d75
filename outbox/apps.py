"""Django's registration of the outbox app."""

from django.apps import AppConfig


class OutboxConfig(AppConfig):
    """The event log, its consumers and the job queue. Knows no school words."""

    name = "outbox"
    verbose_name = "Event log and jobs"
