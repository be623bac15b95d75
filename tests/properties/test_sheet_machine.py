"""One small sheet under everything that can happen to it, against a model in plain Python that knows the written rules and no database.

Two teachers type from pages that may be old and import files that may be, results come late and twice, a head locks, opens and signs. After
every step the marks are what the model says; at the end the log, the history, the sheet as it was and the report cards are, too.
"""

import dataclasses
import datetime as dt
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from gradebook.cells import AutomaticMark, CellChange, CellKey
from gradebook.entries import Entry, Refused, plain, read_entry
from gradebook.errors import AmendmentRefused, TermIsLocked, TermIsOpen, TermMovedOn
from gradebook.imports.importing import ImportRefused, apply_import, prepare_import
from gradebook.imports.plans import Wishes
from gradebook.models import Amendment, Mark, ReportCard
from gradebook.queries.totals import list_sheet_totals
from gradebook.services.amendments import reopen_term, sign_amendment, withdraw_amendment
from gradebook.services.cards import find_changes, issue_cards
from gradebook.services.marks import post_automatic_marks, save_marks
from gradebook.services.proposals import propose_amendment
from gradebook.services.terms import lock_term
from outbox.consumers.batches import BatchOutcome, run_batch
from outbox.log.sequencer import sequence_events
from projections.asof.queries import AFTER_ALL, list_cells_as_of
from projections.history.projector import MarksheetHistory
from projections.history.queries import list_cell_history
from tests import factories
from tests.examples import examples
from tests.gradebook.marks import NOON, list_steps
from tests.properties.sheet_model import Cell, Where, find_total

pytestmark = pytest.mark.django_db(transaction=True)

MOST = (20, 8)
STEPS = 25
WORDS = st.sampled_from(["", "0", "7.5", "8", "12.25", "20", "21", "absent", "excused", "withheld"])
CELLS = st.tuples(st.integers(0, 1), st.integers(0, 1))
TEACHERS = st.integers(0, 1)
RESULTS = st.sampled_from(["0", "3", "7.5", "8"])
MINUTES = st.integers(0, 2)
TYPED = st.tuples(TEACHERS, CELLS, WORDS, st.sampled_from([True, True, False]))
POSTED = st.tuples(CELLS, RESULTS, MINUTES)


@dataclasses.dataclass
class Waiting:
    """An amendment that waits: whose, for which cell, based on which version of it."""

    row: Amendment
    where: Where
    by: int | None
    text: str
    version: int
    minute: int = -1


class SheetMachine(RuleBasedStateMachine):
    """Everything anybody may do to the sheet; each rule does it to the product and to the model."""

    def __init__(self) -> None:
        super().__init__()
        school = factories.school()
        self.term = factories.period(school)
        self.school_class = factories.school_class(school)
        self.sheet = factories.sheet(self.school_class, factories.course(school), self.term)
        self.columns = [factories.column(self.sheet, max_points=most) for most in MOST]
        self.students = [factories.student(school) for _ in range(2)]
        for student in self.students:
            factories.enrolment(student, self.school_class)
        self.teachers = [factories.teacher(school) for _ in range(2)]
        for teacher in self.teachers:
            factories.assignment(teacher, self.school_class, self.sheet.course, self.term)
        self.head = factories.admin(school=school)
        self.cells = {(column, student): Cell() for column in range(2) for student in range(2)}
        self.pages = [self._page(), self._page()]
        self.page_terms = [1, 1]
        self.is_locked, self.generation = False, 1
        self.waiting: list[Waiting] = []

    def _page(self) -> dict[Where, int]:
        return {where: cell.version for where, cell in self.cells.items()}

    def _key(self, where: Where) -> CellKey:
        return CellKey(self.columns[where[0]].pk, self.students[where[1]].pk)

    @rule(teacher=TEACHERS)
    def reload(self, teacher: int) -> None:
        """A teacher loads the page anew."""
        self.pages[teacher], self.page_terms[teacher] = self._page(), self.generation

    @rule(acts=st.lists(TYPED | POSTED, min_size=4, max_size=10))
    def work(self, acts: list[tuple[Any, ...]]) -> None:
        """A lesson: teachers type, mostly into pages that they have just loaded, and results arrive."""
        for act in acts:
            if len(act) == 3:
                self.post(*act)
                continue
            *typed, is_fresh = act
            if is_fresh:
                self.reload(act[0])
            self.type_into(*typed)

    @rule(teacher=TEACHERS, where=CELLS, text=WORDS)
    def type_into(self, teacher: int, where: Where, text: str) -> None:
        """A teacher types into a cell of a page, however old it is."""
        based_on = self.pages[teacher][where]
        change = CellChange(self._key(where), based_on, _entry(text))
        refusal = self._find_refusal(self.page_terms[teacher])
        if refusal:
            with pytest.raises(refusal):
                self._save(change, teacher)
            return
        outcome = self._save(change, teacher)
        told = (len(outcome.saved), len(outcome.conflicts), len(outcome.refused))
        cell = self.cells[where]
        if _is_too_high(text, where):
            assert told == (0, 0, 1)
            return
        is_there = text == cell.shown or (text == "" and cell.shown is None)
        is_current = based_on == 0 if cell.shown is None else cell.shown_version <= based_on <= cell.version
        assert told == ((1, 0, 0) if is_there or is_current else (0, 1, 0))
        if is_current and not is_there:
            cell.write(text, "typed" if text else "cleared")
        self.pages[teacher][where] = cell.version

    def _save(self, change: CellChange, teacher: int) -> Any:
        by, generation = self.teachers[teacher], self.page_terms[teacher]
        return save_marks(sheet=self.sheet, changes=[change], by=by, generation=generation)

    def _find_refusal(self, generation: int | None = None) -> type[Exception] | None:
        if self.is_locked:
            return TermIsLocked
        return TermMovedOn if generation not in {None, self.generation} else None

    @rule(
        teacher=TEACHERS,
        texts=st.lists(WORDS, min_size=4, max_size=4),
        is_clearing=st.booleans(),
        meanwhile=st.none() | st.tuples(CELLS, WORDS),
    )
    def import_file(self, teacher: int, texts: list[str], is_clearing: bool, meanwhile: Any) -> None:
        """A teacher imports a file of the whole sheet; a colleague may type into a cell while it is being looked at."""
        wanted = dict(zip(sorted(self.cells), texts, strict=True))
        if self.is_locked:
            with pytest.raises(TermIsLocked):
                self._plan(wanted, teacher, is_clearing=is_clearing)
            return
        plan = self._plan(wanted, teacher, is_clearing=is_clearing)
        assert bool(plan.faults) == any(_is_too_high(text, where) for where, text in wanted.items())
        planned = {
            where: text
            for where, text in wanted.items()
            if (text or is_clearing) and text != (self.cells[where].shown or "")
        }
        moved = self._type_meanwhile(1 - teacher, *meanwhile) if meanwhile else None
        if plan.faults or (moved in planned and self.cells[moved].shown != planned[moved]):
            with pytest.raises(ImportRefused):
                apply_import(sheet=self.sheet, plan=plan, by=self.teachers[teacher])
            return
        assert apply_import(sheet=self.sheet, plan=plan, by=self.teachers[teacher]) == len(planned)
        for where, text in planned.items():
            if where != moved:
                self.cells[where].write(text, "imported")

    def _plan(self, wanted: dict[Where, str], teacher: int, *, is_clearing: bool) -> Any:
        head = ["username", *(column.title for column in self.columns)]
        rows = [
            [student.username, *(wanted[column, number] for column in range(2))]
            for number, student in enumerate(self.students)
        ]
        data = "\n".join(",".join(row) for row in [head, *rows]).encode()
        wishes = Wishes(".", "marks.csv", is_clearing=is_clearing)
        return prepare_import(sheet=self.sheet, data=data, wishes=wishes, by=self.teachers[teacher])

    def _type_meanwhile(self, teacher: int, where: Where, text: str) -> Where | None:
        """Type into a cell; return it if it shows something else now."""
        before = self.cells[where].version
        self.reload(teacher)
        self.type_into(teacher, where, text)
        return where if self.cells[where].version != before else None

    @rule(where=CELLS, value=RESULTS, minute=MINUTES)
    def post(self, where: Where, value: str, minute: int) -> None:
        """A result arrives, perhaps for the second time, perhaps after a younger one."""
        at = NOON + dt.timedelta(minutes=minute)
        outcome = post_automatic_marks(posts=[AutomaticMark(self._key(where), Decimal(value), at)])
        cell = self.cells[where]
        if not self.is_locked:
            cell.post(value, minute)
            return
        is_recorded = cell.found == value or minute < cell.found_at
        is_news = not is_recorded and minute > cell.proposed_at
        assert len(outcome.proposed) == is_news
        if is_news:
            cell.proposed_at = minute
            self.waiting = [each for each in self.waiting if each.by is not None or each.where != where]
            row = Amendment.objects.get(
                column=self.columns[where[0]],
                student=self.students[where[1]],
                source="automatic",
                state="proposed",
            )
            self.waiting.append(Waiting(row, where, None, value, cell.version, minute))

    @rule()
    def lock(self) -> None:
        """The head locks the term; locked already is as was asked."""
        assert lock_term(period_id=self.term.pk, by=self.head).is_locked
        self.generation += not self.is_locked
        self.is_locked = True

    @rule()
    def reopen(self) -> None:
        """The head opens the term, and what waited for it is posted."""
        if not self.is_locked:
            with pytest.raises(TermIsOpen):
                reopen_term(period_id=self.term.pk, reason="Marked wrongly.", by=self.head)
            return
        reopen_term(period_id=self.term.pk, reason="Marked wrongly.", by=self.head)
        self.is_locked = False
        self.generation += 1
        for each in [each for each in self.waiting if each.by is None]:
            self.cells[each.where].post(each.text, each.minute)
            self.waiting.remove(each)

    @precondition(lambda self: self.is_locked)
    @rule(teacher=TEACHERS, where=CELLS, text=WORDS)
    def propose(self, teacher: int, where: Where, text: str) -> None:
        """A teacher proposes another mark for a cell of the locked term."""
        cell = self.cells[where]
        is_there = text == (cell.shown or "")
        waits = any(each.where == where and each.by is not None for each in self.waiting)
        wish: dict[str, Any] = {"key": self._key(where), "entry": _entry(text), "by": self.teachers[teacher]}
        if is_there or waits or _is_too_high(text, where):
            with pytest.raises(AmendmentRefused):
                propose_amendment(sheet=self.sheet, reason="A page was overlooked.", **wish)
            return
        row = propose_amendment(sheet=self.sheet, reason="A page was overlooked.", **wish)
        self.waiting.append(Waiting(row, where, teacher, text, cell.version))

    @precondition(lambda self: self.waiting)
    @rule(data=st.data(), by=st.sampled_from(["head", 0, 1]))
    def sign(self, data: st.DataObject, by: Any) -> None:
        """Somebody signs what waits: not their own, nothing that the cell has moved on from."""
        each = data.draw(st.sampled_from(self.waiting))
        signer = self.head if by == "head" else self.teachers[by]
        cell = self.cells[each.where]
        is_stale = each.by is not None and each.version != cell.version
        if by == each.by or is_stale:
            with pytest.raises(AmendmentRefused):
                sign_amendment(amendment_id=each.row.pk, by=signer)
            return
        sign_amendment(amendment_id=each.row.pk, by=signer)
        if each.by is None:
            cell.post(each.text, each.minute)
        else:
            cell.write(each.text, "amended")
        self.generation += 1
        self.waiting.remove(each)

    @precondition(lambda self: any(each.by is not None for each in self.waiting))
    @rule(data=st.data())
    def withdraw(self, data: st.DataObject) -> None:
        """A teacher takes a proposal back."""
        each = data.draw(st.sampled_from([each for each in self.waiting if each.by is not None]))
        assert each.by is not None
        withdraw_amendment(amendment_id=each.row.pk, by=self.teachers[each.by])
        self.waiting.remove(each)

    @precondition(lambda self: self.is_locked)
    @rule()
    def issue(self) -> None:
        """The head issues cards: those that hold are kept, and all hold afterwards."""
        sequence_events()
        issue_cards(period_id=self.term.pk, school_class=self.school_class, by=self.head)
        again = issue_cards(period_id=self.term.pk, school_class=self.school_class, by=self.head)
        assert (len(again.kept), again.issued, again.replaced) == (2, [], [])
        for number, student in enumerate(self.students):
            card = ReportCard.objects.get(student=student, replaced_at__isnull=True)
            assert find_changes(card) == []
            (course,) = card.content["courses"]
            assert [line["mark"] for line in course["marks"]] == [
                self.cells[column, number].shown or "" for column in range(2)
            ]
            assert course["total"] == self._total_of(number)

    def _total_of(self, student: int) -> str:
        return find_total([(self.cells[column, student].shown or "", MOST[column]) for column in range(2)])

    @rule()
    def follow(self) -> None:
        """The sequencer numbers, and the history reads to the head."""
        sequence_events()
        while run_batch(MarksheetHistory()).outcome is BatchOutcome.ADVANCED:
            pass

    @invariant()
    def marks_are_what_the_rules_say(self) -> None:
        """Every cell's row, and the totals."""
        rows = {
            (mark.column_id, mark.student_id): (
                mark.code or ("" if mark.value is None else plain(mark.value)),
                mark.version,
                mark.shown_version,
                None if mark.automatic_value is None else plain(mark.automatic_value),
            )
            for mark in Mark.objects.filter(sheet=self.sheet)
        }
        assert rows == {
            tuple(self._key(where)): (cell.shown, cell.version, cell.shown_version, cell.found)
            for where, cell in self.cells.items()
            if cell.shown is not None
        }
        totals = {each.name: each.total.percent for each in list_sheet_totals(self.sheet)}
        assert totals == {
            student.full_name: Decimal(total) if (total := self._total_of(number)) else None
            for number, student in enumerate(self.students)
        }
        waiting = Amendment.objects.filter(sheet=self.sheet, state="proposed")
        assert set(waiting.values_list("pk", flat=True)) == {each.row.pk for each in self.waiting}

    def teardown(self) -> None:
        """What was said is what happened, wherever it is read."""
        self.follow()
        now = {
            CellKey(line.column_id, line.student_id): line
            for line in list_cells_as_of(AFTER_ALL, sheet_id=self.sheet.pk)
        }
        for where, cell in self.cells.items():
            key = self._key(where)
            assert list_steps(self.columns[where[0]], self.students[where[1]]) == cell.steps
            page = list_cell_history(
                sheet_id=self.sheet.pk, column_id=key.column_id, student_id=key.student_id
            )
            assert [line.reason for line in page.lines] == [reason for reason, _, _ in reversed(cell.steps)][
                :50
            ]
            line = now.get(key)
            assert (
                line and (line.new_code or (line.new_value is not None and plain(line.new_value)) or "")
            ) == cell.shown


def _entry(text: str) -> Entry:
    entry = read_entry(text, decimal_sign=".")
    assert not isinstance(entry, Refused)
    return entry


def _is_too_high(text: str, where: Where) -> bool:
    return text[:1].isdigit() and Decimal(text) > MOST[where[0]]


def test_sheet_stays_what_the_written_rules_say_whatever_is_done_to_it() -> None:
    run_state_machine_as_test(SheetMachine, settings=settings(examples(4), stateful_step_count=STEPS))
