"""The sheet as it was is the same before the copies are backfilled, half-way, and afterwards; a partial backfill is never shown as all."""

import datetime as dt
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from gradebook.models import Column, User
from gradebook.snapshots.phases import Phase
from projections.asof.eras import find_differences
from projections.asof.queries import list_differences_between
from projections.backfill.walking import backfill_chunk
from projections.models import WholeHistory
from tests import factories
from tests.cutover.copies import LONG_AGO, backfill, cells_of, enter, write_copy
from tests.cutover.old_class import CatchUp, OldClass, catch_up, old
from tests.gradebook.marks import save
from tests.people import World

__all__ = ["catch_up", "old"]
pytestmark = pytest.mark.django_db(transaction=True)


def minute(number: int) -> str:
    return (LONG_AGO + dt.timedelta(minutes=number)).isoformat()


def read(client: Client, old: OldClass, **query: str) -> Any:
    return client.get(reverse("asof:sheet", kwargs={"sheet_id": old.sheet.pk}), query).context


def look(client: Client, old: OldClass) -> list[Any]:
    """Return what the pages of several moments and differences show, in words and places."""
    moments = [minute(-1), minute(1), minute(3), minute(4)]
    grids = [read(client, old, at=moment)["grid"].rows for moment in moments] + [
        read(client, old)["grid"].rows
    ]
    shown = [[(name, [line.new for line in lines if line]) for name, lines in rows] for rows in grids]
    spans = [(moments[0], moments[1]), (moments[1], moments[2]), (moments[2], moments[3])]
    differences = [read(client, old, **{"from": after, "to": upto})["lines"] for after, upto in spans]
    differences.append(read(client, old, **{"from": moments[2]})["lines"])
    told = [
        [(line.change.event_id, line.change.pos, line.old, line.new, line.who) for line in lines]
        for lines in differences
    ]
    return [shown, told]


def test_a_moment_shows_the_same_whatever_has_been_backfilled(
    old: OldClass, teacher: User, catch_up: CatchUp
) -> None:
    enter(Phase.BESIDE)
    save(old.column, old.student, "8", version=1, by=teacher)
    catch_up()
    client = Client()
    client.force_login(teacher)

    untouched = look(client, old)
    backfill_chunk(old.sheet.pk, size=2)
    half_way = look(client, old)
    backfill()
    afterwards = look(client, old)

    of_student, of_other = old.student.full_name, old.other.full_name
    assert [dict(rows) for rows in afterwards[0]] == [
        {},
        {of_student: ["5"], of_other: ["7"]},
        {of_student: ["6.5"], of_other: ["absent"]},
        {of_student: ["—"], of_other: ["absent"]},
        {of_student: ["8"], of_other: ["absent"]},
    ]
    assert [sorted(each[2:4] for each in lines) for lines in afterwards[1]] == [
        [("—", "5"), ("—", "7")],
        [("5", "6.5"), ("7", "absent")],
        [("6.5", "—")],
        [("6.5", "8")],
    ]
    assert untouched == half_way == afterwards


def test_large_saves_of_the_old_system_are_offered_before_they_are_backfilled(
    world: World, old: OldClass, teacher: User
) -> None:
    columns: list[Column] = [factories.column(world.sheet, title=f"Test {number}") for number in range(6)]
    rows: dict[str, dict[str, dict[str, str]]] = {str(old.student.pk): {}}
    for column in columns:
        rows[str(old.student.pk)] |= cells_of(column, {old.student: "3"})[str(old.student.pk)]
    write_copy(world.sheet, rows, minute=9, action="imported")
    client = Client()
    client.force_login(teacher)

    before = read(client, old)["batches"]
    backfill_chunk(old.sheet.pk, size=1)
    half_way = read(client, old)["batches"]
    backfill()
    afterwards = read(client, old)["batches"]

    assert [(batch.cells, batch.first, batch.last, batch.reason) for batch in afterwards] == [
        (7, -7, -1, "imported")  # six new ones, and the other student's mark, which this copy no longer has
    ]
    assert before == half_way == afterwards


def test_differences_are_found_by_one_rule_in_both_places(
    old: OldClass, teacher: User, catch_up: CatchUp
) -> None:
    save(old.column, old.student, "8", version=1, by=teacher)
    backfill()
    catch_up()
    lines = list(WholeHistory.objects.filter(sheet_id=old.sheet.pk).order_by("pos"))
    places = [line.pos for line in lines]
    for after in (places[0] - 1, *places):
        for upto in places:
            between = WholeHistory.objects.filter(pos__gt=after, pos__lte=upto).order_by("pos")
            plain = [vars_of(line) for line in find_differences(between)]
            assert plain == [
                vars_of(line) for line in list_differences_between(after, upto, sheet_id=old.sheet.pk)
            ]


def vars_of(line: Any) -> dict[str, Any]:
    return {field.attname: getattr(line, field.attname) for field in WholeHistory._meta.concrete_fields}
