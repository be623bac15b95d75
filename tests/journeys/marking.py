"""What a teacher does in the grid, in a test's words."""

import dataclasses
import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from gradebook.models import Column, User
from tests import factories
from tests.people import World

MARKS = "**/marksheets/*/marks"
SAVED_AT = re.compile(r"All changes saved \d\d:\d\d:\d\d")

OpenPage = Callable[..., Page]


@pytest.fixture
def columns(world: World) -> list[Column]:
    return [
        factories.column(world.sheet, title=title, max_points=most)
        for title, most in (("Essay", 20), ("Test", "12.5"), ("Oral", 10))
    ]


@pytest.fixture
def students(world: World) -> list[User]:
    names = (("Aino", "Aalto"), ("Bo", "Berg"), ("Cleo", "Costa"))
    people = [factories.student(world.school, first_name=first, last_name=last) for first, last in names]
    for person in people:
        factories.enrolment(person, world.school_class)
    return people


@dataclasses.dataclass(frozen=True, slots=True)
class Desk:
    """One mark sheet, open in a browser window."""

    page: Page

    def cell(self, student: User, column: Column) -> Locator:
        """Return one cell."""
        return self.page.locator(f'tr[data-student="{student.pk}"] td').nth(self._index(column))

    def go_to(self, student: User, column: Column) -> None:
        """Put the cursor into a cell, with the mouse."""
        self.cell(student, column).click()

    def write(self, text: str, *, then: str = "Enter") -> None:
        """Type into the cell the cursor is in, and keep it with a key."""
        self.page.keyboard.type(text)
        self.page.keyboard.press(then)

    def press(self, *keys: str) -> None:
        """Press keys one after the other."""
        for key in keys:
            self.page.keyboard.press(key)

    def expect_cell(self, student: User, column: Column, text: str, state: str | None = None) -> None:
        """Wait until a cell shows this text, in this state (None: no state)."""
        cell = self.cell(student, column)
        expect(cell).to_have_text(re.compile(rf"^{re.escape(text)}(?![\w.])"))
        if state is None:
            expect(cell).not_to_have_attribute("data-state", re.compile("."))
        else:
            expect(cell).to_have_attribute("data-state", state, timeout=15_000)

    def expect_cursor(self, student: User, column: Column) -> None:
        """Wait until the cursor is in this cell, and in no editor."""
        expect(self.cell(student, column)).to_be_focused()

    def expect_all_saved(self) -> None:
        """Wait until the sheet says that all is saved, and when."""
        expect(self.status).to_have_text(SAVED_AT, timeout=30_000)

    def refresh(self) -> None:
        """Let the page ask now what others changed, as it does when the connection comes back."""
        with self.page.expect_response(lambda answer: "since=" in answer.url):
            self.page.evaluate("window.dispatchEvent(new Event('online'))")

    @property
    def status(self) -> Locator:
        """The line that says where the marks stand."""
        return self.page.locator("[data-status-text]")

    @property
    def field(self) -> Locator:
        """The text field of the cell being edited."""
        return self.page.locator(".grid__field")

    @property
    def dialog(self) -> Locator:
        """The question about a conflict."""
        return self.page.locator("dialog.conflict")

    def notice(self, name: str) -> Locator:
        """Return a notice above the grid."""
        return self.page.locator(f'[data-notice="{name}"]')

    def kept(self) -> list[str]:
        """The texts kept in this browser."""
        texts: list[str] = self.page.evaluate(
            "Object.values(localStorage).map((record) => JSON.parse(record).text)"
        )
        return sorted(texts)

    def _index(self, column: Column) -> int:
        heads = self.page.locator("thead th[data-column]")
        ids = heads.evaluate_all("heads => heads.map((head) => head.dataset.column)")
        return int(ids.index(str(column.pk)))


def open_sheet(open_page: OpenPage, person: User, column: Column, **options: Any) -> Desk:
    """Open the sheet of a column in a window of this person."""
    return Desk(open_page(person, f"/marksheets/{column.sheet_id}/", **options))


def lose_answers_of_saves(page: Page) -> None:
    """Let every save reach the server, and no answer come back."""

    def swallow(route: Route) -> None:
        if route.request.method == "POST":
            route.fetch()
            route.abort()
        else:
            route.continue_()

    page.route(MARKS, swallow)


def cut_saves_off(page: Page) -> None:
    """Let no save reach the server."""
    page.route(MARKS, lambda route: route.abort() if route.request.method == "POST" else route.continue_())
