"""The least a server can do: uvloop reads a piece and writes an answer, and nobody looks at either. Nearly all of that is the kernel's."""

import asyncio
import contextlib
import multiprocessing
from collections.abc import Iterator
from multiprocessing.connection import Connection
from typing import Any

import psutil
import uvloop

_BACKLOG = 4096


@contextlib.contextmanager
def serving_bare(answer: bytes) -> Iterator[tuple[psutil.Process, int]]:
    """Run a server that gives this answer to whatever it reads."""
    spawn = multiprocessing.get_context("spawn")
    ours, theirs = spawn.Pipe()
    process = spawn.Process(target=serve_bare, args=(theirs, answer))
    process.start()
    try:
        yield psutil.Process(process.pid), ours.recv()
    finally:
        ours.send(None)
        process.join()


def serve_bare(pipe: Connection, answer: bytes) -> None:
    """Serve until something comes through the pipe; the port goes out through it."""

    class Bare(asyncio.Protocol):
        def connection_made(self, transport: Any) -> None:
            self._transport = transport

        def data_received(self, data: bytes) -> None:
            self._transport.write(answer)

    async def serve() -> None:
        server = await asyncio.get_running_loop().create_server(Bare, "127.0.0.1", 0, backlog=_BACKLOG)
        pipe.send(server.sockets[0].getsockname()[1])
        await asyncio.to_thread(pipe.recv)

    uvloop.run(serve())
