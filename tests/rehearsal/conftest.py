"""Fixtures: everything `make run` starts, on the test's own database."""

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from config.rehearsal.wire import Address
from tests.processes.running import everything_running
from tests.serving import serving


@pytest.fixture
def gate(transactional_db: None, process_environment: Mapping[str, str]) -> Iterator[Address]:
    """The web server alone, with as many processes as the product."""
    with serving(process_environment, workers=2) as server:
        yield Address.parse(f"http://127.0.0.1:{server.port}")


@pytest.fixture
def product(gate: Address, process_environment: Mapping[str, str], tmp_path: Path) -> Iterator[Address]:
    """The whole of it."""
    with everything_running(process_environment, tmp_path):
        yield gate
