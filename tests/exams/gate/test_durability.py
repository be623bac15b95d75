"""The gate gives no acknowledgement that its server could not keep."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from django.core.exceptions import ImproperlyConfigured

from config.postgres import Cluster
from config.postgres.place import SUPERUSER
from exams.gate.durability import LocalDurability, NotDurable, get_durability


@pytest.fixture
def careless_server() -> Iterator[Cluster]:
    """A server that does not wait for its disk."""
    cluster = Cluster(Path(tempfile.mkdtemp(prefix="handover-test-")), options={"fsync": "off"})
    cluster.start()
    yield cluster
    cluster.stop(seconds=5)
    shutil.rmtree(cluster.place.folder)


def test_local_durability_refuses_a_server_without_fsync(careless_server: Cluster) -> None:
    address = careless_server.url(SUPERUSER, "postgres")

    with psycopg.connect(address) as connection, pytest.raises(NotDurable, match="fsync"):
        LocalDurability().check_server(connection)


def test_local_durability_is_content_with_the_products_own_server(server: Cluster) -> None:
    with psycopg.connect(server.url(SUPERUSER, "postgres")) as connection:
        LocalDurability().check_server(connection)
        assert LocalDurability().verify(connection)


@pytest.mark.parametrize("name", ["quorum", "", "LOCAL", "none"])
def test_unknown_durability_is_refused_by_name(name: str) -> None:
    with pytest.raises(ImproperlyConfigured, match=f"HANDOVER_DURABILITY={name!r}"):
        get_durability(name)
