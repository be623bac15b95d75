"""The benchmarks' own arithmetic: which round counts, what a reach means, what stays in the file."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.benchmarks.harness import paired, pick_median_round
from tests.benchmarks.pgbench import PgbenchRun, read_report
from tests.benchmarks.results import Row, merge_rows, read_rows


def test_round_with_the_median_ratio_counts_with_both_its_measurements() -> None:
    assert pick_median_round([(1, 10), (9, 10), (50, 100)]) == (50, 100)
    assert pick_median_round([(1, 10), (2, 10), (3, 10), (4, 10)]) == (2, 10)


def test_pair_is_measured_in_turns() -> None:
    turns: list[str] = []

    def measure(name: str, value: float) -> float:
        turns.append(name)
        return value

    row = paired("figure", lambda: measure("ours", 3), lambda: measure("reference", 2), reach=1.2)

    assert turns == ["ours", "reference"] * 3
    assert row == Row("figure", ours=3, reference=2, ratio=1.5, reach=1.2, ok=True)


@pytest.mark.parametrize(
    ("ours", "at_most", "ok"), [(10, False, True), (9, False, False), (10, True, True), (11, True, False)]
)
def test_reach_is_a_least_or_a_greatest_ratio(ours: float, at_most: bool, ok: bool) -> None:
    assert Row.of("figure", ours, 10, reach=1, at_most=at_most).ok is ok


def test_file_keeps_other_figures_and_replaces_the_same(tmp_path: Path) -> None:
    path = tmp_path / "data" / "bench.json"
    one, two = (Row.of(name, 1, 2, reach=0.1) for name in ("one", "two"))
    merge_rows(path, [one, two])
    newer = Row.of("one", 1, 4, reach=0.1)

    merge_rows(path, [newer])

    assert read_rows(path) == [newer, two]
    assert set(json.loads(path.read_text())[0]) == {"figure", "ours", "reference", "ratio", "reach", "ok"}


def test_report_of_pgbench_is_read() -> None:
    text = "latency average = 6.789 ms\ninitial connection time = 12.345 ms\ntps = 9427.123456 (without initial connection time)\n"

    assert read_report(text) == PgbenchRun(tps=9427.123456, latency_ms=6.789)
    with pytest.raises(ValueError, match="Not a report"):
        read_report("pgbench: error")


def test_benchmark_that_starts_another_gives_it_the_environment_it_was_given_itself() -> None:
    look = """
import os
import tests.benchmarks
from tests.benchmarks.surroundings import get_given_environment
changed = {name for name in os.environ if os.environ[name] != get_given_environment().get(name)}
print("HANDOVER_INSIDE_BENCHMARK" in changed, "DATABASE_URL" in changed, "HANDOVER_INSIDE_BENCHMARK" in get_given_environment())
"""
    chosen = {name: value for name, value in os.environ.items() if name != "HANDOVER_INSIDE_BENCHMARK"}
    chosen["DATABASE_URL"] = "postgres://somebody@127.0.0.1:1/theirs"
    found = subprocess.run(
        [sys.executable, "-c", look], env=chosen, capture_output=True, text=True, check=True
    )
    assert found.stdout.split() == ["True", "True", "False"]
