"""What the facts of every app have in common: a name, a version, and the JSON object the log keeps of them."""

import dataclasses
from functools import cache
from typing import Any, ClassVar


class Fact:
    """Base of the frozen dataclasses that events are said in: kind and version of the shape are the class's, its fields the payload."""

    __slots__ = ()

    kind: ClassVar[str]
    version: ClassVar[int] = 1

    def payload(self) -> dict[str, Any]:
        """Return the JSON object stored in the log; a member that is a dataclass (such as what a cell showed) is one in it."""
        return _say(self)


def _say(value: Any) -> dict[str, Any]:
    """Do `dataclasses.asdict` without its deep copies: what is published is written at once, and facts are published by the thousand."""
    members = {name: getattr(value, name) for name in _list_members(value.__class__)}
    return {
        name: _say(member) if dataclasses.is_dataclass(member) else member for name, member in members.items()
    }


@cache
def _list_members(kind: type[Any]) -> tuple[str, ...]:
    return tuple(field.name for field in dataclasses.fields(kind))
