"""When everything is looked through, and by whom."""

import asyncio
import gc

import pytest

from exams.gate.collecting import FullPasses, is_due


@pytest.mark.parametrize(
    ("seconds", "quiet", "busy"),
    [(0, False, False), (19.9, False, False), (20, True, False), (59.9, True, False), (60, True, True)],
)
def test_full_pass_waits_for_a_quiet_moment_but_not_for_ever(seconds: float, quiet: bool, busy: bool) -> None:
    assert (is_due(seconds, is_quiet=True), is_due(seconds, is_quiet=False)) == (quiet, busy)


async def make_many_that_stay() -> int:
    """Make enough of what stays for two full passes of the collector's own; return how many there were."""
    passes = FullPasses(lambda: False)
    passes.start()
    before: int = gc.get_stats()[2]["collections"]
    kept = [[number] for number in range(200_000)]
    after: int = gc.get_stats()[2]["collections"]
    passes.stop()
    assert len(kept) == 200_000
    return after - before


def test_collector_takes_no_full_pass_by_itself_meanwhile() -> None:
    given = gc.get_threshold()

    assert asyncio.run(make_many_that_stay()) == 0
    assert gc.get_threshold() == given
