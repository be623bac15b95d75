"""Django's registration of the outbox app."""

from django.apps import AppConfig


class OutboxConfig(AppConfig):
    """The event log, its consumers, the job queue, and what follows from events. Knows no school words."""

    name = "outbox"
    verbose_name = "Event log and jobs"

    def ready(self) -> None:
        """Make known the relay, the upkeep of effects, and webhooks."""
        from outbox import webhooks  # noqa: PLC0415 - models are not loaded when this module is
        from outbox.consumers import registry  # noqa: PLC0415 - likewise
        from outbox.effects import upkeep  # noqa: PLC0415
        from outbox.effects.relay import Relay  # noqa: PLC0415

        registry.register(Relay())
        upkeep.register()
        webhooks.register()
