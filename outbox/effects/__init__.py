"""Effects: what has to happen because of an event, outside the transaction that wrote it (ADR 0012)."""

from outbox.effects.registry import (
    Delivery,
    Effect,
    GiveUp,
    Hint,
    NotNow,
    Refuse,
    TryLater,
    find_effect,
    list_effects,
    register_effect,
    unregister_effect,
)

__all__ = [
    "Delivery",
    "Effect",
    "GiveUp",
    "Hint",
    "NotNow",
    "Refuse",
    "TryLater",
    "find_effect",
    "list_effects",
    "register_effect",
    "unregister_effect",
]
