"""Django's registration of the projections app."""

from django.apps import AppConfig


class ProjectionsConfig(AppConfig):
    """Read models made from the log; each can be thrown away and rebuilt."""

    name = "projections"
    verbose_name = "Projections"

    def ready(self) -> None:
        """Make the projections known to the outbox, which runs and rebuilds them."""
        from outbox.consumers import registry  # noqa: PLC0415 - models are not loaded when this module is
        from projections.analytics.projector import Analytics  # noqa: PLC0415
        from projections.history.projector import MarksheetHistory  # noqa: PLC0415

        registry.register(MarksheetHistory())
        registry.register(Analytics())
