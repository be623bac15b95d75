"""Everything on the console's first page, read together and kept for two seconds: how many look, the database answers one."""

import dataclasses
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from django.contrib.admin.models import LogEntry
from django.db import connection

from config.console.picture import Drawing, Path, draw_lying, draw_standing
from config.console.route import draw_route, list_alarms
from config.health.cached import Cached
from config.health.readiness import find_faults
from config.metrics.figures import Figures, figures
from outbox.db import database_now, load_sql
from outbox.effects.failures import list_failed_effects, list_refused_effects, name_targets
from outbox.models import DeadLetter, EffectReceipt
from outbox.queue.dead_letters import list_dead_letters
from outbox.quorum import get_quorum, get_watch

MOST_SHOWN = 20
FEW_SHOWN = 5  # of what nobody has to act on
DONE_HERE = "Console: "  # how a deed of the console begins in Django's log of administration
_SECONDS_KEPT = 2.0
_PATIENCE = 5.0


class ExamInProgress(NamedTuple):
    """A row of `list_exams_in_progress.sql`."""

    id: UUID
    title: str
    school: str
    closes_at: datetime
    open: int
    handed_in: int
    graded: int
    to_mark: int
    failed: int
    waiting: int
    is_rehearsal: bool


@dataclasses.dataclass(frozen=True, slots=True)
class Standbys:
    """With `quorum`: how many standbys stream, how many are needed, and their names."""

    streaming: int
    needed: int
    members: tuple[str, ...]


@dataclasses.dataclass(frozen=True, slots=True)
class Overview:
    """One look at everything. Lists end at `MOST_SHOWN`, or sooner; the figures count all."""

    seen_at: datetime
    figures: Figures
    path: Path
    drawings: tuple[Drawing, ...]
    alarms: list[str]
    exams: list[ExamInProgress]
    dead_letters: list[DeadLetter]
    failed_effects: list[tuple[EffectReceipt, str]]
    refused_effects: list[tuple[EffectReceipt, str]]
    standbys: Standbys | None
    deeds: list[LogEntry]


def read_overview() -> Overview:
    """Read everything, in a number of queries that does not depend on how much there is."""
    found, durability = figures.get(), find_faults()["durability"]
    path = draw_route(found, durability=durability)
    return Overview(
        seen_at=database_now(),
        figures=found,
        path=path,
        drawings=(draw_lying(path), draw_standing(path)),
        alarms=list_alarms(found, durability=durability),
        exams=list_exams_in_progress(),
        dead_letters=list(list_dead_letters()[:MOST_SHOWN]),
        failed_effects=name_targets(list_failed_effects()[:MOST_SHOWN]),
        refused_effects=name_targets(list_refused_effects()[:FEW_SHOWN]) if found.relay.refused else [],
        standbys=find_standbys(),
        deeds=list_deeds(),
    )


overview = Cached(read_overview, seconds=_SECONDS_KEPT, patience=_PATIENCE)


def forget_overview() -> None:
    """Show what was done at once, at least in this process."""
    figures.forget()
    overview.forget()


def list_exams_in_progress() -> list[ExamInProgress]:
    """Return the exams that are being sat, or ended within the last hour."""
    with connection.cursor() as cursor:
        cursor.execute(load_sql("config", "list_exams_in_progress"), {"at_most": MOST_SHOWN})
        return [ExamInProgress(*row) for row in cursor.fetchall()]


def find_standbys() -> Standbys | None:
    """Return how the standbys are; None at the level `local`."""
    quorum = get_quorum()
    if quorum is None:
        return None
    last = get_watch().last
    return Standbys(last.streaming if last else 0, quorum.needed, quorum.members)


def list_deeds() -> list[LogEntry]:
    """Return what was done from the console lately, the last first."""
    done = LogEntry.objects.filter(change_message__startswith=DONE_HERE).select_related("user")
    return list(done.order_by("-action_time", "-pk")[:10])
