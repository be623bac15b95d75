"""A second embedded server, for the tests that start, stop and kill one."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from config.postgres import Cluster


@pytest.fixture
def folder() -> Iterator[Path]:
    """A short folder below the temporary one (pytest's own names would be too long for a socket)."""
    made = Path(tempfile.mkdtemp(prefix="handover-pg-"))
    yield made
    shutil.rmtree(made)


@pytest.fixture
def cluster(folder: Path) -> Iterator[Cluster]:
    """A server that is not started yet, and is stopped afterwards."""
    made = Cluster(folder / "data")
    yield made
    made.stop(seconds=5)
