"""Which standby becomes the primary. Pure."""

import dataclasses
from collections.abc import Sequence


class CannotFailOver(Exception):
    """Going on could lose something, or would not work; the message says what, and what was undone."""


@dataclasses.dataclass(frozen=True, order=True)
class Standing:
    """How far a fenced standby's disk is. The timeline comes first: a longer log of an older timeline was cut off long ago."""

    timeline: int
    lsn: int
    name: str = dataclasses.field(compare=False)
    system: str = dataclasses.field(compare=False)

    @property
    def position(self) -> str:
        """The position as PostgreSQL writes it."""
        return f"{self.lsn >> 32:X}/{self.lsn & 0xFFFFFFFF:08X}"


def choose(standings: Sequence[Standing]) -> Standing:
    """Return the standby that has the most, of equals the first by name. Raises when they are not of one cluster."""
    if len({standing.system for standing in standings}) != 1:
        raise CannotFailOver("These servers are not copies of one another: their system identifiers differ.")
    return max(sorted(standings, key=lambda standing: standing.name), key=lambda standing: standing)
