"""Which consumers exist: every app that has one registers it in its `AppConfig.ready()`.

from outbox.consumers import registry
registry.register(MarksheetHistory())
"""

from outbox.consumers.consumer import ConsumerHandler
from outbox.errors import UnknownConsumer

_handlers: dict[str, ConsumerHandler] = {}


def register(handler: ConsumerHandler) -> None:
    """Make a consumer known under its name. Registering a second one under the same name is a programming error."""
    if handler.name in _handlers:
        raise ValueError(f"Two consumers are called {handler.name}.")
    _handlers[handler.name] = handler


def unregister(name: str) -> None:
    """Forget a consumer (tests register their own for a while)."""
    del _handlers[name]


def get_consumer(name: str) -> ConsumerHandler:
    """Return the consumer of this name; raise UnknownConsumer, which lists those there are."""
    try:
        return _handlers[name]
    except KeyError:
        raise UnknownConsumer(
            f"There is no consumer {name}. Known: {', '.join(sorted(_handlers))}."
        ) from None


def list_consumers() -> list[ConsumerHandler]:
    """Return all consumers, by name."""
    return [_handlers[name] for name in sorted(_handlers)]
