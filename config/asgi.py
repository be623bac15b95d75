"""The door: one path goes to the gate, everything else through `config.admission.door` to Django or to the pools of other processes.

Django's handler costs more than the whole rest of a submission (ADR 0003), so `POST …/submission` never enters it. Any other
method on that path, and any other path, is Django's, here or in a pool behind a socket (ADR 0015).
"""

import os
import re
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
_django = get_asgi_application()  # before anything that imports models

from django.conf import settings  # noqa: E402
from django.urls import get_resolver  # noqa: E402

from config.admission.body_limit import limit_bodies  # noqa: E402
from config.admission.door import Door  # noqa: E402
from config.admission.lanes import close_lanes, make_lanes  # noqa: E402
from config.serving.shedding import Refusals  # noqa: E402
from exams.gate.asgi import application as _gate  # noqa: E402
from exams.gate.asgi import list_refusals  # noqa: E402

_lanes = make_lanes(_django, student_socket=settings.STUDENT_SOCKET, pages_socket=settings.PAGES_SOCKET)
_behind_the_gate = limit_bodies(Door(_lanes))

# All views are loaded now, not with the first request: what is there when the gate freezes its memory is never looked through by
# the collector again. Loaded later, a full pass over it stops the process for 30 ms in the middle of a burst.
_ = get_resolver().url_patterns

# What `config.serving.express` recognises by itself does not pass through `application`.
take_whole = _gate.take_whole
is_full = _gate.is_full
refusals = Refusals(list_refusals())

Scope = dict[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[Any], Awaitable[None]]

_SUBMISSION = re.compile(r"/api/v1/attempts/[^/]+/submission")


def is_submission(scope: Scope) -> bool:
    """Say whether this request is the gate's."""
    return (
        scope["type"] == "http"
        and scope["method"] == "POST"
        and _SUBMISSION.fullmatch(scope["path"]) is not None
    )


async def application(scope: Scope, receive: Receive, send: Send) -> None:
    """Send the request to the gate or past it. The gate also gets the lifespan: it has a committer to start and to stop."""
    if scope["type"] == "lifespan":
        await _gate(scope, receive, send)
        await close_lanes(_lanes)
    elif is_submission(scope):
        await _gate(scope, receive, send)
    else:
        await _behind_the_gate(scope, receive, send)
