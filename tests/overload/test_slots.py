"""Places and the queue for them: who gets one, who waits, who is turned away, in which order."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest
from asgiref.sync import async_to_sync

from config.admission.slots import Slots, share_out
from config.admission.tiers import Tier
from exams.errors import Overloaded

TIERS = (Tier.WORK, Tier.STATUS, Tier.TEACHING, Tier.REST)


class Crowd:
    """Requests that run until they are told to end; `log` says what became of whom, in order."""

    def __init__(self, slots: Slots) -> None:
        self.slots = slots
        self.log: list[str] = []
        self._ends: dict[str, asyncio.Event] = {}
        self._tasks: list[asyncio.Task[None]] = []

    async def come(self, name: str, tier: Tier) -> None:
        self._ends[name] = asyncio.Event()
        self._tasks.append(asyncio.create_task(self._serve(name, tier)))
        await settle()

    async def end(self, name: str) -> None:
        self._ends[name].set()
        await settle()

    async def end_all(self) -> None:
        for end in self._ends.values():
            end.set()
        await asyncio.gather(*self._tasks)

    async def _serve(self, name: str, tier: Tier) -> None:
        try:
            async with self.slots.hold(tier):
                self.log.append(f"{name} in")
                await self._ends[name].wait()
        except Overloaded:
            self.log.append(f"{name} shed")


async def settle() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


def crowd(
    story: Callable[[Crowd], Awaitable[None]], *, running: int, waiting: int, patience: float = 60.0
) -> Crowd:
    """Tell a story in which everybody who came is gone at the end, and nothing is left held."""

    async def tell() -> Crowd:
        found = Crowd(Slots(running=running, waiting=waiting, tiers=TIERS, patience=patience))
        await story(found)
        await found.end_all()
        assert found.slots.count() == (0, 0)
        return found

    return async_to_sync(tell)()


def test_places_are_shared_out_so_that_each_tier_leaves_some_to_those_above_it() -> None:
    assert share_out(10, TIERS) == {Tier.WORK: 10, Tier.STATUS: 8, Tier.TEACHING: 6, Tier.REST: 4}
    assert share_out(8, TIERS) == {Tier.WORK: 8, Tier.STATUS: 7, Tier.TEACHING: 5, Tier.REST: 4}
    assert share_out(1, TIERS) == dict.fromkeys(TIERS, 1)


def test_lesser_tiers_never_take_the_places_kept_for_those_above() -> None:
    async def story(them: Crowd) -> None:
        for tier in reversed(TIERS):
            for number in range(10):
                await them.come(f"{tier}{number}", tier)

    found = crowd(story, running=10, waiting=0)

    entered = [line.removesuffix(" in")[:-1] for line in found.log if line.endswith("in")]
    assert entered == ["rest"] * 4 + ["teaching"] * 2 + ["status"] * 2 + ["work"] * 2


def test_whoever_matters_most_gets_the_next_place_and_equals_keep_their_order() -> None:
    async def story(them: Crowd) -> None:
        await them.come("first", Tier.WORK)
        for name, tier in (("r", Tier.REST), ("s1", Tier.STATUS), ("w", Tier.WORK), ("s2", Tier.STATUS)):
            await them.come(name, tier)
        for name in ("first", "w", "s1", "s2"):
            await them.end(name)

    found = crowd(story, running=1, waiting=4)

    assert found.log == ["first in", "w in", "s1 in", "s2 in", "r in"]


def test_full_queue_turns_away_the_last_of_the_least_for_somebody_who_matters_more() -> None:
    async def story(them: Crowd) -> None:
        await them.come("first", Tier.WORK)
        await them.come("r1", Tier.REST)
        await them.come("r2", Tier.REST)
        await them.come("r3", Tier.REST)
        await them.come("t", Tier.TEACHING)
        await them.come("s", Tier.STATUS)
        await them.come("w", Tier.WORK)
        await them.come("late", Tier.TEACHING)

    found = crowd(story, running=1, waiting=2)

    assert found.log[:6] == ["first in", "r3 shed", "r2 shed", "r1 shed", "t shed", "late shed"]
    assert found.log[6:] == ["w in", "s in"]


def test_check_refuses_before_the_body_exactly_when_a_place_could_not_be_had() -> None:
    async def story(them: Crowd) -> None:
        them.slots.check(Tier.REST)
        await them.come("first", Tier.WORK)
        await them.come("t", Tier.TEACHING)
        them.slots.check(Tier.STATUS)  # would take t's place in the queue
        for tier in (Tier.TEACHING, Tier.REST):
            with pytest.raises(Overloaded) as refused:
                them.slots.check(tier)
            assert refused.value.retry_after in range(1, 6)

    assert crowd(story, running=1, waiting=1).log == ["first in", "t in"]


def test_nobody_waits_longer_than_their_patience() -> None:
    async def story(them: Crowd) -> None:
        await them.come("first", Tier.WORK)
        await them.come("waiting", Tier.WORK)
        async with asyncio.timeout(20):
            while "waiting shed" not in them.log:  # noqa: ASYNC110 - the clock decides, nobody tells
                await asyncio.sleep(0.01)
        assert them.slots.count() == (1, 0)

    assert crowd(story, running=1, waiting=1, patience=0.05).log == ["first in", "waiting shed"]


def test_place_goes_on_when_its_holder_or_somebody_waiting_is_cancelled() -> None:
    async def story(them: Crowd) -> None:
        for name in ("first", "gone", "next"):
            await them.come(name, Tier.WORK)
        them._tasks[1].cancel()
        them._tasks[0].cancel()
        await asyncio.wait(them._tasks[:2])
        del them._tasks[:2]
        await settle()

    assert crowd(story, running=1, waiting=5).log == ["first in", "next in"]


def test_tier_that_is_served_elsewhere_counts_as_the_least() -> None:
    async def tell() -> tuple[int, int]:
        slots = Slots(running=5, waiting=0, tiers=[Tier.TEACHING, Tier.REST])
        async with slots.hold(Tier.WORK), slots.hold(Tier.REST), slots.hold(Tier.REST), slots.hold(Tier.REST):
            with pytest.raises(Overloaded):
                slots.check(Tier.WORK)
            slots.check(Tier.TEACHING)
            return slots.count()

    assert async_to_sync(tell)() == (4, 0)
