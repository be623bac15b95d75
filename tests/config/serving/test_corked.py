"""An answer leaves in one packet, whatever the protocol writes it in."""

import asyncio
from typing import Any

from asgiref.sync import async_to_sync

from config.serving.corked import CorkedTransport


class Wire(asyncio.Protocol):
    """The far end: what arrived, packet by packet, and that it ended."""

    def __init__(self) -> None:
        self.packets: list[bytes] = []
        self.has_ended = asyncio.Event()

    def data_received(self, data: bytes) -> None:
        self.packets.append(data)

    def connection_lost(self, error: Exception | None) -> None:
        self.has_ended.set()


class Recorder:
    """A transport that remembers the system calls it would make."""

    def __init__(self) -> None:
        self.calls: list[bytes | str] = []

    def write(self, data: bytes) -> None:
        self.calls.append(data)

    def close(self) -> None:
        self.calls.append("close")

    def is_closing(self) -> bool:
        return "close" in self.calls

    def get_extra_info(self, name: str) -> str:
        return f"the {name}"


def corked() -> tuple[CorkedTransport, Recorder]:
    recorder = Recorder()
    transport: Any = recorder
    return CorkedTransport(transport, asyncio.get_running_loop()), recorder


def test_what_is_written_now_leaves_at_once_but_after_what_is_held() -> None:
    async def run() -> list[bytes | str]:
        transport, recorder = corked()
        transport.write(b"held")
        transport.write_now(b"now")
        transport.write_now(b"again")
        await asyncio.sleep(0)
        return recorder.calls

    assert async_to_sync(run)() == [b"held", b"now", b"again"]


def test_what_is_written_in_one_turn_leaves_together_at_its_end() -> None:
    async def run() -> list[bytes | str]:
        transport, recorder = corked()
        transport.write(b"head ")
        transport.write(b"body")
        assert recorder.calls == []
        await asyncio.sleep(0)
        transport.write(b"later")
        await asyncio.sleep(0)
        return recorder.calls

    assert async_to_sync(run)() == [b"head body", b"later"]


def test_what_is_held_leaves_before_the_connection_is_closed() -> None:
    async def run() -> list[bytes | str]:
        transport, recorder = corked()
        transport.write(b"last words")
        transport.close()
        await asyncio.sleep(0)
        return recorder.calls

    assert async_to_sync(run)() == [b"last words", "close"]


def test_nothing_is_written_to_a_connection_that_is_gone() -> None:
    async def run() -> list[bytes | str]:
        transport, recorder = corked()
        transport.write(b"too late")
        recorder.close()  # the other side hung up in the same turn
        await asyncio.sleep(0)
        return recorder.calls

    assert async_to_sync(run)() == ["close"]


def test_everything_else_is_the_transports_own() -> None:
    async def run() -> str:
        transport, _ = corked()
        return str(transport.get_extra_info("peername"))

    assert async_to_sync(run)() == "the peername"


def test_large_answer_arrives_whole_over_a_real_connection() -> None:
    async def run() -> bytes:
        loop, far = asyncio.get_running_loop(), Wire()
        server = await loop.create_server(lambda: far, "127.0.0.1", 0)
        async with server:
            port = server.sockets[0].getsockname()[1]
            transport, _ = await loop.create_connection(asyncio.Protocol, "127.0.0.1", port)
            cork = CorkedTransport(transport, loop)
            for _ in range(64):
                cork.write(b"x" * 65_536)
            cork.close()
            await far.has_ended.wait()
        return b"".join(far.packets)

    assert async_to_sync(run)() == b"x" * (64 * 65_536)
