"""From an exam to counts: the rules at their edges, the words, the file of the benchmarks."""

import io
import json
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from config.capacity.measured import ACKS, GRADES, CannotRead, read_rates
from config.capacity.planning import CannotPlan, Demand, Rates, plan_capacity, plan_gate, plan_workers
from config.capacity.queueing import wait_exceeded_by
from config.rehearsal.arrivals import backlog_at_deadline, peak_rate


def test_gate_has_the_fewest_processes_that_keep_the_wait_and_the_reserve() -> None:
    demand = Demand(students=20_000, window=120)
    peak = peak_rate(20_000, 120)

    plan = plan_gate(demand, acks=400)

    assert (plan.processes, plan.peak_arrivals) == (3, peak)
    assert plan.busy == peak / 1200 <= 0.7 < peak / 800
    assert plan.p99_wait == wait_exceeded_by(0.01, peak, 400, 3) <= demand.p99_wait


def test_gate_gets_more_processes_when_a_shorter_wait_is_wanted() -> None:
    strict = Demand(students=20_000, window=120, p99_wait=0.0005)
    assert plan_gate(strict, acks=400).processes > plan_gate(Demand(20_000, 120), acks=400).processes


def test_workers_do_twice_what_arrives_and_are_done_in_time() -> None:
    plan = plan_workers(Demand(students=72_000, window=120, results_within=600), grades=50)

    assert (plan.processes, plan.mean_arrivals, plan.capacity) == (4, 100, 200)
    assert plan.longest_backlog == backlog_at_deadline(72_000, 120, 200)
    assert plan.drained_after == plan.longest_backlog / 200 <= 600


def test_workers_are_more_than_twice_what_arrives_when_results_are_wanted_soon() -> None:
    plan = plan_workers(Demand(students=72_000, window=1_200, results_within=30), grades=10)
    assert plan.capacity > 2 * plan.mean_arrivals
    assert (
        plan.drained_after
        <= 30
        < backlog_at_deadline(72_000, 1_200, plan.capacity - 10) / (plan.capacity - 10)
    )


def test_plan_is_refused_when_no_count_would_do() -> None:
    with pytest.raises(CannotPlan, match="hand-ins a second"):
        plan_capacity(Demand(students=10**9, window=1), Rates(acks=1, grades=1))


def test_rates_come_from_the_benchmarks(tmp_path: Path) -> None:
    file = tmp_path / "bench.json"
    file.write_text(json.dumps([{"figure": ACKS, "ours": 8000.0}, {"figure": GRADES, "ours": 2400.0}]))
    assert read_rates(file) == Rates(acks=4000, grades=2400)


def test_figures_are_called_what_the_benchmarks_call_them() -> None:
    folder = Path(__file__).parents[1] / "benchmarks"
    assert ACKS in (folder / "gate.py").read_text()
    assert GRADES in (folder / "worker.py").read_text()


@pytest.mark.parametrize("content", [None, "[]", "{", '{"figure": 1}', "[1]"])
def test_file_that_does_not_say_is_refused(tmp_path: Path, content: str | None) -> None:
    file = tmp_path / "bench.json"
    if content is not None:
        file.write_text(content)
    with pytest.raises(CannotRead, match=str(file)):
        read_rates(file)


def test_command_prints_counts_and_what_they_assume() -> None:
    printed = io.StringIO()
    call_command(
        "plan_capacity", students=20_000, window=120.0, ack_rate=400.0, grade_rate=50.0, stdout=printed
    )
    words = printed.getvalue()
    assert "gate processes   3 " in words
    assert "workers          2\n" in words
    assert "Assumed" in words


def test_command_prints_the_plan_as_json() -> None:
    printed = io.StringIO()
    call_command(
        "plan_capacity", students=100, window=10.0, ack_rate=400.0, grade_rate=50.0, json=True, stdout=printed
    )
    plan = json.loads(printed.getvalue())
    assert plan["demand"]["students"] == 100
    assert (plan["gate"]["processes"], plan["workers"]["processes"]) == (1, 1)


def test_command_asks_for_rates_that_are_missing() -> None:
    with pytest.raises(CommandError, match="--ack-rate"):
        call_command("plan_capacity", students=100, window=10.0)
