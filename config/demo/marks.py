"""The demo's marks: columns filled by one teacher, some cells corrected by the other, all through the real service."""

import random
from collections.abc import Iterator
from decimal import Decimal
from uuid import UUID

from config.demo.plan import ColumnPlan, CoursePlan
from config.demo.structure import DemoClass
from gradebook.cells import CellChange, CellKey
from gradebook.entries import Entry
from gradebook.models import Column, MarkCode, User
from gradebook.services.columns import add_column
from gradebook.services.marks import save_marks

SPREAD = 0.22  # how far marks scatter around the class's level
CHANCE_OF_CODE = 0.05
CHANCE_OF_BLANK = 0.04
CHANCE_OF_CORRECTION = 0.12

Plans = dict[UUID, tuple[Column, ColumnPlan]]  # by column


def fill_sheet(*, group: DemoClass, course: CoursePlan, dice: random.Random) -> None:
    """Add the course's columns to the class's sheet, fill them, and correct some."""
    sheet = group.sheets[course.code]
    author, colleague = group.teachers[course.code]
    plans = {}
    for plan in course.columns:
        column = add_column(sheet=sheet, title=plan.title, max_points=Decimal(plan.max_points), by=author)
        plans[column.pk] = (column, plan)
    first = list(_draw_marks(plans, group.students, dice))
    save_marks(sheet=sheet, changes=first, by=author)
    save_marks(sheet=sheet, changes=list(_draw_corrections(first, plans, dice)), by=colleague)


def _draw_marks(plans: Plans, students: list[User], dice: random.Random) -> Iterator[CellChange]:
    for column, plan in plans.values():
        for student in students:
            if dice.random() >= CHANCE_OF_BLANK:
                yield CellChange(CellKey(column.pk, student.pk), version=0, entry=_draw_entry(plan, dice))


def _draw_corrections(first: list[CellChange], plans: Plans, dice: random.Random) -> Iterator[CellChange]:
    for change in first:
        if dice.random() < CHANCE_OF_CORRECTION:
            yield CellChange(change.key, version=1, entry=_draw_entry(plans[change.key.column_id][1], dice))


def _draw_entry(plan: ColumnPlan, dice: random.Random) -> Entry:
    if dice.random() < CHANCE_OF_CODE:
        return Entry(code=dice.choice([MarkCode.ABSENT, MarkCode.EXCUSED]).value)
    share = min(1.0, max(0.0, dice.gauss(plan.level, SPREAD)))
    return Entry(value=Decimal(round(share * plan.max_points * 2)) / 2)  # half points, as teachers give them
