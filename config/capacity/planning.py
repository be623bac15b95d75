"""From an exam and measured rates to counts of gate processes and workers. Pure: every number it uses is in the plan it returns."""

import dataclasses
import math

from config.capacity.queueing import in_system, mean_wait, wait_exceeded_by
from config.rehearsal.arrivals import backlog_at_deadline, peak_rate
from exams.gate.admission import Limits

GATE_LINE = Limits().waiting  # hand-ins in line in one process; past it the gate sheds
MOST_BUSY = 0.7  # of a gate process's measured rate at the peak: the rate was measured with nothing beside it
BACKLOG_RULE = (
    2.0  # a queue that was down catches up in as long as it was down only with twice the rate that fills it
)
MOST_PROCESSES = 4_096
P99_WAIT, RESULTS_WITHIN = 0.25, 600.0


class CannotPlan(ValueError):
    """No count of processes would do."""


@dataclasses.dataclass(frozen=True, slots=True)
class Demand:
    """The exam: so many students, who hand in within the last `window` seconds, and what is wanted for them."""

    students: int
    window: float
    p99_wait: float = P99_WAIT  # seconds in line at the gate, at the peak
    results_within: float = RESULTS_WITHIN  # seconds from the deadline to the last result


@dataclasses.dataclass(frozen=True, slots=True)
class Rates:
    """What was measured here: acknowledgements a second of one gate process, results a second of one worker."""

    acks: float
    grades: float


@dataclasses.dataclass(frozen=True, slots=True)
class GatePlan:
    """Gate processes, and how the peak looks with that many."""

    processes: int
    peak_arrivals: float
    busy: float
    mean_wait: float
    p99_wait: float
    waiting: float
    line: int


@dataclasses.dataclass(frozen=True, slots=True)
class WorkerPlan:
    """Workers, and how long they take."""

    processes: int
    mean_arrivals: float
    capacity: float
    longest_backlog: float
    drained_after: float


@dataclasses.dataclass(frozen=True, slots=True)
class CapacityPlan:
    """The whole answer."""

    demand: Demand
    rates: Rates
    gate: GatePlan
    workers: WorkerPlan


def plan_capacity(demand: Demand, rates: Rates) -> CapacityPlan:
    """Return the fewest processes that do; raises `CannotPlan` when even 4,096 would not."""
    return CapacityPlan(demand, rates, plan_gate(demand, rates.acks), plan_workers(demand, rates.grades))


def plan_gate(demand: Demand, acks: float) -> GatePlan:
    """Return the fewest gate processes that are at most 70 % busy at the peak and keep p99 of the wait."""
    peak = peak_rate(demand.students, demand.window)
    for count in range(max(1, math.ceil(peak / (acks * MOST_BUSY))), MOST_PROCESSES + 1):
        p99 = wait_exceeded_by(0.01, peak, acks, count)
        if p99 <= demand.p99_wait:
            wait = mean_wait(peak, acks, count)
            return GatePlan(
                processes=count,
                peak_arrivals=peak,
                busy=peak / (acks * count),
                mean_wait=wait,
                p99_wait=p99,
                waiting=in_system(peak, wait),
                line=GATE_LINE * count,
            )
    raise CannotPlan(
        f"A peak of {peak:,.0f} hand-ins a second is too much for {MOST_PROCESSES:,} gate processes."
    )


def plan_workers(demand: Demand, grades: float) -> WorkerPlan:
    """Return the fewest workers that give the last result in time and could catch up after an outage.

    Two rules. What has come faster than they work waits at the deadline, and must be done within `results_within`. And their
    rate is at least twice the mean arrivals over window and wait together, so that workers which were away for a time have
    caught up after as long again.
    """
    mean = demand.students / (demand.window + demand.results_within)
    for count in range(max(1, math.ceil(BACKLOG_RULE * mean / grades)), MOST_PROCESSES + 1):
        capacity = count * grades
        backlog = backlog_at_deadline(demand.students, demand.window, capacity)
        if backlog <= capacity * demand.results_within:
            return WorkerPlan(
                processes=count,
                mean_arrivals=mean,
                capacity=capacity,
                longest_backlog=backlog,
                drained_after=backlog / capacity,
            )
    raise CannotPlan(
        f"{demand.students:,} results by {demand.results_within:,.0f} s after the deadline are too much for {MOST_PROCESSES:,} workers."
    )
