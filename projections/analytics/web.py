"""The pages of figures: of a mark sheet's columns, and of an exam with its questions. They read the projection and nothing else.

Figures may lag behind; as soon as they are further behind than their budget, the page says so.
"""

import dataclasses
import math
from itertools import groupby
from typing import Any
from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from exams.policies import list_result_classes
from gradebook import policies
from outbox.consumers.staleness import get_consumer_status
from projections.analytics.charts import BarChart, ItemChart, draw_bars, draw_items
from projections.analytics.figures import FEWEST
from projections.analytics.projector import Analytics
from projections.analytics.queries import (
    ColumnFigures,
    Distribution,
    ExamFigures,
    ItemFigures,
    get_exam_figures,
    list_column_figures,
)
from projections.analytics.words import judge_item


@dataclasses.dataclass(frozen=True, slots=True)
class DrawnColumn:
    """A column's figures with its picture; none while there are no marks in it."""

    figures: ColumnFigures
    chart: BarChart | None


@dataclasses.dataclass(frozen=True, slots=True)
class DrawnItems:
    """The questions of one revision: the picture, and each with what is worth knowing about it."""

    revision: int
    chart: ItemChart
    rows: list[tuple[ItemFigures, str]]


@login_required
@require_GET
def sheet_analytics(request: HttpRequest, sheet_id: UUID) -> HttpResponse:
    """Show each column of a mark sheet: its distribution and what it comes to."""
    name = policies.find_viewable_name(request.user, sheet_id) if request.user.is_authenticated else None
    if name is None:
        raise Http404
    columns = [DrawnColumn(each, _draw(each.distribution)) for each in list_column_figures(sheet_id=sheet_id)]
    has_marks = any(column.chart for column in columns)
    return _render(request, "sheet", sheet_id=sheet_id, sheet_name=name, columns=columns, has_marks=has_marks)


@login_required
@require_GET
def exam_analytics(request: HttpRequest, exam_id: UUID) -> HttpResponse:
    """Show an exam's scores and questions: of everybody who sat it, or of a class this person may look at (`?class=`)."""
    classes = list_result_classes(request.user, exam_id) if request.user.is_authenticated else []
    if not classes:
        raise Http404
    group_id = _read_group(request, {exam_id, *classes}) or exam_id
    figures = get_exam_figures(exam_id=exam_id, class_ids=classes, group_id=group_id)
    chart = _draw(figures.distribution) if figures.distribution else None
    return _render(request, "exam", figures=figures, chart=chart, papers=_draw_papers(figures))


def _read_group(request: HttpRequest, known: set[UUID]) -> UUID | None:
    """Return the group that was asked for, None where none was; one that is not this person's does not exist for them."""
    asked = request.GET.get("class", "")
    if not asked:
        return None
    group = next((each for each in known if str(each) == asked), None)
    if group is None:
        raise Http404
    return group


def _draw(distribution: Distribution) -> BarChart | None:
    return draw_bars(distribution.bins) if distribution.summary else None


def _draw_papers(figures: ExamFigures) -> list[DrawnItems]:
    papers = [
        (number, list(items)) for number, items in groupby(figures.items, key=lambda each: each.revision)
    ]
    return [
        DrawnItems(revision, draw_items(items), [(item, judge_item(item)) for item in items])
        for revision, items in papers
    ]


def _render(request: HttpRequest, page: str, **context: Any) -> HttpResponse:
    follower = get_consumer_status(Analytics.name)
    context |= {
        "follower": follower,
        "seconds_behind": math.ceil(follower.staleness.total_seconds()),
        "fewest": FEWEST,
    }
    return render(request, f"projections/analytics/{page}.html", context)
