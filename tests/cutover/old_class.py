"""A class that comes from the old system: its copies, and marks that are what the newest of them says."""

import dataclasses
from collections.abc import Callable
from io import StringIO

import pytest
from django.core.management import call_command

from gradebook.models import Column, MarkSheet, MarkSnapshot, User
from gradebook.snapshots.carrying import carry_over_marks
from outbox.consumers.batches import run_batch
from outbox.log.sequencer import sequence_events
from projections.history.projector import MarksheetHistory
from tests import factories
from tests.cutover.copies import cells_of, write_steps
from tests.people import World

CatchUp = Callable[[], None]


@dataclasses.dataclass(frozen=True, slots=True)
class OldClass:
    """One column, two students, five copies with five changes; the third copy says what the second said."""

    sheet: MarkSheet
    column: Column
    student: User
    other: User
    copies: list[MarkSnapshot]


@pytest.fixture
def old(world: World, student: User, other_student: User, teacher: User) -> OldClass:
    """The class, its present taken over."""
    column = factories.column(world.sheet, title="Essay")
    contents = (
        {student: "5"},
        {student: "5", other_student: "7"},
        {student: "5", other_student: "7"},
        {student: "6.5", other_student: "absent"},
        {student: "", other_student: "absent"},
    )
    copies = write_steps(world.sheet, [cells_of(column, texts) for texts in contents])
    carry_over_marks(sheet=world.sheet, by=teacher)
    return OldClass(world.sheet, column, student, other_student, copies)


@pytest.fixture
def catch_up(db: None) -> Callable[[], None]:
    """Number every event and let the history read all of them."""

    def run() -> None:
        sequence_events()
        while run_batch(MarksheetHistory()).more:
            pass

    return run


def cutover(*arguments: str) -> str:
    """Run the command, and return what it printed."""
    output = StringIO()
    call_command("cutover", *arguments, stdout=output, no_color=True)
    return output.getvalue()
