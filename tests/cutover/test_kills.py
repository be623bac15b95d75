"""A backfill that is killed goes on where it was, and ends as one that never was (M1; fifty kills in test_full_size.py)."""

import signal
from pathlib import Path

import pytest

from gradebook.snapshots.phases import Phase
from tests.cutover.copies import enter
from tests.cutover.killing import (
    count_compared,
    list_expected,
    list_found,
    run_until_killed,
    write_many_copies,
)
from tests.people import World
from tests.processes.running import Running

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.process]


def test_a_backfill_killed_between_and_inside_its_commits_ends_as_one_clean_run(
    world: World, process_environment: dict[str, str], tmp_path: Path
) -> None:
    write_many_copies(world.sheet, 250)
    enter(Phase.BACKFILL)
    inside = process_environment | {"HANDOVER_FAULT_POINT": "in_backfill_chunk:kill"}
    with Running("cutover", "backfill", environment=inside, log=tmp_path / "inside.log") as process:
        assert process.wait() == -signal.SIGKILL, process.output
    assert (count_compared(), list_found()) == (0, [])
    log = tmp_path / "between.log"
    was_over = run_until_killed(process_environment, log, after=lambda: count_compared() > 0, rate="50")
    assert (was_over, count_compared()) == (False, 100)
    assert run_until_killed(process_environment, log, after=lambda: False, rate="100000")
    assert list_found() == list_expected(world.sheet)
