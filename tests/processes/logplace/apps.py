"""An app for the processes under test: registers a consumer whose effects nothing deduplicates."""

from datetime import timedelta
from typing import TYPE_CHECKING

from django.apps import AppConfig

if TYPE_CHECKING:  # models are not loaded when this module is
    from outbox.consumer import Batch


class LogplaceConfig(AppConfig):
    """Registers the consumer when the process starts."""

    name = "tests.processes.logplace"

    def ready(self) -> None:
        """Let `run_consumer` know it."""
        from outbox import registry  # noqa: PLC0415 - needs loaded apps

        registry.register(Tally())


class Tally:
    """Writes a plain row for every event it is given, into a table without any key: what it is told twice stands there twice."""

    name = "tally"
    kinds = frozenset({"ThingNoted"})
    staleness_budget = timedelta(seconds=5)

    def apply(self, batch: "Batch") -> None:
        """Write them down."""
        batch.execute("tests.processes.logplace", "tally_events")
