"""Fixtures: everything `make run` starts, on the test's own database."""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path

import pytest

from config.rehearsal.wire import Address
from tests.processes.running import Running
from tests.serving import serving

COMMANDS = (
    ["run_worker"],
    ["run_sequencer"],
    ["run_consumer", "marksheet_history", "gradebook_marks"],
    ["sweep"],
)


@pytest.fixture
def gate(transactional_db: None, process_environment: Mapping[str, str]) -> Iterator[Address]:
    """The web server alone, with as many processes as the product."""
    with serving(process_environment, workers=2) as server:
        yield Address.parse(f"http://127.0.0.1:{server.port}")


@pytest.fixture
def product(gate: Address, process_environment: Mapping[str, str], tmp_path: Path) -> Iterator[Address]:
    """The whole of it."""
    with ExitStack() as running:
        for arguments in COMMANDS:
            log = tmp_path / f"{arguments[0]}.log"
            running.enter_context(Running(*arguments, environment=process_environment, log=log))
        yield gate
