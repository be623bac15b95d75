"""Which lane each tier goes into: one of our own in front of Django, or a pool of other processes behind a socket."""

from collections.abc import Mapping, Sequence

from django.conf import settings

from config.admission.door import Application, Lane
from config.admission.forward import Forwarder
from config.admission.slots import Slots
from config.admission.tiers import STAFF, STUDENTS, Tier

_BASICS_AT_ONCE = 8
_FORWARDED_AT_ONCE = 64  # a pool bounds its own work; this bounds what a frozen one can hold of us
_WAITING = 4  # how many wait for each place
_ON_THE_WAY = 5.0  # seconds a pool's answer may take to come through, after those it has itself


def make_lanes(django: Application, *, student_socket: str = "", pages_socket: str = "") -> dict[Tier, Lane]:
    """Return the lanes of a process: what has a socket goes there, all the rest shares the places in front of Django.

    Probes and static files have a lane of their own: they tell how we are, also while everything else is stuck.
    """
    basics = [Tier.BASICS]
    lanes = dict.fromkeys(basics, Lane(django, _make_slots(_BASICS_AT_ONCE, basics, waiting=32)))
    own: list[Tier] = []
    for tiers, socket in ((STUDENTS, student_socket), (STAFF, pages_socket)):
        if socket:
            forwarder = Forwarder(
                socket, most=_FORWARDED_AT_ONCE, seconds=settings.PAGE_SECONDS + _ON_THE_WAY
            )
            slots = Slots(running=_FORWARDED_AT_ONCE, waiting=0, tiers=tiers)
            lanes |= dict.fromkeys(tiers, Lane(forwarder, slots))
        else:
            own.extend(tiers)
    # A submission that comes here was not a POST to the gate of this process; Django says what is wrong with it.
    own_slots = _make_slots(settings.REQUESTS_AT_ONCE, own or [Tier.REST])
    return lanes | dict.fromkeys([*own, Tier.SUBMIT], Lane(django, own_slots, settings.PAGE_SECONDS))


def make_pool_lanes(django: Application, tiers: Sequence[Tier]) -> dict[Tier, Lane]:
    """Return the lanes of a pool made for these tiers; what else comes to it (probes, mistakes) counts as the least of them."""
    lane = Lane(django, _make_slots(settings.REQUESTS_AT_ONCE, tiers), settings.PAGE_SECONDS)
    basics = Lane(django, _make_slots(_BASICS_AT_ONCE, [Tier.BASICS], waiting=32))
    return {**dict.fromkeys(Tier, lane), Tier.BASICS: basics}


async def close_lanes(lanes: Mapping[Tier, Lane]) -> None:
    """Close the connections to the pools."""
    for lane in lanes.values():
        if isinstance(lane.application, Forwarder):
            await lane.application.close()


def _make_slots(running: int, tiers: Sequence[Tier], *, waiting: int = _WAITING) -> Slots:
    return Slots(running=running, waiting=running * waiting, tiers=tiers)
