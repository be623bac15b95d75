"""What the gate counts of itself. In a web process these are numbers in shared files (`config.metrics.counted`): adding costs a microsecond.

What is taken in is counted by the group, never one by one.
"""

from prometheus_client import Counter, Gauge, Histogram

CANCELLED_WAITS = Counter(
    "handover_gate_cancelled_waits",
    "Commits whose wait for their standbys was cancelled. None of them was acknowledged unverified; each is worth a look.",
)

SHED = Counter(
    "handover_shed",
    "Requests turned away before the database was touched because this process was busy, by what they were for (ADR 0015).",
    ["tier"],
)

GROUP_SIZE = Histogram(
    "handover_gate_group_size",
    "How many hand-ins the gate sent to the database together. One that is tried again counts again.",
    buckets=(1, 2, 4, 8, 16, 32, 64, 128, 256),  # the last is `exams.gate.line.GROUP_SIZE`
)

GROUP_SECONDS = Histogram(
    "handover_gate_group_seconds",
    "How long one group took, from the statement to its durable commit; one that failed counts too.",
    buckets=(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5),
)

WAITING = Gauge(
    "handover_gate_waiting",
    "Hand-ins inside the gate that have no verdict yet, as of the last group or two seconds ago.",
    multiprocess_mode="livesum",  # what a dead process held waits no longer
)
