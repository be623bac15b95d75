"""What the pools behind the gate run: `students` the students' pages and API, `pages` everything for their teachers.

Django with a door of its own and no gate. Reached through the Unix socket of a `web` process, or from a reverse proxy (ADR 0015).
"""

import asyncio
import os

from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
_django = get_asgi_application()  # before anything that imports models

from config.admission.body_limit import limit_bodies  # noqa: E402
from config.admission.door import Application, Door, Receive, Scope, Send  # noqa: E402
from config.admission.forward import read_peer  # noqa: E402
from config.admission.lanes import make_pool_lanes  # noqa: E402
from config.admission.tiers import STAFF, STUDENTS  # noqa: E402
from exams.tokens import revocations  # noqa: E402


def _make(door: Door) -> Application:
    limited = limit_bodies(door)

    async def application(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await _live(receive, send)
        else:
            await limited(read_peer(scope), receive, send)

    return application


async def _live(receive: Receive, send: Send) -> None:
    """Follow the list of revoked tokens for as long as the process serves."""
    while True:
        message = await receive()
        if message["type"] == "lifespan.startup":
            revocations.start()
            await asyncio.to_thread(revocations.wait_until_loaded)
            await send({"type": "lifespan.startup.complete"})
        else:
            await asyncio.to_thread(revocations.stop)
            await send({"type": "lifespan.shutdown.complete"})
            return


students = _make(Door(make_pool_lanes(_django, STUDENTS)))
pages = _make(Door(make_pool_lanes(_django, STAFF)))
