"""What follows a promotion: a new epoch of the log, and the old primary as a standby."""

from django.db import connections

from config.failover.decision import CannotFailOver
from config.failover.member import Member
from config.failover.steps import Say
from config.postgres import postmaster
from config.postgres.node import Node
from outbox.consumers.cursors import adopt_epoch
from outbox.log.reading import get_head
from outbox.log.sequencer import start_epoch
from outbox.models.consumers import Consumer

SECONDS_TO_STOP = 20.0


def begin_epoch(primary: Member, say: Say) -> None:
    """Begin a new epoch on the new primary, and let the consumers whose cursors live there go on in it.

    Their cursors and the log come from one write-ahead log, so both end at the same moment. A cursor kept anywhere else may be ahead
    of what this log holds, and refuses to run (ADR 0001). One that refused before goes on refusing.
    """
    _point_at(primary)
    old = get_head().epoch
    begun = start_epoch()
    names = list(Consumer.objects.filter(epoch=old).order_by("name").values_list("name", flat=True))
    for name in names:
        adopt_epoch(name)
    say(
        f"A new epoch of the log begins with tick {begun.tick_id}; {', '.join(names) or 'no consumer'} went over to it."
    )


def bring_back(old: Node, primary: Node, say: Say) -> None:
    """Make an old primary of this machine a standby of the new one. It is stopped first; `make cluster` starts it again."""
    running = postmaster.find_postmaster(old.place.data)
    if running is not None:
        say(f"{old.name}: stops.")
        postmaster.stop(running, seconds=SECONDS_TO_STOP)
    was_enough = old.rejoin(primary.place)
    deed = (
        "took back what only it had"
        if was_enough
        else "was copied anew, because too much of its log was gone"
    )
    say(f"{old.name}: {deed}, and follows {primary.name}.")


def _point_at(primary: Member) -> None:
    """Let this process's Django speak to the new primary, whatever the old one would still answer."""
    for alias in ("default", "owner"):
        connections[alias].close()
        place = {"HOST": primary.place.get("host", ""), "PORT": primary.place.get("port", "")}
        connections[alias].settings_dict.update(place)
    with connections["default"].cursor() as cursor:
        cursor.execute("SELECT pg_is_in_recovery()")
        if cursor.fetchone() != (False,):
            raise CannotFailOver(f"{primary.name} was promoted and does not take writes.")
