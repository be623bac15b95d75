"""Analytics = working it out from scratch: however changes come, are cut into batches, come again or are replayed, the figures are those of a
slow plain reference over what stands in each cell and attempt at the end, exactly.
"""

import dataclasses
import random
import statistics
from collections import Counter
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any
from uuid import UUID

import pytest
from django.db import connection, transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gradebook.events import Reason
from outbox.consumers.batches import BatchOutcome, run_batch
from outbox.consumers.beside import rebuild_beside
from outbox.consumers.consumer import Batch
from outbox.consumers.rebuild import begin_rebuild
from outbox.consumers.tables import bind_live_tables
from outbox.log.publish import NewEvent, publish
from outbox.log.sequencer import sequence_events
from outbox.models import Consumer, Event, EventPosition, Tick
from outbox.stopping import Stop
from projections.analytics.figures import FEWEST, Sums, find_discrimination, summarise, take_root
from projections.analytics.projector import Analytics
from projections.analytics.queries import get_exam_figures, list_column_figures
from tests.projections.changes import Cell
from tests.projections.results import Sat, describe_column

pytestmark = pytest.mark.django_db(transaction=True)

EXAM, SHEET = UUID(int=1), UUID(int=2)
COLUMNS = (UUID(int=11), UUID(int=12))
CLASSES = (UUID(int=21), UUID(int=22))
OUT_OF = ("2", "2", "4")

CELLS, ATTEMPTS = 5, 8
MARKS = st.tuples(
    st.just("mark"),
    st.integers(0, CELLS - 1),
    st.sampled_from(["0", "5", "7.5", "10", None, "absent"]),
    st.sampled_from(["typed", "posted", "kept_beside"]),
)
POINTS = st.tuples(*(st.sampled_from(["0", "0.333", "1.5", most]) for most in OUT_OF))
RESULTS = st.tuples(
    st.just("result"),
    st.integers(0, ATTEMPTS - 1),
    POINTS,
    st.sampled_from(["graded", "graded", "graded", "needs_marking"]),
    st.integers(1, 2),
)
REOPENED = st.tuples(st.just("reopened"), st.integers(0, ATTEMPTS - 1))
STEPS = st.lists(st.one_of(MARKS, RESULTS, REOPENED, st.integers(1, 7)), min_size=1, max_size=50)


class World:
    """What a run of steps has made: the subjects, and what stands in each of them now."""

    def __init__(self) -> None:
        self.cells = [Cell(sheet_id=SHEET, column_id=COLUMNS[number % 2]) for number in range(CELLS)]
        self.attempts = [
            Sat(exam_id=EXAM, classes=(CLASSES[number % 2],) if number < ATTEMPTS - 1 else CLASSES)
            for number in range(ATTEMPTS)
        ]
        self.shown: dict[int, str | None] = {}
        self.results: dict[int, tuple[tuple[str, ...], int] | None] = {}
        self.told_by: UUID | None = None  # the event of the latest result
        self.linked: set[int] = set()

    def begin(self) -> list[NewEvent]:
        return [describe_column(column, SHEET) for column in COLUMNS]

    def take(self, step: Any) -> NewEvent:
        match step:
            case ("mark", int(number), mark, reason):
                return self._change(number, mark, reason)
            case ("result", int(number), points, state, said_in):
                self.results[number] = (points, said_in) if state == "graded" else None
                event = self.attempts[number].grade(points, out_of=OUT_OF, state=state, said_in=said_in)
                self.told_by = event.event_id
                return event
            case ("reopened", int(number)):
                self.results[number] = None
                return self.attempts[number].reopen()
        raise AssertionError(step)

    def _change(self, number: int, mark: str | None, reason: Reason) -> NewEvent:
        """Change a cell; what is posted names a result as its cause, if there was one, and so links the column to its exam."""
        self.shown[number] = mark
        code = "absent" if mark == "absent" else ""
        event = self.cells[number].change(None if code else mark, code=code, reason=reason)
        if reason == "typed" or self.told_by is None:
            return event
        self.linked.add(number % 2)
        return dataclasses.replace(event, cause_id=self.told_by)

    def marks_of(self, column: int) -> list[str]:
        here = (mark for number, mark in self.shown.items() if number % 2 == column)
        return [mark for mark in here if mark is not None]

    def results_of(self, group: UUID) -> list[tuple[tuple[str, ...], int]]:
        """Return what counts in a group; a result of version 1 names no class, so it counts for everybody only."""
        found = [(self.attempts[number], result) for number, result in self.results.items() if result]
        return [
            result
            for attempt, result in found
            if group == EXAM or (group in attempt.classes and result[1] > 1)
        ]


@settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=STEPS, seed=st.integers(0, 2**16))
def test_figures_are_those_of_working_them_out_from_scratch(steps: Sequence[Any], seed: int) -> None:
    _forget_everything()
    world = World()
    with transaction.atomic():
        publish(world.begin())
    for step in steps:
        if isinstance(step, int):
            sequence_events()
            run_batch(Analytics(), limit=step)
        else:
            with transaction.atomic():
                publish([world.take(step)])
    sequence_events()
    _catch_up(limit=500)
    _expect(world)
    followed = _tables()

    _apply_again(random.Random(seed))
    assert _tables() == followed

    begin_rebuild(Analytics())
    _catch_up(limit=random.Random(seed).randint(1, 40))
    assert _tables() == followed

    with Stop() as stop:
        comparison = rebuild_beside(Analytics(), stop, report=lambda *_: None)
    assert comparison is not None
    assert comparison.total == 0


def _expect(world: World) -> None:
    """Compare every figure with what a plain look at what stands there gives."""
    for number, column in enumerate(list_column_figures(sheet_id=SHEET)):
        marks = world.marks_of(number)
        values = [Fraction(mark) for mark in marks if mark != "absent"]
        assert column.distribution.codes == ({"absent": marks.count("absent")} if "absent" in marks else {})
        assert column.distribution.summary == _summarise(values)
        assert sum(each.number for each in column.distribution.bins) == len(values)
        assert column.exam_id == (EXAM if number in world.linked else None)
    for group in (EXAM, *CLASSES):
        found = get_exam_figures(exam_id=EXAM, class_ids=CLASSES, group_id=group)
        results = world.results_of(group)
        scores = [sum(map(Fraction, points), Fraction(0)) for points, _ in results]
        assert (found.distribution.summary if found.distribution else None) == _summarise(scores)
        with_questions = [list(map(Fraction, points)) for points, said_in in results if said_in > 1]
        items = [(item.place, item.difficulty, item.discrimination) for item in found.items]
        assert items == _analyse(with_questions)


def _summarise(values: Sequence[Fraction]) -> Any:
    """Return the reference's figures in the shape of ours."""
    if not values:
        return None
    summary = summarise(Counter(values))
    assert summary is not None
    plain = (len(values), statistics.mean(values), statistics.median(values), min(values), max(values))
    assert (summary.number, summary.mean, summary.median, summary.lowest, summary.highest) == plain
    assert summary.deviation == take_root(statistics.pvariance(values))
    return summary


def _analyse(results: Sequence[Sequence[Fraction]]) -> list[tuple[int, Fraction, Decimal | None]]:
    if not results:
        return []
    columns = list(zip(*results, strict=True))
    return [
        (place, sum(column) / (len(column) * Fraction(most)), _correlate(column, results))
        for place, (column, most) in enumerate(zip(columns, OUT_OF, strict=True), start=1)
    ]


def _correlate(column: Sequence[Fraction], results: Sequence[Sequence[Fraction]]) -> Decimal | None:
    """Return Pearson's r of a question with the rest, from deviations of the means: the definition, not our formula."""
    rest = [sum(points, Fraction(0)) - own for points, own in zip(results, column, strict=True)]
    own_mean, rest_mean = statistics.mean(column), statistics.mean(rest)
    together = sum((x - own_mean) * (y - rest_mean) for x, y in zip(column, rest, strict=True))
    spread = sum((x - own_mean) ** 2 for x in column) * sum((y - rest_mean) ** 2 for y in rest)
    if len(column) < FEWEST or not spread:
        return None
    root = take_root(Fraction(together) ** 2 / spread)
    return root if together >= 0 else -root


def _apply_again(dice: random.Random) -> None:
    """Apply everything once more, in other batches and in any order."""
    positions = list(EventPosition.objects.order_by("pos").values_list("pos", flat=True))
    batches = [positions[start : start + 4] for start in range(0, len(positions), 4)]
    dice.shuffle(batches)
    for batch in batches:
        with transaction.atomic():
            Analytics().apply(Batch(batch, bind_live_tables(Analytics())))


@settings(deadline=None)
@given(
    rows=st.lists(
        st.tuples(st.decimals(0, 9, places=3), st.decimals(0, 99, places=3)), min_size=FEWEST, max_size=30
    )
)
def test_discrimination_lies_between_minus_one_and_one(rows: Sequence[tuple[Decimal, Decimal]]) -> None:
    pairs = [(Fraction(x), Fraction(x + rest)) for x, rest in rows]
    sums = Sums(
        number=len(pairs),
        x=sum((x for x, _ in pairs), Fraction(0)),
        xx=sum((x * x for x, _ in pairs), Fraction(0)),
        xt=sum((x * t for x, t in pairs), Fraction(0)),
        t=sum((t for _, t in pairs), Fraction(0)),
        tt=sum((t * t for _, t in pairs), Fraction(0)),
    )
    found = find_discrimination(sums)
    assert found is None or -1 <= found <= 1


def _catch_up(limit: int) -> None:
    while run_batch(Analytics(), limit=limit).outcome is BatchOutcome.ADVANCED:
        pass


def _tables() -> dict[str, list[Any]]:
    """Return the whole of every table, in one order."""
    with connection.cursor() as cursor:
        found = {}
        for table in Analytics.tables:
            cursor.execute(f"SELECT row::text FROM {table} AS row ORDER BY 1")
            found[table] = cursor.fetchall()
    return found


def _forget_everything() -> None:
    tables = [model._meta.db_table for model in (Consumer, Event, EventPosition, Tick)]
    with connection.cursor() as cursor:
        cursor.execute(f"TRUNCATE {', '.join((*tables, *Analytics.tables))} CASCADE")
