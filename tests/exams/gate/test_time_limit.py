"""The bound on waiting behaves as `asyncio.timeout` does."""

import asyncio

import pytest
from asgiref.sync import async_to_sync

from exams.gate.time_limit import TimeLimit


async def wait(limit: TimeLimit, event: asyncio.Event) -> str:
    with limit:
        await event.wait()
    return "done"


def test_wait_within_the_limit_is_left_alone() -> None:
    async def run() -> str:
        event = asyncio.Event()
        asyncio.get_running_loop().call_soon(event.set)
        return await wait(TimeLimit(20), event)

    assert async_to_sync(run)() == "done"


def test_wait_beyond_the_limit_ends_and_the_task_goes_on() -> None:
    async def run() -> tuple[str, int]:
        try:
            await wait(TimeLimit(0.01), asyncio.Event())
        except TimeoutError:
            await asyncio.sleep(0)  # a task that was still cancelled would end here
        task = asyncio.current_task()
        assert task is not None
        return "went on", task.cancelling()

    assert async_to_sync(run)() == ("went on", 0)


def test_each_wait_is_bounded_by_its_own_beginning() -> None:
    async def run() -> list[object]:
        limit, event = TimeLimit(0.2), asyncio.Event()
        early = asyncio.create_task(wait(limit, asyncio.Event()))
        await asyncio.sleep(0.15)
        late = asyncio.create_task(wait(limit, event))
        ended = await asyncio.wait([early, late], return_when=asyncio.FIRST_COMPLETED)
        assert ended[0] == {early}
        event.set()
        return list(await asyncio.gather(early, late, return_exceptions=True))

    timed_out, done = async_to_sync(run)()

    assert isinstance(timed_out, TimeoutError)
    assert done == "done"


def test_cancellation_by_somebody_else_stays_a_cancellation() -> None:
    async def run() -> None:
        waiting = asyncio.create_task(wait(TimeLimit(20), asyncio.Event()))
        await asyncio.sleep(0)
        waiting.cancel()
        await waiting

    with pytest.raises(asyncio.CancelledError):
        async_to_sync(run)()


def test_error_within_the_limit_passes_through() -> None:
    async def run() -> None:
        with TimeLimit(20):
            raise LookupError

    with pytest.raises(LookupError):
        async_to_sync(run)()


def test_limit_can_be_used_again_after_it_struck() -> None:
    async def run() -> str:
        limit, event = TimeLimit(0.01), asyncio.Event()
        with pytest.raises(TimeoutError):
            await wait(limit, event)
        event.set()
        return await wait(limit, event)

    assert async_to_sync(run)() == "done"
