"""An app for the processes under test: two effects that nothing deduplicates, one of the database and one outside."""

import os
from pathlib import Path
from typing import TYPE_CHECKING

from django.apps import AppConfig
from django.db import connection

if TYPE_CHECKING:  # models are not loaded when this module is
    from outbox.effects import Delivery

CREATE = "CREATE TABLE IF NOT EXISTS effects_told (event_id uuid, pid integer)"  # no key: what is told twice stands there twice
CALLS = "HANDOVER_TEST_CALLS"


class PlaceConfig(AppConfig):
    """Registers the effects when the process starts."""

    name = "tests.relay.place"

    def ready(self) -> None:
        """Let the relay know them."""
        from outbox.effects import Effect, register_effect  # noqa: PLC0415 - needs loaded apps

        register_effect(Effect("tell", frozenset({"SomethingCaused"}), tell))
        if CALLS in os.environ:
            register_effect(Effect("call", frozenset({"SomethingCaused"}), call, outside=True))


def tell(delivery: "Delivery") -> None:
    """Write the event down, in a plain row."""
    with connection.cursor() as cursor:
        cursor.execute("INSERT INTO effects_told VALUES (%s, %s)", [delivery.event.event_id, os.getpid()])


def call(delivery: "Delivery") -> None:
    """Write the delivery's key at the end of a file: as far outside as a test needs it."""
    with Path(os.environ[CALLS]).open("a") as calls:
        calls.write(f"{delivery.key}\n")
