"""Every meter that is read from the database, as a table: name, words, labels, and where its values come from.

Ages before depths: an alarm goes by how long somebody has waited. A rate is over the last one to two minutes, added up from all workers.
"""

import dataclasses
from collections.abc import Callable, Iterable, Iterator
from typing import Final

from config.health.overall import FRESH, list_expected_roles
from config.metrics.figures import Figures

Value = tuple[tuple[str, ...], float]  # the labels' values, and the meter's


@dataclasses.dataclass(frozen=True, slots=True)
class Meter:
    """One gauge. Its name ends in its unit, where it has one."""

    name: str
    help: str
    labels: tuple[str, ...]
    read: Callable[[Figures], Iterable[Value]]


def _one(read: Callable[[Figures], float]) -> Callable[[Figures], Iterable[Value]]:
    return lambda figures: [((), read(figures))]


def _lanes(name: str) -> Callable[[Figures], Iterable[Value]]:
    return lambda figures: [
        ((lane.label.lower(),), getattr(status, name)) for lane, status in figures.queue.lanes.items()
    ]


def _claims(figures: Figures) -> Iterator[Value]:
    if figures.queue.claim_p99 is not None:
        yield (), figures.queue.claim_p99


def _endings(figures: Figures) -> Iterator[Value]:
    for outcome in ("finished", "retried", "snoozed", "released", "buried", "lost"):
        yield (outcome,), figures.queue.counts[outcome] / figures.queue.seconds


def _effects(figures: Figures) -> Iterator[Value]:
    for effect in figures.relay.effects:
        for state in ("pending", "trying", "failed", "refused"):
            yield (effect.name, state), getattr(effect, state)


def _roles(figures: Figures) -> Iterator[Value]:
    for role in list_expected_roles():
        yield (role,), float(role in figures.roles_alive)


METERS: Final = (
    Meter(
        "handover_job_oldest_age_seconds",
        "How long the oldest job that is due has waited for a worker. Compare with handover_job_age_budget_seconds.",
        ("lane",),
        _lanes("oldest_age"),
    ),
    Meter(
        "handover_job_age_budget_seconds",
        "How long a job of this lane may wait before a person should look.",
        ("lane",),
        _lanes("budget"),
    ),
    Meter("handover_jobs_ready", "Jobs that are due and not taken.", ("lane",), _lanes("ready")),
    Meter("handover_jobs_running", "Jobs in a worker's hands.", (), _one(lambda f: f.queue.running)),
    Meter("handover_jobs_put_off", "Jobs that are due later.", (), _one(lambda f: f.queue.put_off)),
    Meter(
        "handover_jobs_expired",
        "Running jobs whose lease is over: their worker died or froze. The sweeper takes them back within a second.",
        (),
        _one(lambda f: f.queue.expired),
    ),
    Meter(
        "handover_jobs_suspect",
        "Jobs that have lost a worker before and are tried with few neighbours.",
        (),
        _one(lambda f: f.queue.suspects),
    ),
    Meter(
        "handover_job_endings_per_second",
        "How jobs leave a worker's hands: finished, retried, snoozed, released, buried, or lost (refused by the fence).",
        ("outcome",),
        _endings,
    ),
    Meter(
        "handover_job_lost_leases_per_second",
        "Jobs taken back from workers that died or froze.",
        (),
        _one(lambda f: f.queue.counts["lost_leases"] / f.queue.seconds),
    ),
    Meter(
        "handover_job_retry_ratio",
        "Retries to first tries. The budget is 0.1; above it something fails for everybody.",
        (),
        _one(lambda f: f.queue.retry_ratio),
    ),
    Meter(
        "handover_job_claim_p99_seconds",
        "99 of 100 claims took at most this long (the upper bound of a bucket); absent when nothing was claimed.",
        (),
        _claims,
    ),
    Meter(
        "handover_dead_letters",
        "Jobs that were given up and wait for a person.",
        (),
        _one(lambda f: f.queue.dead_letters),
    ),
    Meter(
        "handover_dead_letter_oldest_age_seconds",
        "How long the oldest of them has waited.",
        (),
        _one(lambda f: f.queue.oldest_dead_letter_age),
    ),
    Meter(
        "handover_job_dead_rows",
        "Dead rows in the hot table of jobs; they pile up while somebody holds a snapshot.",
        (),
        _one(lambda f: f.queue.dead_rows),
    ),
    Meter(
        "handover_snapshot_oldest_age_seconds",
        "How long the oldest snapshot on the server has been held.",
        (),
        _one(lambda f: max((holder.seconds or 0.0 for holder in f.queue.snapshot_holders), default=0.0)),
    ),
    Meter(
        "handover_sequencer_lag_seconds",
        "The age of the oldest event that has no position yet: nobody can read it.",
        (),
        _one(lambda f: f.sequencer_lag.total_seconds()),
    ),
    Meter(
        "handover_consumer_staleness_seconds",
        "The age of the oldest event this consumer has not applied.",
        ("consumer",),
        lambda f: [((each.name,), each.staleness.total_seconds()) for each in f.consumers],
    ),
    Meter(
        "handover_consumer_staleness_budget_seconds",
        "How far behind this consumer may be before screens say so.",
        ("consumer",),
        lambda f: [((each.name,), each.budget.total_seconds()) for each in f.consumers],
    ),
    Meter(
        "handover_consumer_waiting_events",
        "Positions of the log that are before this consumer.",
        ("consumer",),
        lambda f: [((each.name,), each.waiting) for each in f.consumers],
    ),
    Meter(
        "handover_consumer_parked_subjects",
        "Subjects this consumer has set aside because their event fails; they wait for a person.",
        ("consumer",),
        lambda f: [((each.name,), each.parked_subjects) for each in f.consumers],
    ),
    Meter(
        "handover_relay_age_seconds",
        "The age of the oldest event whose effects the relay has not handed on.",
        (),
        _one(lambda f: f.relay.age.total_seconds()),
    ),
    Meter(
        "handover_effects",
        "Effects that have not happened: pending, being tried, failed for good, or refused (no fault).",
        ("effect", "state"),
        _effects,
    ),
    Meter(
        "handover_effect_oldest_age_seconds",
        "How long the oldest effect that has not happened, and has neither failed for good nor been refused, has waited.",
        ("effect",),
        lambda f: [((each.name,), each.oldest.total_seconds()) for each in f.relay.effects],
    ),
    Meter(
        "handover_role_alive",
        f"1 when a process of this role has given a sign of life within {FRESH.seconds} seconds.",
        ("role",),
        _roles,
    ),
)
