"""Reads of the figures: a mark sheet's columns, an exam's scores and questions. A fixed number of queries, however many marks are behind them."""

import dataclasses
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from decimal import Decimal
from fractions import Fraction
from uuid import UUID

from projections.analytics.bins import Bin, share_out_values
from projections.analytics.figures import Summary, Sums, find_discrimination, get_difficulty, summarise
from projections.models import AnalyticsColumn, ColumnCount, ColumnExam, ExamGroup, ItemSum, ScoreCount

PERCENT = Fraction(100)


@dataclasses.dataclass(frozen=True, slots=True)
class Distribution:
    """Marks or scores taken together; `out_of` is the most there is to get, `codes` how often there was a code instead."""

    out_of: Fraction
    summary: Summary | None
    bins: list[Bin]
    codes: dict[str, int]
    is_percent: bool = False


@dataclasses.dataclass(frozen=True, slots=True)
class ColumnFigures:
    """One column of a mark sheet; `exam_id` where an exam's results were posted to it."""

    column_id: UUID
    title: str
    distribution: Distribution
    exam_id: UUID | None


@dataclasses.dataclass(frozen=True, slots=True)
class ItemFigures:
    """One question, by its place in the paper."""

    revision: int
    place: int
    out_of: Fraction
    number: int
    mean: Fraction
    difficulty: Fraction
    discrimination: Decimal | None


@dataclasses.dataclass(frozen=True, slots=True)
class ExamFigures:
    """An exam in one group: a class, or everybody who sat it. `groups` names those there are to look at, everybody first."""

    exam_id: UUID
    group_id: UUID
    title: str
    groups: dict[UUID, str]
    distribution: Distribution | None
    items: list[ItemFigures]


def list_column_figures(*, sheet_id: UUID) -> list[ColumnFigures]:
    """Return the columns of a sheet, the oldest first, each with its marks. Three queries."""
    there = AnalyticsColumn.objects.filter(sheet_id=sheet_id).exclude(title="")  # which was removed
    columns = list(there.order_by("column_id"))  # ids rise with time
    ids = [column.column_id for column in columns]
    counts: dict[UUID, list[ColumnCount]] = defaultdict(list)
    for count in ColumnCount.objects.filter(column_id__in=ids).order_by("code", "value"):
        counts[count.column_id].append(count)
    exams = dict(ColumnExam.objects.filter(column_id__in=ids).values_list("column_id", "exam_id"))
    return [
        ColumnFigures(
            column_id=column.column_id,
            title=column.title,
            distribution=_describe_column(column, counts[column.column_id]),
            exam_id=exams.get(column.column_id),
        )
        for column in columns
    ]


def get_exam_figures(*, exam_id: UUID, class_ids: Collection[UUID], group_id: UUID) -> ExamFigures:
    """Return an exam's figures in one group, and the names of those of these classes that sat it. Three queries."""
    names = ExamGroup.objects.filter(exam_id=exam_id, group_id__in=[exam_id, *class_ids])
    named = dict(names.order_by("name", "group_id").values_list("group_id", "name"))
    title = named.pop(exam_id, "")
    scores = ScoreCount.objects.filter(exam_id=exam_id, group_id=group_id)
    sums = ItemSum.objects.filter(exam_id=exam_id, group_id=group_id).order_by("revision", "place", "out_of")
    return ExamFigures(
        exam_id=exam_id,
        group_id=group_id,
        title=title,
        groups={exam_id: "Everybody", **named},
        distribution=_describe_scores(scores.values_list("max_points", "score", "number")),
        items=list(map(_describe_item, sums)),
    )


def _describe_column(column: AnalyticsColumn, counts: Iterable[ColumnCount]) -> Distribution:
    counts = list(counts)
    marks = {Fraction(count.value): count.number for count in counts if not count.code}
    codes = {count.code: count.number for count in counts if count.code}
    return _describe(marks, Fraction(column.max_points), codes)


def _describe_scores(rows: Iterable[tuple[Decimal, Decimal, int]]) -> Distribution | None:
    """Return the scores as points where all papers give as many; else as percent, because points would not compare."""
    found = {(Fraction(most), Fraction(score)): number for most, score, number in rows if most > 0}
    maxima = {most for most, _ in found}
    if not found:
        return None
    if len(maxima) == 1:
        return _describe({score: number for (_, score), number in found.items()}, maxima.pop())
    shares: dict[Fraction, int] = defaultdict(int)
    for (most, score), number in found.items():
        shares[score / most * PERCENT] += number
    return dataclasses.replace(_describe(shares, PERCENT), is_percent=True)


def _describe(
    counts: Mapping[Fraction, int], out_of: Fraction, codes: Mapping[str, int] | None = None
) -> Distribution:
    return Distribution(out_of, summarise(counts), share_out_values(counts, out_of), dict(codes or {}))


def _describe_item(row: ItemSum) -> ItemFigures:
    sums = Sums(row.number, *map(Fraction, (row.x, row.xx, row.xt, row.t, row.tt)))
    out_of = Fraction(row.out_of)
    return ItemFigures(
        revision=row.revision,
        place=row.place,
        out_of=out_of,
        number=row.number,
        mean=sums.x / sums.number,
        difficulty=get_difficulty(sums, out_of),
        discrimination=find_discrimination(sums),
    )
