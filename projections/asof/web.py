"""The page of a mark sheet as it was (`?at=`), and of what is different between two moments (`?from=`, `?to=`). Reads the history only.

A moment is a time on the school's clock or a position of the log, as a report card cites it. The history may lag; then the page says
so, as the history page does.
"""

import dataclasses
import math
from datetime import datetime
from typing import Any
from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_GET

from gradebook import policies
from outbox.consumers.staleness import ConsumerStatus, get_consumer_status
from projections.asof.eras import SheetPast
from projections.asof.grid import lay_out, look_up
from projections.asof.moments import Asked, read_moment
from projections.asof.queries import AFTER_ALL
from projections.history.lines import describe_changes
from projections.history.projector import MarksheetHistory


@dataclasses.dataclass(frozen=True, slots=True)
class Point:
    """A moment that was asked for, as a position or as a time (then `moment`), and the position it stands for."""

    moment: datetime | None
    pos: int

    @property
    def is_now(self) -> bool:
        """Whether nothing was named, and everything counts that has come."""
        return self.pos == AFTER_ALL


@login_required
@require_GET
def sheet_as_of(request: HttpRequest, sheet_id: UUID) -> HttpResponse:
    """Show the sheet at a moment (now, unless one is named), or with `?from=` what is different since."""
    name = policies.find_viewable_name(request.user, sheet_id) if request.user.is_authenticated else None
    if name is None:
        raise Http404
    follower = get_consumer_status(MarksheetHistory.name)
    asked = {name: request.GET[name] for name in ("at", "from", "to") if request.GET.get(name)}
    read = {name: _read(text, follower) for name, text in asked.items()}
    context = {
        "sheet_id": sheet_id,
        "sheet_name": name,
        "wrong": [asked[name] for name in asked if read[name] is None],
    }
    past = SheetPast(sheet_id)
    if not context["wrong"]:
        points = {name: _find(moment, past) for name, moment in read.items() if moment}
        context |= _difference(points, past) if "from" in points else _state(points, past)
        context["is_ahead"] = any(_is_ahead(point, follower) for point in points.values())
    return _render(request, follower, context | {"batches": past.list_recent_batches()})


def _read(text: str, follower: ConsumerStatus) -> Asked | None:
    """Return what is meant, None where it is nothing that the history could show: also a position of another epoch of the log."""
    asked = read_moment(text)
    here = (follower.position.epoch, follower.position.shard)
    return None if asked and asked.log not in (None, here) else asked


def _find(asked: Asked, past: SheetPast) -> Point:
    if asked.moment is None:
        assert asked.pos is not None
        return Point(None, asked.pos)
    return Point(asked.moment, past.find_position_at(asked.moment))


def _now() -> Point:
    return Point(timezone.now(), AFTER_ALL)


def _state(points: dict[str, Point], past: SheetPast) -> dict[str, Any]:
    point = points.get("at") or _now()
    return {"point": point, "grid": lay_out(past.list_cells_as_of(point.pos))}


def _difference(points: dict[str, Point], past: SheetPast) -> dict[str, Any]:
    """Return what is different, whichever way round the two moments were named."""
    before, after = sorted((points["from"], points.get("to") or _now()), key=lambda point: point.pos)
    found = past.list_differences_between(before.pos, after.pos)
    changes = sorted(found, key=lambda line: (look_up(line.student_name), line.student_id, line.column_id))
    return {"before": before, "after": after, "lines": list(describe_changes(changes))}


def _is_ahead(point: Point, follower: ConsumerStatus) -> bool:
    """Whether a position was named that the history has not come to: what is shown is not all of it."""
    return point.moment is None and point.pos > follower.position.pos


def _render(request: HttpRequest, follower: ConsumerStatus, context: dict[str, Any]) -> HttpResponse:
    context |= {
        "follower": follower,
        "seconds_behind": math.ceil(follower.staleness.total_seconds()),
    }
    return render(request, "projections/asof.html", context, status=400 if context["wrong"] else 200)
