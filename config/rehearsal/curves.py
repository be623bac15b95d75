"""What the plots show: arrivals, acknowledgements, refusals and latencies over time. Pure."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from config.rehearsal.behaviour import NO_ANSWER, OWN_DELAY, Outcome

Points = list[tuple[float, float]]
SHEDDING = (429, 503)
STEPS = 60  # the window is cut into so many


class Latency(NamedTuple):
    """Seconds from pressing Submit to the receipt, tries and waits between them included.

    Percentiles are of those whom only the gate kept waiting, not over a slow line; `longest` is of everybody.
    """

    p50: float
    p90: float
    p99: float
    longest: float


class Curves(NamedTuple):
    """Points (seconds from the begin of the window, value). Rates are a second; latencies stand where the student pressed."""

    arrivals: Points
    acknowledgements: Points
    shed: Points
    no_answer: Points
    p50: Points
    p90: Points
    p99: Points


def percentile(ranked: Sequence[float], share: float) -> float:
    """Return the nearest-rank percentile of sorted values; there is at least one."""
    return ranked[max(0, math.ceil(share * len(ranked)) - 1)]


def measure_latency(outcomes: Iterable[Outcome]) -> Latency | None:
    """Return the latencies of everybody who got a receipt; None when nobody did."""
    everybody = list(outcomes)
    longest = max((seconds for _, seconds in _list_latencies(everybody)), default=None)
    ranked = sorted(seconds for _, seconds in _list_latencies(_without_own_delay(everybody)))
    if longest is None or not ranked:
        return None
    p50, p90, p99 = (percentile(ranked, share) for share in (0.5, 0.9, 0.99))
    return Latency(p50, p90, p99, longest)


def count_answers(outcomes: Iterable[Outcome]) -> dict[str, int]:
    """Return how often each status was heard; `none` where no answer came, as where the sender did not wait for one."""
    heard = Counter(made.status for outcome in outcomes for made in outcome.tries)
    return {str(status or "none"): number for status, number in sorted(heard.items())}


def draw_curves(outcomes: Sequence[Outcome], window: float) -> Curves:
    """Put everything into steps of a sixtieth of the window."""
    step = window / STEPS
    tries = [made for outcome in outcomes for made in outcome.tries]
    acknowledged = [at for outcome in outcomes if (at := outcome.acknowledged_at) is not None]
    latencies = defaultdict(list)
    for due_at, seconds in _list_latencies(_without_own_delay(outcomes)):
        latencies[int(due_at / step)].append(seconds)
    return Curves(
        arrivals=_rate([outcome.due_at for outcome in outcomes], step),
        acknowledgements=_rate(acknowledged, step),
        shed=_rate([made.heard_at for made in tries if made.status in SHEDDING], step),
        no_answer=_rate([made.heard_at for made in tries if made.status == NO_ANSWER], step),
        **{
            name: [
                ((place + 0.5) * step, percentile(sorted(found), share))
                for place, found in sorted(latencies.items())
            ]
            for name, share in (("p50", 0.5), ("p90", 0.9), ("p99", 0.99))
        },
    )


def _rate(moments: Sequence[float], step: float) -> Points:
    counted = Counter(int(moment / step) for moment in moments)
    last = max(counted, default=-1)
    return [((place + 0.5) * step, counted[place] / step) for place in range(last + 1)]


def _list_latencies(outcomes: Iterable[Outcome]) -> Iterator[tuple[float, float]]:
    """Yield when each pressed who has a receipt, and how many seconds it took."""
    for outcome in outcomes:
        if outcome.acknowledged_at is not None:
            yield outcome.due_at, outcome.acknowledged_at - outcome.due_at


def _without_own_delay(outcomes: Iterable[Outcome]) -> Iterator[Outcome]:
    return (outcome for outcome in outcomes if outcome.manner not in OWN_DELAY)
