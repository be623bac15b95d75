"""What a student does on the exam page, in a test's words."""

import dataclasses
import datetime as dt
import re
from collections.abc import Callable
from typing import Any

from playwright.sync_api import Locator, Page, Route, expect

from exams.canonical import read_answers
from exams.models import Attempt, Exam, Submission
from exams.services.attempts import start_attempt
from gradebook.models import User
from tests import factories
from tests.people import World

DRAFT = "**/api/v1/attempts/*/draft"
SUBMISSION = "**/api/v1/attempts/*/submission"
SAVED_AT = re.compile(r"^\s*Saved \d\d:\d\d:\d\d\s*$")
SINGLE, MULTIPLE, TRUE_FALSE, NUMERIC, SHORT, MATCHING, ESSAY = range(1, 8)  # the factories' seven questions

OpenPage = Callable[..., Page]


@dataclasses.dataclass(frozen=True, slots=True)
class Desk:
    """The exam page of one attempt, open in a browser window."""

    page: Page

    def question(self, number: int) -> Locator:
        """Return question `number`; the first is 1."""
        return self.page.locator(f"#question-{number}")

    def field(self, number: int) -> Locator:
        """Return the text field of a question."""
        return self.question(number).get_by_role("textbox")

    def write(self, number: int, text: str) -> None:
        """Type at the end of what is there, as a person would."""
        field = self.field(number)
        field.focus()
        field.press("ControlOrMeta+End")
        field.press_sequentially(text)

    def expect_saved(self) -> None:
        """Wait until the page says that all is saved, and when."""
        expect(self.state).to_have_text(SAVED_AT, timeout=15_000, use_inner_text=True)

    def submit(self) -> None:
        """Press Submit, and again in the dialog."""
        self.page.get_by_role("button", name="Submit…").click()
        self.page.get_by_role("dialog").get_by_role("button", name="Submit now").click()

    def notice(self, name: str) -> Locator:
        """Return a panel above the questions."""
        return self.page.locator(f'[data-notice="{name}"]')

    @property
    def state(self) -> Locator:
        """Return the quiet line about saving."""
        return self.page.locator("[data-save-state]")

    @property
    def trouble(self) -> Locator:
        """Return the panel that is loud when saving fails."""
        return self.page.locator("[data-save-trouble]")

    @property
    def outcome(self) -> Locator:
        """Return the panel that says what becomes of the attempt."""
        return self.page.locator("[data-outcome]")


def give_exam(world: World, *, questions: list[Any] | None = None, **fields: Any) -> Exam:
    """Give the class an exam with a published paper, one question of every kind unless told otherwise."""
    exam = factories.exam(school=world.school, course=world.course, period=world.period, **fields)
    factories.published_revision(exam, questions)
    factories.target(exam, world.school_class)
    return exam


def sit(open_page: OpenPage, student: User, exam: Exam, **options: Any) -> Desk:
    """Start the exam and open its page."""
    attempt = start_attempt(exam_id=exam.pk, student_id=student.pk).attempt
    return open_desk(open_page, student, attempt, **options)


def open_desk(open_page: OpenPage, student: User, attempt: Attempt, **options: Any) -> Desk:
    """Open the page of an attempt that was started, and wait for its questions."""
    desk = Desk(open_page(student, f"/exams/attempts/{attempt.pk}/", **options))
    desk.question(1).wait_for()
    return desk


def expect_says(panel: Locator, words: str | re.Pattern[str], *, seconds: float = 30) -> None:
    """Wait until these words can be seen in the panel. It holds those of its other states too, but hidden."""
    expect(panel.filter(visible=True)).to_contain_text(words, use_inner_text=True, timeout=seconds * 1_000)


def draft_of(student: User) -> dict[int, Any]:
    """Return what the server keeps of this student's only attempt: the answers by question number."""
    attempt = Attempt.objects.select_related("draft", "revision").get(student=student)
    draft = getattr(attempt, "draft", None)
    return {} if draft is None else _by_number(attempt, draft.answers)


def submitted_by(student: User) -> list[dict[int, Any]]:
    """Return what this student has handed in: for each submission the answers by question number."""
    submissions = Submission.objects.select_related("attempt__revision").filter(student_id=student.pk)
    return [_by_number(submission.attempt, submission.answers) for submission in submissions]


def now() -> dt.datetime:
    """Return the time."""
    return dt.datetime.now(tz=dt.UTC)


def lose_the_answer(route: Route) -> None:
    """Let the request reach the server and be acted on, and cut the network before its answer arrives."""
    route.fetch()
    route.abort("connectionreset")


def cut(route: Route) -> None:
    """Cut the network before the request gets anywhere."""
    route.abort("connectionrefused")


def _by_number(attempt: Attempt, answers: str) -> dict[int, Any]:
    numbers = {
        question["id"]: number for number, question in enumerate(attempt.revision.paper or [], start=1)
    }
    return {numbers[question_id]: answer for question_id, answer in read_answers(answers).items()}
