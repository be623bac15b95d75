"""`manage.py failover`: see config.failover."""

from argparse import ArgumentTypeError
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError, CommandParser

from config.failover import CannotFailOver, Member, fail_over
from config.failover.aftermath import begin_epoch, bring_back
from config.failover.steps import ask_all, check_enough
from config.postgres import PostgresError
from config.postgres.node import Node
from config.postgres.place import NODE_NAMES, SUPERUSER, TrioPlace, find_place
from outbox.management.teaching import TeachingCommand
from outbox.quorum.reads import make_quorum


def named_address(text: str) -> Member:
    """Read NAME=ADDRESS."""
    name, _, address = text.partition("=")
    if not name or "://" not in address:
        raise ArgumentTypeError(f"{text!r} is not NAME=postgres://superuser@host:5432/postgres")
    return Member(name, address)


class Command(TeachingCommand):
    """Arguments and wiring; the recipe is in `config.failover.steps`."""

    help = """\
Make a standby the primary, after the primary is gone, without losing anything that was acknowledged.

  1  both standbys stop receiving. From then on the old primary can acknowledge nothing, whether it is dead, frozen or merely out of
     reach: that is the fence, and nobody has to reach the old primary for it
  2  both are asked how far they have flushed. Every acknowledged submission is on one of them
  3  the one with the most is promoted, with `synchronous_standby_names` set before it takes a write
  4  the other one follows it; acknowledging begins again
  5  the log begins a new epoch: cursors kept outside this database refuse to run until somebody has looked
  6  the old primary, if it is on this machine, is stopped, rewound, and follows

When one of the standbys cannot be asked, nothing is done: it may be the one that has what the other has not. Bring it back first.
If a step before the promotion fails, the standbys receive again as before. With servers of your own that Patroni or CloudNativePG keeps,
let that do this; it must keep the same rule (strict mode, a synchronous quorum).

  manage.py failover                       the cluster of `make cluster`
  manage.py failover --dry-run             ask everybody, say what would be done, change nothing
  manage.py failover --standby s1=postgres://postgres@10.0.0.2/postgres --standby s2=postgres://postgres@10.0.0.3/postgres
  manage.py failover --rejoin a            only step 6, for a server that was out of reach then"""

    def add_arguments(self, parser: CommandParser) -> None:
        """Say which servers."""
        parser.add_argument(
            "--standby",
            type=named_address,
            action="append",
            default=[],
            metavar="NAME=ADDRESS",
            help="a standby, by the name it streams under, as its superuser reaches it; all of them (default: the cluster's own)",
        )
        parser.add_argument("--dry-run", action="store_true", help="ask and say, change nothing")
        parser.add_argument("--rejoin", choices=NODE_NAMES, help="only bring this server of the cluster back")

    def handle(self, **options: Any) -> None:
        """Do it."""
        try:
            if options["rejoin"]:
                self._rejoin(options["rejoin"])
            else:
                self._fail_over(options["standby"] or self._list_standbys(), dry=options["dry_run"])
        except (CannotFailOver, PostgresError, ValueError) as problem:
            raise CommandError(str(problem)) from problem

    def _fail_over(self, standbys: list[Member], *, dry: bool) -> None:
        quorum = make_quorum()
        if dry:
            check_enough(standbys, quorum)
            upstreams = ask_all(standbys)
            for standby in standbys:
                upstream = upstreams[standby.name]
                standing = standby.read_standing()
                self._say(
                    f"{standby.name}: at {standing.position} of timeline {standing.timeline}, from {upstream or 'nobody'}."
                )
            self._say("Both can be asked: a fail-over would go on. Nothing was changed.")
            return
        names = f"ANY {quorum.needed} ({', '.join(quorum.members)})"
        primary = fail_over(standbys, names=names, quorum=quorum, say=self._say)
        begin_epoch(primary, self._say)
        cluster = self._find_cluster()
        if cluster is None:
            self._say(
                f"{primary.name} is the primary. Rewind the old one (pg_rewind) and let it follow before it counts again."
            )
            return
        for name in self._list_old_primaries(cluster, primary.name):
            self._bring_back(cluster, name, primary.name)
        self._say(f"{primary.name} is the primary.")

    def _rejoin(self, name: str) -> None:
        cluster = self._find_cluster()
        if cluster is None:
            raise CannotFailOver("There is no cluster of ours running on this machine (make cluster).")
        nodes = {other: _open(cluster, other) for other in NODE_NAMES if other != name}
        primaries = [other for other, node in nodes.items() if not node.is_standby and node.is_running]
        if len(primaries) != 1:
            raise CannotFailOver(f"Exactly one other server must be the primary; there are {len(primaries)}.")
        self._bring_back(cluster, name, primaries[0])

    def _bring_back(self, cluster: TrioPlace, name: str, primary: str) -> None:
        bring_back(_open(cluster, name), _open(cluster, primary), self._say)

    def _list_standbys(self) -> list[Member]:
        cluster = self._find_cluster()
        if cluster is None:
            raise CannotFailOver(
                "There is no cluster of ours running on this machine (make cluster). Name your standbys with --standby."
            )
        return [
            Member(name, cluster.node(name).url(SUPERUSER, "postgres"))
            for name in NODE_NAMES
            if _open(cluster, name).is_standby
        ]

    def _list_old_primaries(self, cluster: TrioPlace, new: str) -> list[str]:
        return [name for name in NODE_NAMES if name != new and not _open(cluster, name).is_standby]

    def _find_cluster(self) -> TrioPlace | None:
        place = find_place(settings.DATA_DIR)
        return place if isinstance(place, TrioPlace) else None

    def _say(self, text: str) -> None:
        self.stdout.write(text)


def _open(cluster: TrioPlace, name: str) -> Node:
    return Node(cluster.node(name).folder, name=name)
