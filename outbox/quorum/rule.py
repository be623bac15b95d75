"""The rule: which standbys count, of how many of them a commit must be flushed, and whether a server is set up for that. Pure."""

import dataclasses
import re

# PostgreSQL manual, synchronous_standby_names: [ANY | FIRST] number (names), or names alone, which means FIRST 1.
_NAMES = re.compile(r"\s*(?:(?:(?:ANY|FIRST)\s+)?(\d+)\s*\(([^()]*)\)|([^()]*))\s*", re.IGNORECASE)


@dataclasses.dataclass(frozen=True, slots=True)
class Quorum:
    """Commits count once `needed` of the standbys named `members` (lower case) have flushed them."""

    members: tuple[str, ...]
    needed: int = 1

    def __post_init__(self) -> None:
        """Refuse a rule that nothing could fulfil, or that asks for nothing."""
        if not 1 <= self.needed <= len(self.members):
            raise ValueError(
                f"{self.needed} of the {len(self.members)} standbys in HANDOVER_STANDBYS cannot be waited for"
            )

    def find_fault(self, names: str) -> str | None:
        """Return what is wrong with a server's `synchronous_standby_names`, None when its commits wait for enough of ours.

        It may name fewer than all members: Patroni takes the primary itself and a standby that is away off the list.
        """
        said = f"synchronous_standby_names = {names!r}"
        if not names.strip():
            return "synchronous_standby_names is empty: commits wait for no standby"
        found = _NAMES.fullmatch(names)
        if found is None:
            return f"{said} cannot be understood"
        named = {_unquote(name) for name in (found[2] or found[3] or "").split(",")}
        if strangers := sorted(named - set(self.members)):
            return f"{said} counts {', '.join(strangers)}, which HANDOVER_STANDBYS does not name"
        if int(found[1] or 1) < self.needed:
            return f"{said} waits for fewer than {self.needed} of them (HANDOVER_STANDBYS_NEEDED)"
        return None


def _unquote(name: str) -> str:
    return name.strip().removeprefix('"').removesuffix('"').replace('""', '"').lower()
