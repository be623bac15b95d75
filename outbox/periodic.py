"""Work that comes back: once per planned moment, however many processes believe it is theirs.

A moment is a multiple of the work's period on the database's clock. Whoever makes its row does the work; a second beat, or the
sweeper beside it, finds the row and leaves. Work whose process dies is not repeated for that moment; the next moment makes
up for it, so periodic work does all there is to do, not what came since the last time.
"""

import dataclasses
import logging
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from django.db.models import Exists, OuterRef
from django.db.models.functions import Now

from outbox.db import database_now, is_transient
from outbox.models.effects import PlannedMoment

logger = logging.getLogger(__name__)

MOMENTS_KEPT = timedelta(days=7)
EPOCH = datetime(2000, 1, 1, tzinfo=UTC)


@dataclasses.dataclass(frozen=True, slots=True)
class Periodic:
    """Work to be done every so often; `run` returns how many things it did."""

    name: str
    every: timedelta
    run: Callable[[], int]


_registered: dict[str, Periodic] = {}


def register_periodic(work: Periodic) -> None:
    """Have it done. Called in `AppConfig.ready`; the same name twice is a defect."""
    if _registered.setdefault(work.name, work) is not work:
        raise ValueError(f"Two sorts of periodic work are called {work.name!r}.")


def unregister_periodic(name: str) -> None:
    """Forget it (tests register their own for a while)."""
    del _registered[name]


def find_moment(now: datetime, every: timedelta) -> datetime:
    """Return the latest planned moment that is not after now."""
    return EPOCH + (now - EPOCH) // every * every


def run_planned() -> int:
    """Do all work whose moment has come and that nobody took; return how many sorts of work were done."""
    now = database_now()
    return sum(_run_once(work, find_moment(now, work.every)) for work in list(_registered.values()))


def prune_moments() -> int:
    """Forget moments long past; return how many.

    The last one of each work stays, or work that comes back more rarely than this would be done twice at one moment.
    """
    later = PlannedMoment.objects.filter(work=OuterRef("work"), planned_at__gt=OuterRef("planned_at"))
    return PlannedMoment.objects.filter(Exists(later), planned_at__lt=Now() - MOMENTS_KEPT).delete()[0]


def _run_once(work: Periodic, moment: datetime) -> bool:
    row, is_ours = PlannedMoment.objects.get_or_create(work=work.name, planned_at=moment)
    if not is_ours:
        return False
    try:
        done = work.run()
    except Exception as error:
        if is_transient(error):
            raise
        logger.exception("%s failed; its next moment is %s.", work.name, moment + work.every)
        PlannedMoment.objects.filter(pk=row.pk).update(error=type(error).__name__)
    else:
        PlannedMoment.objects.filter(pk=row.pk).update(finished_at=Now(), done=done)
    return True
