"""Three embedded servers on this machine: a primary and two standbys, of which one at least has every acknowledged commit.

It is there to try the real thing out (`make cluster`, `manage.py failover`), and for the tests: three servers on one machine survive no
more than one. The caller makes sure that nobody else uses the folder.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path

from config.postgres.errors import PostgresError
from config.postgres.node import Node
from config.postgres.place import NODE_NAMES, TrioPlace
from config.postgres.roles import ensure_database

# The list is the same on all three and never changes: whichever is the primary, the two others stream under these names.
STANDBY_NAMES = f"ANY 1 ({', '.join(NODE_NAMES)})"

_SECONDS_FOR_THE_PRIMARY = 60.0
_SECONDS_FOR_A_STANDBY = 8.0  # then without a checkpoint; PostgreSQL kills what does not answer that within 5


class Trio:
    """The servers `a`, `b` and `c` below one folder. `options` are server settings for all of them."""

    def __init__(self, folder: Path, *, options: Mapping[str, str] | None = None) -> None:
        self.place = TrioPlace(folder.resolve())
        chosen = {"synchronous_standby_names": STANDBY_NAMES, **(options or {})}
        self.nodes = {
            name: Node(self.place.node(name).folder, name=name, options=chosen) for name in NODE_NAMES
        }
        self._mourned: set[str] = set()

    def __iter__(self) -> Iterator[Node]:
        return iter(self.nodes.values())

    @property
    def notes(self) -> list[str]:
        """What a person should know about the start."""
        return [note for node in self for note in node.notes]

    def url(self, role: str) -> str:
        """Return the address of the database on whichever server is the primary."""
        return self.place.url(role)

    def start(self) -> Node:
        """Start all three, making what is missing; return the primary. Raises PostgresError."""
        self.place.folder.mkdir(parents=True, exist_ok=True)
        primary = self.find_primary()
        primary.start()
        ensure_database(primary)
        for node in self:
            if node is not primary:
                self._start_standby(node, primary)
        self.place.marker.touch()
        return primary

    def stop(self) -> None:
        """Stop all three, the primary first: its last words reach the standbys. A frozen one is not waited for long."""
        self.place.marker.unlink(missing_ok=True)
        for node in sorted(self, key=lambda node: node.is_standby):
            node.stop(seconds=_SECONDS_FOR_A_STANDBY if node.is_standby else _SECONDS_FOR_THE_PRIMARY)

    def find_primary(self) -> Node:
        """Return the server to start as the primary: the one that is not a standby.

        After a fail-over whose old primary never came back there are two; the later timeline is the one that acknowledged last.
        """
        candidates = [node for node in self if node.exists and not node.is_standby]
        if candidates:
            return max(candidates, key=lambda node: node.read_timeline())
        if any(node.exists for node in self):
            raise PostgresError(
                f"All servers in {self.place.folder} are standbys: a fail-over was cut short. Promote the one with the most with "
                "manage.py failover (docs/operations.md, Fail-over)."
            )
        return self.nodes[NODE_NAMES[0]]

    def keep_running(self) -> list[str]:
        """Start standbys again that ended, and say what happened. A primary that ended is left to the operator."""
        return [line for node in self if node.has_ended for line in self._look_after(node)]

    def _look_after(self, node: Node) -> Iterator[str]:
        if node.is_standby:
            self._mourned.discard(node.name)
            node.process = None
            node.start()
            yield f"The standby {node.name} had ended and was started again."
        elif node.name not in self._mourned:
            self._mourned.add(node.name)
            yield (
                f"The primary {node.name} ended. Nothing is acknowledged until `manage.py failover` has promoted a standby; "
                "everything that was acknowledged is there."
            )

    def _start_standby(self, node: Node, primary: Node) -> None:
        if not node.exists:
            node.copy(primary.place)
        elif not node.is_standby:
            node.rejoin(primary.place)
        else:
            node.follow(primary.place)
        node.start()
