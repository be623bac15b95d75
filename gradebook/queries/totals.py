"""Totals as they are now, worked out from the marks that are there: nothing here reads a stored total."""

import dataclasses
import hashlib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from uuid import UUID

from gradebook.entries import Entry
from gradebook.models import Category, Column, LetterStep, Mark, MarkSheet, Scheme, Treatment
from gradebook.queries.sheets import list_students
from gradebook.totals import Group, Item, Rules, Total, find_total


@dataclasses.dataclass(frozen=True, slots=True)
class SheetRules:
    """What the totals of one sheet are worked out by."""

    items: tuple[Item, ...]
    rules: Rules

    @property
    def digest(self) -> str:
        """A short text that differs when anything in it does."""
        text = repr((self.items, self.rules))
        return hashlib.sha256(text.encode()).hexdigest()[:16]


@dataclasses.dataclass(frozen=True, slots=True)
class StudentTotal:
    """One student's marks in a sheet, by column, and what they make."""

    name: str
    entries: Mapping[UUID, Entry]
    total: Total


def read_rules(sheets: Iterable[UUID]) -> dict[UUID, SheetRules]:
    """Return the rules of these sheets. Four queries, however many they are."""
    ids = list(sheets)
    columns: defaultdict[UUID, list[Item]] = defaultdict(list)
    for column in Column.objects.filter(sheet__in=ids).order_by("position", "id"):
        columns[column.sheet_id].append(
            Item(column.pk, column.max_points.normalize(), column.category_id, column.is_bonus)
        )
    groups: defaultdict[UUID, list[Group]] = defaultdict(list)
    for category in Category.objects.filter(sheet__in=ids):
        groups[category.sheet_id].append(
            Group(category.pk, category.weight.normalize(), category.drop_lowest)
        )
    schemes = Scheme.objects.in_bulk(ids)
    steps: defaultdict[UUID, list[LetterStep]] = defaultdict(list)
    for step in LetterStep.objects.filter(scale__in={scheme.scale_id for scheme in schemes.values()}):
        steps[step.scale_id].append(step)
    return {
        sheet_id: SheetRules(tuple(columns[sheet_id]), _rules(groups[sheet_id], schemes.get(sheet_id), steps))
        for sheet_id in ids
    }


def _rules(
    groups: Sequence[Group], scheme: Scheme | None, steps: Mapping[UUID, Sequence[LetterStep]]
) -> Rules:
    if scheme is None:
        return Rules(groups=tuple(groups))
    letters = steps[scheme.scale_id] if scheme.scale_id else ()
    return Rules(
        groups=tuple(groups),
        absent=Treatment(scheme.absent),
        missing=Treatment(scheme.missing),
        blank=Treatment(scheme.blank),
        letters=tuple((step.letter, step.least_percent) for step in letters),
    )


def find_totals(
    sheet_ids: Iterable[UUID], rules: Mapping[UUID, SheetRules]
) -> dict[tuple[UUID, UUID], Total]:
    """Return the totals of everybody who has a mark row in these sheets, by (sheet, student). One query."""
    return {
        key: find_total(rules[key[0]].items, entries, rules[key[0]].rules)
        for key, entries in _read_entries(sheet_ids).items()
    }


def list_sheet_totals(sheet: MarkSheet) -> list[StudentTotal]:
    """Return the total of everybody on a sheet, by name. Six queries."""
    rules = read_rules([sheet.pk])[sheet.pk]
    entries = _read_entries([sheet.pk])
    return [
        StudentTotal(student.full_name, mine, find_total(rules.items, mine, rules.rules))
        for student in list_students(sheet)
        for mine in [entries.get((sheet.pk, student.pk), {})]
    ]


def _read_entries(sheet_ids: Iterable[UUID]) -> dict[tuple[UUID, UUID], dict[UUID, Entry]]:
    """Return the marks of these sheets: by (sheet, student), then by column."""
    marks: defaultdict[tuple[UUID, UUID], dict[UUID, Entry]] = defaultdict(dict)
    rows = Mark.objects.filter(sheet__in=list(sheet_ids)).values_list(
        "sheet_id", "student_id", "column_id", "value", "code"
    )
    for sheet_id, student_id, column_id, value, code in rows.iterator():
        marks[sheet_id, student_id][column_id] = Entry(value, code)
    return marks
