"""The exam page against a server that answers 503 for minutes: few tries, further and further apart, and never a word too much."""

import re
from collections.abc import Callable

from playwright.sync_api import Page, Route, expect

from gradebook.models import User
from tests.journeys.sitting import (
    DRAFT,
    SHORT,
    SUBMISSION,
    Desk,
    OpenPage,
    draft_of,
    expect_says,
    give_exam,
    sit,
    submitted_by,
)
from tests.people import World

MINUTES = 10
SUBMITTED = re.compile(r"\bSubmitted\b")
TRYING = re.compile(r"kept on this device[,.] [Tt]rying again in \d+ s")


class BusyServer:
    """Answers 503 in the server's place, and notes at which second of the page's own time it was asked."""

    def __init__(self) -> None:
        self.second = 0
        self.tries: list[int] = []

    def shed(self, route: Route) -> None:
        self.tries.append(self.second)
        problem = '{"code": "overloaded", "status": 503, "title": "Busy", "detail": "Busy."}'
        head = {"Retry-After": "1", "Content-Type": "application/problem+json"}
        route.fulfill(status=503, body=problem, headers=head)

    def most_in_a_minute(self) -> int:
        return max(sum(at <= each < at + 60 for each in self.tries) for at in self.tries)

    def gaps(self) -> list[int]:
        return [after - before for before, after in zip(self.tries, self.tries[1:], strict=False)]


def open_with_own_time(open_page: OpenPage, world: World, student: User) -> Desk:
    """Open the page with a clock that the test moves."""
    desk = sit(open_page, student, give_exam(world, title="Geography"))
    desk.page.clock.install()
    desk.page.reload()
    desk.question(1).wait_for()
    return desk


def let_time_pass(desk: Desk, server: BusyServer, minutes: int) -> None:
    for _ in range(minutes * 60):
        before = len(server.tries)
        server.second += 1
        desk.page.clock.run_for(1_000)
        if len(server.tries) > before:
            expect(desk.page.get_by_text(TRYING).filter(visible=True).first).to_be_visible()


def run_clock_until(page: Page, condition: Callable[[], bool]) -> None:
    """Let the page's clock run until something is so: the pauses have grown, and each try takes a moment of the real clock, too."""
    for _ in range(40):
        if condition():
            return
        page.clock.run_for(15_000)
        page.wait_for_timeout(200)


def test_submission_is_tried_at_most_three_times_a_minute_and_is_never_called_submitted(
    open_page: OpenPage, world: World, student: User
) -> None:
    server = BusyServer()
    desk = open_with_own_time(open_page, world, student)
    desk.write(SHORT, "Paris")
    desk.page.route(SUBMISSION, server.shed)
    desk.submit()
    expect_says(desk.outcome, "Not submitted yet")
    let_time_pass(desk, server, MINUTES)

    expect_says(desk.outcome, TRYING)
    expect(desk.outcome).not_to_contain_text(SUBMITTED, use_inner_text=True)
    assert server.most_in_a_minute() <= 3
    assert server.gaps()[0] <= 6
    assert all(gap >= 30 for gap in server.gaps()[5:])
    assert submitted_by(student) == []

    desk.page.unroute(SUBMISSION)
    run_clock_until(desk.page, lambda: submitted_by(student) != [])
    desk.page.wait_for_url("**/exams/receipts/*/", timeout=30_000)
    assert submitted_by(student) == [{SHORT: "Paris"}]


def test_draft_is_tried_at_most_three_times_a_minute_while_the_student_types_on(
    open_page: OpenPage, world: World, student: User
) -> None:
    server = BusyServer()
    desk = open_with_own_time(open_page, world, student)
    desk.page.route(DRAFT, server.shed)
    desk.write(SHORT, "Par")
    let_time_pass(desk, server, 1)
    desk.write(SHORT, "is")
    let_time_pass(desk, server, 4)

    assert len(server.tries) >= 3
    assert server.most_in_a_minute() <= 3
    assert draft_of(student) == {}

    desk.page.unroute(DRAFT)
    run_clock_until(desk.page, lambda: draft_of(student) != {})
    desk.expect_saved()
    assert draft_of(student) == {SHORT: "Paris"}
