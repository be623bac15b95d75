"""Is everything up? What `make run`, a load balancer and a person at a terminal ask first.

"Up" means that work handed in now would reach the marksheet: the database answers, it has our tables, and every kind of process that
carries the work has given a sign of life lately. A 503 names what is missing, within three seconds also when the database is frozen.
"""

from collections.abc import Iterator
from datetime import timedelta

from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpRequest, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from config.health.cached import Cached
from outbox.consumers.registry import list_consumers
from outbox.processes import list_roles_alive

FRESH = timedelta(seconds=15)  # processes beat once a second, also in the middle of long work
PATIENCE = 3.0
ROLES = ("worker", "sequencer", "sweeper")
# Databases seen with every migration applied: that does not change while this process lives.
_migrated: set[str] = set()


@never_cache
@require_safe
def healthz(request: HttpRequest) -> JsonResponse:
    """Answer 200 once everything is up, else 503 with what is missing."""
    missing = find_missing()
    answer = JsonResponse(
        {"status": "down" if missing else "up", "missing": missing}, status=503 if missing else 200
    )
    # Django would log each 503 as an error of ours; whoever asks is waiting for exactly this answer.
    answer._has_been_logged = True  # type: ignore[attr-defined] # noqa: SLF001
    return answer


def find_missing() -> list[str]:
    """Return what is not up, in words; empty when all is well."""
    try:
        return _asked.get()
    except DatabaseError:
        return ["database"]


def _check_all() -> Iterator[str]:
    if not is_migrated():
        yield "migrations"
        return
    alive = list_roles_alive(FRESH)
    yield from (role for role in list_expected_roles() if role not in alive)


def list_expected_roles() -> list[str]:
    """Return the roles somebody must be alive in: the fixed ones and each consumer of the log."""
    return [*ROLES, *(f"consumer:{consumer.name}" for consumer in list_consumers())]


def is_migrated() -> bool:
    """Say whether the database has every migration of this version."""
    name = str(connection.settings_dict["NAME"])
    if name not in _migrated:
        executor = MigrationExecutor(connection)
        if executor.migration_plan(executor.loader.graph.leaf_nodes()):
            return False
        _migrated.add(name)
    return True


_asked = Cached(lambda: list(_check_all()), seconds=0.0, patience=PATIENCE)
