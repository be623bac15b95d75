"""The seeded random run (O2, O3): a short one in every test run, and the full one as `make soak`."""

from pathlib import Path

import pytest

from outbox.log.verify import verify_log
from tests.processes.random_run import Findings, play

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.process, pytest.mark.timeout(300)]


def assert_sound(found: Findings, *, events: int) -> None:
    """Nothing lost, doubled, misplaced or inverted, while the naive reader lost some in the very same run."""
    assert found.events >= events
    assert found.killed > 0
    assert found.rolled_back > 0
    assert (found.missing, found.doubled, found.misplaced, found.inverted) == (0, 0, 0, 0), found
    assert found.lost_by_naive > 0, f"the run did not bite: {found}"
    assert verify_log(report=lambda *_: None).fault is None


def test_short_random_run_loses_doubles_and_inverts_nothing_where_the_naive_reader_does(
    database_url: str, process_environment: dict[str, str], tmp_path: Path
) -> None:
    found = play(
        database_url,
        process_environment,
        tmp_path,
        seed=1,
        events=2_000,
        longest=0.3,
        pause=1,
        seconds=120,
    )

    assert_sound(found, events=2_000)


@pytest.mark.soak
@pytest.mark.timeout(900)
@pytest.mark.parametrize("seed", [11, 12, 13])
def test_full_random_run_loses_doubles_and_inverts_nothing_where_the_naive_reader_does(
    seed: int, database_url: str, process_environment: dict[str, str], tmp_path: Path
) -> None:
    found = play(
        database_url,
        process_environment,
        tmp_path,
        seed=seed,
        events=20_000,
        longest=5,
        pause=3,
        seconds=400,
    )
    print(f"\nseed {seed}: {found}")  # noqa: T201 - the figures are what a soak is run for

    assert_sound(found, events=20_000)
