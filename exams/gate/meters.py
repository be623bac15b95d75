"""What the gate counts of itself. In a web process these are numbers in shared files (`config.metrics.counted`): adding costs a microsecond."""

from prometheus_client import Counter

CANCELLED_WAITS = Counter(
    "handover_gate_cancelled_waits",
    "Commits whose wait for their standbys was cancelled. None of them was acknowledged unverified; each is worth a look.",
)

SHED = Counter(
    "handover_shed",
    "Requests turned away before the database was touched because this process was busy, by what they were for (ADR 0015).",
    ["tier"],
)
