"""Django's registration of the gradebook app."""

from django.apps import AppConfig


class GradebookConfig(AppConfig):
    """People, school structure, mark sheets and marks."""

    name = "gradebook"
    verbose_name = "Gradebook"

    def ready(self) -> None:
        """Make known how older versions of our events are read, and what the log's tenants are called."""
        from gradebook.events import MarkChanged, upcast_mark_changed  # noqa: PLC0415 - the app registry must be ready
        from gradebook.queries.schools import list_school_names  # noqa: PLC0415
        from outbox.log.upcasting import register_upcaster  # noqa: PLC0415
        from outbox.tenants import register_tenants  # noqa: PLC0415

        register_tenants(list_school_names)
        register_upcaster(MarkChanged.kind, version=1, upcast=upcast_mark_changed)
