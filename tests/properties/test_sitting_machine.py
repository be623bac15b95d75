"""One student's attempts under everything that can happen to them, against a model in plain Python that knows the written rules and no database.

Drafts, hand-ins that come twice or too late, an exam that ends and is given more time, grading, grading again, a teacher's points, another
paper, results that reach the sheet. After every step attempts, hand-ins, results and the log are what the model says.
"""

import datetime as dt
from decimal import Decimal
from typing import Any, ClassVar
from uuid import UUID, uuid4

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from exams.canonical import canonical_answers, digest
from exams.errors import AttemptClosed, NoAttemptsLeft, NotOpen, StaleDraft
from exams.gate.handin import HandIn
from exams.gate.session import Session
from exams.models import Attempt, Draft, Exam, Result, Submission
from exams.services.attempts import start_attempt
from exams.services.authoring import copy_revision, publish_revision
from exams.services.closing import close_overdue_attempts
from exams.services.deadlines import move_exam_deadlines
from exams.services.drafts import save_draft
from exams.services.marking import AnswerKey, PointsChange, mark_answers
from exams.services.regrading import regrade_exam
from gradebook.models import Mark
from outbox.models import Event
from tests import factories
from tests.examples import examples
from tests.exams.gate.sessions import session  # noqa: F401 - a fixture
from tests.exams.grading_room import grade_everything, post_everything
from tests.factories.papers import a_question
from tests.properties.sitting_model import OUT_OF, Given, Sat, find_mark

pytestmark = pytest.mark.django_db(transaction=True)

ALLOWED = 3
STEPS = 20
GIVEN = st.tuples(st.sampled_from([True, False, None]), st.booleans())
POINTS = st.sampled_from([None, Decimal(0), Decimal("2.5"), Decimal(4)])


class SittingMachine(RuleBasedStateMachine):
    """Everything that may happen to a student's attempts; each rule does it to the product and to the model."""

    session: ClassVar[Session]  # the gate's

    def __init__(self) -> None:
        super().__init__()
        school = factories.school()
        self.exam = factories.exam(school=school, attempts_allowed=ALLOWED)
        questions = (a_question("true_false"), a_question("essay", points=Decimal(4)))
        self.revision = factories.published_revision(self.exam, questions)
        school_class = factories.school_class(school)
        self.student, self.teacher = factories.student(school), factories.teacher(school)
        factories.enrolment(self.student, school_class)
        factories.assignment(self.teacher, school_class, self.exam.course, self.exam.period)
        sheet = factories.sheet(school_class, self.exam.course, self.exam.period)
        self.column = factories.column(sheet, source_id=self.exam.pk, max_points=OUT_OF)
        factories.target(self.exam, school_class, self.column)
        self.attempts: list[UUID] = []
        self.sat: list[Sat] = []
        self.is_over, self.is_news = False, False
        self.mark: Decimal | None = None

    @initialize(policy=st.sampled_from(["best", "last", "average"]))
    def choose(self, policy: str) -> None:
        """Say which attempt counts."""
        self.policy = policy
        Exam.objects.filter(pk=self.exam.pk).update(counting_attempt=policy)

    def _answers(self, number: int, given: Given) -> dict[str, Any]:
        """Return the answers as they are written for the paper of an attempt."""
        paper = Attempt.objects.select_related("revision").get(pk=self.attempts[number]).revision.paper or []
        statement, essay = (entry["id"] for entry in paper)
        answers = {} if given[0] is None else {statement: given[0]}
        return answers | ({essay: "It was a dark and stormy night."} if given[1] else {})

    @rule()
    def start(self) -> None:
        """The student begins, or goes on with what is open."""
        if self.sat and self.sat[-1].is_open and not self.is_over:
            started = start_attempt(exam_id=self.exam.pk, student_id=self.student.pk)
            assert (started.attempt.pk, started.is_new) == (self.attempts[-1], False)
        elif self.is_over or len(self.sat) == ALLOWED:
            with pytest.raises(NotOpen if self.is_over else NoAttemptsLeft):
                start_attempt(exam_id=self.exam.pk, student_id=self.student.pk)
        else:
            started = start_attempt(exam_id=self.exam.pk, student_id=self.student.pk)
            assert started.is_new
            self.attempts.append(started.attempt.pk)
            self.sat.append(Sat())

    @rule(given=GIVEN, kept=GIVEN, is_submitted=st.sampled_from([True, True, False]), points=POINTS)
    def sit_through(self, given: Given, kept: Given, is_submitted: bool, points: Decimal | None) -> None:
        """An attempt from its begin to the sheet, handed in by the student or by the server."""
        if self.is_over:
            self.move(is_over=False)
        self.start()
        self.keep(kept, is_fresh=True)
        if is_submitted:
            self.hand_in(len(self.sat) - 1, given)
        else:
            self.move(is_over=True)
            self.close()
        self.grade(again=False)
        if self.sat[-1].is_graded and self.sat[-1].waits:
            self.mark_essay(len(self.sat) - 1, points)
        self.post()

    @precondition(lambda self: self.sat)
    @rule(given=GIVEN, is_fresh=st.booleans())
    def keep(self, given: Given, is_fresh: bool) -> None:
        """The page saves a draft, from a page that may be out of date."""
        sat, attempt_id = self.sat[-1], self.attempts[-1]
        token = Draft.objects.filter(attempt=attempt_id).values_list("token", flat=True).first()
        what: dict[str, Any] = {
            "attempt_id": attempt_id,
            "student_id": self.student.pk,
            "answers": self._answers(-1, given),
            "token": token if is_fresh else uuid4(),
        }
        if not sat.is_open or self.is_over:
            with pytest.raises(AttemptClosed):
                save_draft(**what)
        elif not is_fresh and given != sat.kept:
            with pytest.raises(StaleDraft):
                save_draft(**what)
        else:
            save_draft(**what)
            sat.kept = given

    @precondition(lambda self: self.sat)
    @rule(data=st.data(), given=GIVEN)
    def submit(self, data: st.DataObject, given: Given) -> None:
        """The student presses Submit, at any attempt, once or again."""
        self.hand_in(data.draw(st.integers(0, len(self.sat) - 1)), given)

    def hand_in(self, number: int, given: Given) -> None:
        """Send a hand-in to the gate."""
        sat = self.sat[number]
        text = canonical_answers(self._answers(number, given))
        handin = HandIn(
            attempt_id=self.attempts[number], student_id=self.student.pk, answers=text, digest=digest(text)
        )
        [verdict] = self.session.accept([handin])
        if sat.is_open:
            assert verdict.outcome == ("closed" if self.is_over else "accepted")
            if not self.is_over:
                sat.hand_in(given)
        elif sat.given is None or sat.is_by_server:
            assert verdict.outcome == "closed"
        else:
            assert verdict.outcome == ("replayed" if given == sat.given else "different")

    @rule(is_over=st.booleans())
    def move(self, is_over: bool) -> None:
        """An administrator moves the close: into the past, or an hour away."""
        away = dt.timedelta(minutes=-1) if is_over else dt.timedelta(hours=1)
        closes_at = dt.datetime.now(tz=dt.UTC) + away
        Exam.objects.filter(pk=self.exam.pk).update(closes_at=closes_at)
        move_exam_deadlines(exam_id=self.exam.pk, reason="The fire alarm.", by=self.teacher.pk)
        self.is_over = is_over
        for sat in self.sat:
            sat.move(is_last=sat is self.sat[-1], to_the_future=not is_over)

    @rule()
    def close(self) -> None:
        """The server closes what is overdue."""
        close_overdue_attempts()
        for sat in self.sat if self.is_over else ():
            if sat.is_open:
                sat.end()

    @rule(again=st.booleans())
    def grade(self, again: bool) -> None:
        """A worker grades what waits; everything, when the exam is graded again, which finds the same."""
        if again:
            regrade_exam(exam_id=self.exam.pk)
        grade_everything()
        for sat in self.sat:
            if sat.state == "submitted":
                sat.is_graded = True
                sat.events.append("SubmissionGraded")
                self.is_news |= not sat.waits

    @precondition(lambda self: any(sat.is_graded and sat.given[1] for sat in self.sat))
    @rule(data=st.data(), points=POINTS)
    def give_points(self, data: st.DataObject, points: Decimal | None) -> None:
        """The teacher gives points to an essay, or takes them back."""
        chosen = [
            number for number, sat in enumerate(self.sat) if sat.is_graded and sat.given and sat.given[1]
        ]
        self.mark_essay(data.draw(st.sampled_from(chosen)), points)

    def mark_essay(self, number: int, points: Decimal | None) -> None:
        """Give points to the essay of an attempt, from a page that is up to date."""
        sat = self.sat[number]
        result = Result.objects.get(attempt_id=self.attempts[number], submission__withdrawn_at=None)
        essay = next(iter(self._answers(number, (None, True))))
        key = AnswerKey(result.submission_id, essay)
        outcome = mark_answers(changes=[PointsChange(key, points, result.version)], by=self.teacher)
        assert (outcome.saved, outcome.unchanged) == (([], [key]) if points == sat.essay else ([key], []))
        if points != sat.essay:
            sat.essay = points
            sat.events.append("SubmissionGraded")
            self.is_news |= not sat.waits

    @rule()
    def publish_another_paper(self) -> None:
        """A corrected paper is published: for the attempts to come."""
        self.revision = publish_revision(revision=copy_revision(revision=self.revision), by=None)

    @rule()
    def post(self) -> None:
        """What was found reaches the sheet: a finished result is news, one that waits is none."""
        post_everything()
        mark = find_mark(self.policy, self.sat)
        if self.is_news and mark is not None:
            self.mark = mark
        self.is_news = False

    @invariant()
    def everything_is_what_the_rules_say(self) -> None:
        """Attempts, hand-ins that count, results, the mark, and the log."""
        stored = Attempt.objects.filter(exam=self.exam).order_by("number")
        assert [(each.pk, each.state) for each in stored] == [
            (attempt_id, sat.state) for attempt_id, sat in zip(self.attempts, self.sat, strict=True)
        ]
        count = Submission.objects.filter(exam_id=self.exam.pk, withdrawn_at=None)
        assert dict(count.values_list("attempt_id", "origin")) == {
            attempt_id: "server" if sat.is_by_server else "student"
            for attempt_id, sat in zip(self.attempts, self.sat, strict=True)
            if sat.given is not None
        }
        results = Result.objects.filter(exam_id=self.exam.pk, submission__withdrawn_at=None)
        assert {each.attempt_id: (each.state, each.score) for each in results} == {
            attempt_id: (sat.state, sat.score)
            for attempt_id, sat in zip(self.attempts, self.sat, strict=True)
            if sat.is_graded
        }
        assert Mark.objects.filter(column=self.column).values_list("value", flat=True).first() == self.mark
        for attempt_id, sat in zip(self.attempts, self.sat, strict=True):
            events = Event.objects.filter(subject=f"attempt:{attempt_id}").order_by("seq")
            assert list(events.values_list("kind", "subject_version")) == [
                (kind, version) for version, kind in enumerate(sat.events, start=1)
            ]


def test_attempts_stay_what_the_written_rules_say_whatever_is_done_to_them(
    session: Session,
) -> None:
    at_the_gate = type("AtTheGate", (SittingMachine,), {"session": session})
    run_state_machine_as_test(at_the_gate, settings=settings(examples(6), stateful_step_count=STEPS))
