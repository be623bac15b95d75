"""Words the gradebook's tests share: one cell, one change, and what the log says about it."""

import datetime as dt
from collections.abc import Iterable
from decimal import Decimal
from typing import Any

from gradebook.cells import AutomaticMark, CellChange, CellKey
from gradebook.entries import Refused, plain, read_entry
from gradebook.events import cell_subject
from gradebook.models import Column, Mark, User
from gradebook.services.marks import PostOutcome, SaveOutcome, post_automatic_marks, save_marks
from outbox.models.log import Event

NOON = dt.datetime(2026, 11, 29, 12, tzinfo=dt.UTC)


def change(column: Column, student: User, text: str, version: int = 0) -> CellChange:
    """What a teacher typed into a cell, based on a version of it."""
    entry = read_entry(text, decimal_sign=".")
    assert not isinstance(entry, Refused), entry
    return CellChange(CellKey(column.pk, student.pk), version, entry)


def save(column: Column, student: User, text: str, version: int = 0, *, by: User) -> SaveOutcome:
    """Save one cell."""
    return save_marks(sheet=column.sheet, changes=[change(column, student, text, version)], by=by)


def post(column: Column, student: User, value: str, minute: int = 0) -> PostOutcome:
    """Post one result, found some minutes after noon."""
    at = NOON + dt.timedelta(minutes=minute)
    return post_automatic_marks(posts=[AutomaticMark(CellKey(column.pk, student.pk), Decimal(value), at)])


def shown(column: Column, student: User) -> str | None:
    """What the cell's row shows: a number, a code, `""` for a cleared cell, None where no row is."""
    mark = Mark.objects.filter(column=column, student=student).first()
    return None if mark is None else _text(mark)


def _text(mark: Mark) -> str:
    return mark.code or ("" if mark.value is None else plain(mark.value))


def list_facts(column: Column, student: User) -> list[dict[str, Any]]:
    """The payloads of the cell's events, in their order; the versions must be 1, 2, 3 …"""
    events = Event.objects.filter(subject=cell_subject(column.pk, student.pk)).order_by("seq")
    assert [event.subject_version for event in events] == list(range(1, len(events) + 1))
    return [event.payload for event in events]


def list_steps(column: Column, student: User) -> list[tuple[Any, ...]]:
    """Each change of a cell as (reason, old, new): what its history will say."""
    return [
        (fact["reason"], _state(fact["old"]), _state(fact["new"])) for fact in list_facts(column, student)
    ]


def _state(state: dict[str, Any] | None) -> str | None:
    return None if state is None else state["code"] or state["value"] or ""


def count_events(columns: Iterable[Column]) -> int:
    """How many events these columns' cells have, all together."""
    return sum(Event.objects.filter(subject__startswith=f"cell:{column.pk}:").count() for column in columns)
