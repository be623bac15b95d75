"""The recipe (ADR 0011), step by step, each said before it is done."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from config.failover.decision import CannotFailOver, Standing, choose
from config.failover.member import Member
from outbox.quorum import Quorum

Say = Callable[[str], None]


def fail_over(standbys: Sequence[Member], *, names: str, quorum: Quorum, say: Say) -> Member:
    """Make the standby with the most the primary and let the others follow it; return it. Raises `CannotFailOver`.

    `standbys` must be all there are: whoever is not asked may be the one that has an acknowledged submission. Until the promotion
    everything is undone when a step fails; the old primary may be in any state, and is not spoken to.
    """
    check_enough(standbys, quorum)
    upstreams = ask_all(standbys)
    with _undoing(standbys, upstreams):
        primary = _find_primary(_fence(standbys, say), standbys, say)
        set_names(primary, names, quorum, say)
    say(f"Promoting {primary.name}, which has the most.")
    primary.promote()
    for standby in standbys:
        if standby is not primary:
            say(f"{standby.name}: follows {primary.name}.")
            standby.follow(
                primary, like=upstreams[standby.name] or next(filter(None, upstreams.values()), "")
            )
            primary.wait_until_streams(standby)
    return primary


def ask_all(standbys: Sequence[Member]) -> dict[str, str]:
    """Return where each streams from; when one cannot be asked, raise `CannotFailOver` with what is to be done about it."""
    try:
        return {standby.name: standby.check_is_standby() for standby in standbys}
    except CannotFailOver as problem:
        raise CannotFailOver(
            f"{problem} Nothing was changed: a standby that is left out may have an acknowledged submission that nobody else has. "
            "Bring it back first."
        ) from problem


def check_enough(standbys: Sequence[Member], quorum: Quorum) -> None:
    """Raise `CannotFailOver` unless those asked must include one that has each acknowledged commit.

    Of the N servers one is the old primary; a commit is on `needed` of the N - 1 others. Asking all but `needed` - 1 of them is
    bound to meet it.
    """
    others = len(quorum.members) - 1
    least = others - quorum.needed + 1
    if len({standby.name for standby in standbys}) < least:
        raise CannotFailOver(
            f"{least} of the {others} standbys must be asked, and {len(standbys)} can be: the one that is missing may have an "
            "acknowledged submission that nobody else has. Bring it back first."
        )


def set_names(primary: Member, names: str, quorum: Quorum, say: Say) -> None:
    """Make sure that its commits will wait for a standby from the first one on."""
    if quorum.find_fault(primary.read_standby_names()) is not None:
        say(f"{primary.name}: synchronous_standby_names becomes {names}.")
        primary.set("synchronous_standby_names", names)
        if fault := quorum.find_fault(primary.read_standby_names()):
            raise CannotFailOver(f"{primary.name} does not take synchronous_standby_names: {fault}.")


def _fence(standbys: Sequence[Member], say: Say) -> list[Standing]:
    for standby in standbys:
        say(f"{standby.name}: stops receiving, so that the old primary can acknowledge nothing more.")
        standby.stop_receiving()
    return [standby.read_standing() for standby in standbys]


def _find_primary(standings: Sequence[Standing], standbys: Sequence[Member], say: Say) -> Member:
    for standing in standings:
        say(f"{standing.name}: has the log up to {standing.position} of timeline {standing.timeline}.")
    chosen = choose(standings)
    return next(standby for standby in standbys if standby.name == chosen.name)


@contextmanager
def _undoing(standbys: Sequence[Member], upstreams: Mapping[str, str]) -> Iterator[None]:
    """Let every standby receive again as before when the block fails."""
    try:
        yield
    except CannotFailOver as problem:
        undone = ", ".join(standby.name for standby in standbys if _unfence(standby, upstreams[standby.name]))
        raise CannotFailOver(
            f"{problem} Nothing was promoted; receiving as before: {undone or 'nobody'}."
        ) from problem


def _unfence(standby: Member, upstream: str) -> bool:
    try:
        standby.set("primary_conninfo", upstream)
    except CannotFailOver:
        return False
    return True
