"""/readyz on a real primary with standbys: it refuses one whose standby names were emptied, and one that is alone."""

import pytest
from django.test import Client

from config.health.readiness import asked
from tests.quorum.rig import Rig
from tests.quorum.rigged import rig, rigs, template  # noqa: F401

pytestmark = pytest.mark.process


def ask(client: Client) -> tuple[int, str]:
    asked.forget()
    answer = client.get("/readyz")
    return answer.status_code, answer.json()["checks"]["durability"]


def test_primary_is_ready_until_its_standby_names_are_emptied(client: Client, rig: Rig) -> None:
    assert ask(client) == (200, "ok")
    rig.set_names("a", "")
    assert ask(client) == (
        503,
        (
            "failed: The database server cannot keep the promise 'quorum': "
            "synchronous_standby_names is empty: commits wait for no standby."
        ),
    )


def test_primary_is_not_ready_without_a_standby(client: Client, rig: Rig) -> None:
    for name in "bc":
        rig.kill(name)
    assert ask(client) == (503, "failed: 0 of the standbys a, b, c are streaming, 1 needed.")
