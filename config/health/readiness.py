"""Could this process acknowledge a submission now? What a load balancer asks each web process, as often as it likes.

Narrower than `/healthz`, which asks whether work handed in now would reach the marksheet: a dead worker is no reason to send students
away. The answer is at most a second old, so that probes cost nothing, and comes within three, also when the database is frozen.
"""

from collections.abc import Callable
from typing import Final

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.db import DatabaseError, connection
from django.http import HttpRequest, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from config.health.access import may_see_meters
from config.health.cached import Cached
from config.health.overall import is_migrated
from exams.gate.durability import durability_problem
from exams.receipt_keys import get_key_ring

Faults = dict[str, str | None]  # by check: what is wrong, in words, or None

SECONDS_KEPT: Final = 1.0
PATIENCE: Final = 3.0
_NOT_ASKED: Final = "Not known: the database does not answer."


def _check_database() -> str | None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
    return None


def _check_migrations() -> str | None:
    return None if is_migrated() else "The schema is not this version's (manage.py prepare)."


def _check_keys() -> str | None:
    get_key_ring()
    return None if settings.TOKEN_KEYS else "There is no key to sign tokens with (manage.py prepare)."


_ASKED: Final[dict[str, Callable[[], str | None]]] = {
    "database": _check_database,
    "migrations": _check_migrations,
    "durability": durability_problem,
}
CHECKS: Final = (*_ASKED, "keys")


def find_faults() -> Faults:
    """Run every check; what raises has failed. Takes no longer than `PATIENCE`, whatever the database does."""
    return {**_ask_database(), "keys": _run(_check_keys)}


def _ask_database() -> Faults:
    try:
        return asked.get()
    except DatabaseError as error:
        return {**dict.fromkeys(_ASKED, _NOT_ASKED), "database": _say(error)}


def _run(check: Callable[[], str | None]) -> str | None:
    try:
        return check()
    except (DatabaseError, ImproperlyConfigured) as error:
        return _say(error)


def _say(error: Exception) -> str:
    return str(error).strip().partition("\n")[0] or type(error).__name__


asked = Cached(
    lambda: {name: _run(check) for name, check in _ASKED.items()}, seconds=SECONDS_KEPT, patience=PATIENCE
)


@never_cache
@require_safe
def readyz(request: HttpRequest) -> JsonResponse:
    """Answer 200 when every check is well, else 503. The words of a fault are for those who may see the meters."""
    found = find_faults()
    is_ready = not any(found.values())
    shows_words = may_see_meters(request)
    checks = {name: _describe(fault, in_words=shows_words) for name, fault in found.items()}
    answer = JsonResponse(
        {"status": "ready" if is_ready else "not ready", "checks": checks}, status=200 if is_ready else 503
    )
    answer._has_been_logged = True  # type: ignore[attr-defined] # noqa: SLF001 - as for /healthz
    return answer


def _describe(fault: str | None, *, in_words: bool) -> str:
    if fault is None:
        return "ok"
    return f"failed: {fault}" if in_words else "failed"
