"""From figures to the picture of the path, and to the sentences an operator should read first."""

from collections.abc import Iterable

from config.console.picture import Arrow, Path, State, Station
from config.console.words import say_age
from config.health.overall import FRESH, list_expected_roles
from config.metrics.figures import Figures
from outbox.consumers.staleness import ConsumerStatus
from outbox.effects.relay import NAME as RELAY

LATEST_NUMBERING = 5.0  # seconds an event may be without a position

_TOGETHER = Arrow("at once")  # one transaction: nothing can be between the two


def draw_route(figures: Figures, *, durability: str | None) -> Path:
    """Return the path as it is; `durability` says why nothing can be acknowledged, None when it can."""
    queue, alive = figures.queue, figures.roles_alive
    lag = figures.sequencer_lag.total_seconds()
    return Path(
        line=(
            Station(
                "Gate",
                "acknowledging" if durability is None else "turns work away",
                _away(durability is not None),
            ),
            Station(
                "Job queue",
                f"{sum(lane.ready for lane in queue.lanes.values())} ready, {queue.running} running",
            ),
            Station("Workers", "grading" if "worker" in alive else "silent", _away("worker" not in alive)),
            Station("Results", f"{queue.finished_per_second:.1f} a second"),
            Station("Log", _say_head(figures), _away("sequencer" not in alive)),
        ),
        ways=(_TOGETHER, _show_queue(figures), _TOGETHER, Arrow(say_age(lag), _late(lag > LATEST_NUMBERING))),
        branches=(_show_consumers(figures), _show_relay(figures)),
    )


def list_alarms(figures: Figures, *, durability: str | None) -> list[str]:
    """Return what a person should look at, the gravest first; empty when all is well."""
    lag = figures.sequencer_lag.total_seconds()
    return [
        *([f"No submission can be acknowledged: {durability}"] if durability else []),
        *_list_silent([role for role in list_expected_roles() if role not in figures.roles_alive]),
        *figures.queue.alarms,
        *([f"The oldest event without a position is {say_age(lag)} old."] if lag > LATEST_NUMBERING else []),
        *_list_consumer_alarms(figures.consumers),
        *([f"Effects that failed for good: {figures.relay.failed}."] if figures.relay.failed else []),
    ]


def _list_silent(roles: list[str]) -> list[str]:
    """Return one sentence for all who are silent: mostly they are so together, and for one reason."""
    return [f"No sign of life for {FRESH.seconds} seconds: {', '.join(roles)}."] if roles else []


def _list_consumer_alarms(consumers: Iterable[ConsumerStatus]) -> Iterable[str]:
    for each in consumers:
        if each.is_of_another_epoch:
            yield f"{each.name} does not run: the log was restored or moved, and its cursor is of another epoch."
        elif each.state == "paused":
            behind = f"{say_age(each.staleness)} behind" if each.staleness else "and nothing waits for it yet"
            yield f"{each.name} is paused, {behind}."
        elif each.is_stale:
            yield f"{each.name} is {say_age(each.staleness)} behind; its budget is {say_age(each.budget)}."
        if each.parked_subjects:
            yield f"{each.name} has set aside subjects whose event fails: {each.parked_subjects}."


def _show_queue(figures: Figures) -> Arrow:
    age = max(lane.oldest_age for lane in figures.queue.lanes.values())
    late = any(lane.oldest_age > lane.budget for lane in figures.queue.lanes.values())
    return Arrow(say_age(age), _late(late))


def _show_consumers(figures: Figures) -> tuple[Arrow, Station]:
    followers = [each for each in figures.consumers if each.name != RELAY]
    late = [each for each in followers if each.is_stale or each.state == "paused" or each.is_of_another_epoch]
    oldest = max((each.staleness.total_seconds() for each in followers), default=0.0)
    detail = f"{len(late)} of {len(followers)} behind" if late else f"{len(followers)} in time"
    return Arrow(say_age(oldest), _late(bool(late))), Station("Consumers", detail, _late(bool(late)))


def _show_relay(figures: Figures) -> tuple[Arrow, Station]:
    relay = figures.relay
    waiting = sum(effect.pending + effect.trying for effect in relay.effects)
    detail = f"effects waiting: {waiting}" if not relay.failed else f"effects failed: {relay.failed}"
    return Arrow(say_age(relay.age), _late(relay.is_stale)), Station(
        "Relay", detail, _late(bool(relay.failed))
    )


def _say_head(figures: Figures) -> str:
    head = figures.consumers[0].head.pos if figures.consumers else 0
    return f"{head:,} events"


def _late(is_late: bool) -> State:  # noqa: FBT001 - one word, one meaning
    return "late" if is_late else "well"


def _away(is_away: bool) -> State:  # noqa: FBT001 - one word, one meaning
    return "away" if is_away else "well"
