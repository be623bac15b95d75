"""What an effect is: something that has to happen outside the transaction of the event that asks for it, once per event.

An app registers its effects in `AppConfig.ready`; the relay finds them by the kind of event. The one thing to know: an effect may
be started twice (a worker dies, an answer is lost on the way), but only one start at a time holds the receipt, and
what it writes is kept only while it still does.

    from outbox.effects import Delivery, Effect, register_effect

    def render_thumbnails(delivery: Delivery) -> None: ...

    register_effect(Effect("render_thumbnails", frozenset({"AttachmentStored"}), render_thumbnails, outside=True))
"""

import dataclasses
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from uuid import UUID

from outbox.log.reading import StoredEvent

# Seconds before the second try, the third …: with the first try, nine tries in about four hours.
RETRIES = (2.0, 10.0, 30.0, 120.0, 600.0, 1800.0, 3600.0, 7200.0)
LEASE_SECONDS = 60.0


@dataclasses.dataclass(frozen=True, slots=True)
class Hint:
    """As much of an event as the relay reads: enough to find who has to act on it."""

    pos: int
    event_id: UUID
    kind: str
    tenant_id: UUID | None
    correlation_id: UUID | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class Delivery:
    """One try of one effect: the event as the log has it, whom it is for (empty where there is only one), and which try this is."""

    event: StoredEvent
    target: str
    tries: int

    @property
    def key(self) -> str:
        """A name for this effect of this event, the same at every try: an idempotency key for whoever is at the other end."""
        return ".".join(filter(None, (str(self.event.event_id), self.target)))


class GiveUp(Exception):
    """No further try will help: the effect failed for good, for the reason given."""


class Refuse(GiveUp):
    """No try will help and nothing is to be mended: what came cannot be used, and its sender was told; or it is for nobody any more."""


class TryLater(Exception):
    """The other end could not do it now; `seconds` is how long it asks us to wait, if it said so."""

    def __init__(self, detail: str, *, seconds: float | None = None) -> None:
        super().__init__(detail)
        self.seconds = seconds


class NotNow(Exception):
    """The other end is being left alone, so nothing was tried: the receipt keeps all its tries, and comes again after `seconds`."""

    def __init__(self, detail: str, *, seconds: float) -> None:
        super().__init__(detail)
        self.seconds = seconds


Target = tuple[Hint, str]


@dataclasses.dataclass(frozen=True, slots=True)
class Effect:
    """One kind of effect. Its name is in every receipt: for ever.

    `run` does it. Without `outside` it runs in the transaction that also marks the receipt done: what it writes to the database
    happens exactly once. With `outside` it runs without a transaction and may take its time (at most `lease_seconds`): it may
    happen twice when a process dies between the doing and the noting, so it hands `delivery.key` to the other end, or checks a version of its own.
    `GiveUp` ends it, and so does `Refuse`, which nobody is called for; `TryLater` and every other exception lead to another try, as long as `retries` lasts; `NotNow` was none.

    `list_targets` says to whom each event goes, where that may be several (webhook endpoints); each gets a receipt of its own.
    `name_targets` says what people call them. `failed` is called once in the transaction that notes that it failed for good or was refused.
    """

    name: str
    kinds: AbstractSet[str]
    run: Callable[[Delivery], None]
    outside: bool = False
    retries: tuple[float, ...] = RETRIES
    lease_seconds: float = LEASE_SECONDS
    list_targets: Callable[[Sequence[Hint]], Iterable[Target]] | None = None
    name_targets: Callable[[Collection[str]], Mapping[str, str]] | None = None
    failed: Callable[[Delivery, str], None] | None = None


_effects: dict[str, Effect] = {}


def register_effect(effect: Effect) -> None:
    """Make an effect known in this process. Two of one name are a defect."""
    if _effects.setdefault(effect.name, effect) is not effect:
        raise ValueError(f"Two effects are called {effect.name!r}.")


def unregister_effect(name: str) -> None:
    """Forget an effect (tests register their own for a while)."""
    del _effects[name]


def find_effect(name: str) -> Effect | None:
    """Return the effect of this name, None when this version has none such any more."""
    return _effects.get(name)


def list_effects() -> list[Effect]:
    """Return all effects, by name."""
    return [_effects[name] for name in sorted(_effects)]


def list_kinds() -> frozenset[str]:
    """Return the kinds of event that have any effect."""
    return frozenset(kind for effect in _effects.values() for kind in effect.kinds)


def list_wanted(hints: Sequence[Hint]) -> list[tuple[Hint, Effect, str]]:
    """Return what has to happen for these events: event, effect and target, in the order of the events."""
    wanted = [
        (hint, effect, target)
        for effect in list_effects()
        for hint, target in _targets(effect, [hint for hint in hints if hint.kind in effect.kinds])
    ]
    return sorted(wanted, key=lambda one: one[0].pos)


def _targets(effect: Effect, hints: Sequence[Hint]) -> Iterable[Target]:
    if not hints:
        return ()
    if effect.list_targets is None:
        return ((hint, "") for hint in hints)
    return effect.list_targets(hints)
