"""An app for the processes under test: registers consumers whose effects nothing deduplicates, and one that some events kill."""

import os
import signal
from datetime import timedelta
from typing import TYPE_CHECKING

from django.apps import AppConfig

if TYPE_CHECKING:  # models are not loaded when this module is
    from outbox.consumers.consumer import Batch


class LogplaceConfig(AppConfig):
    """Registers the consumers when the process starts."""

    name = "tests.processes.logplace"

    def ready(self) -> None:
        """Let `run_consumer` know them."""
        from outbox.consumers import registry  # noqa: PLC0415 - needs loaded apps

        registry.register(Tally())
        registry.register(Fragile())


class Tally:
    """Writes a plain row for every event it is given, into a table without any key: what it is told twice stands there twice."""

    name = "tally"
    kinds = frozenset({"ThingNoted"})
    staleness_budget = timedelta(seconds=5)

    def apply(self, batch: "Batch") -> None:
        """Write them down."""
        batch.execute("tests.processes.logplace", "tally_events")


class Fragile(Tally):
    """Does the same, but an event whose payload says so kills the process, as one does that takes all memory."""

    name = "fragile"

    def apply(self, batch: "Batch") -> None:
        """Die of it, or write them down."""
        if any(event.payload.get("deadly") for event in batch.read_events()):
            os.kill(os.getpid(), signal.SIGKILL)
        super().apply(batch)
