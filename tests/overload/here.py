"""A real web server in the test's own event loop, for applications that a test writes itself."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from typing import Any

import uvicorn

from config.admission.door import Application

QUIET: dict[str, Any] = {"lifespan": "off", "log_level": "critical", "interface": "asgi3"}


async def until(condition: Callable[[], object]) -> None:
    """Let the loop turn until something is so."""
    async with asyncio.timeout(20):
        while not condition():  # noqa: ASYNC110 - nothing announces these conditions
            await asyncio.sleep(0.005)


@contextlib.asynccontextmanager
async def serving_here(application: Application, **options: Any) -> AsyncIterator[uvicorn.Server]:
    """Serve this application for the length of the block; options are uvicorn's."""
    server = uvicorn.Server(uvicorn.Config(application, **QUIET, **options))
    server.install_signal_handlers = lambda: None  # type: ignore[attr-defined]  # the test's own stay
    task = asyncio.create_task(server.serve())
    try:
        await until(lambda: server.started)
        yield server
    finally:
        server.should_exit = True
        await task
