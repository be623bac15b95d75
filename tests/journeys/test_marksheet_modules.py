"""What the grid's modules share with the server: how text is read as a mark, and how a cell is drawn."""

from typing import Any

import pytest
from playwright.sync_api import Page

from gradebook.models import User
from tests import factories
from tests.gradebook.entry_cases import CASES
from tests.gradebook.marks import post, save
from tests.journeys.marking import OpenPage
from tests.people import World

MODULES = "/static/gradebook/marksheet"

READ_ALL = """async ([modules, cases]) => {
    const { readEntry } = await import(`${modules}/entries.js`);
    return cases.map(([sign, text]) => {
        const { entry, problem } = readEntry(text, sign);
        return problem ? `!${problem}` : entry || "blank";
    });
}"""

DRAW_ALL = """async (modules) => {
    const { Sheet } = await import(`${modules}/sheet.js`);
    const { drawCell } = await import(`${modules}/cell-view.js`);
    const root = document.querySelector("[data-marksheet]");
    for (const cell of new Sheet(root).cells()) {
        cell.td.removeAttribute("tabindex");
        const loaded = cell.td.outerHTML;
        drawCell(cell, root.dataset.decimalSign);
        if (cell.td.outerHTML !== loaded) return [loaded, cell.td.outerHTML];
    }
    return [];
}"""

CHECK_ALL = """async ([modules, cases]) => {
    const { checkEntry } = await import(`${modules}/entries.js`);
    return cases.map(([entry, max]) => checkEntry(entry, max, ".")?.problem ?? null);
}"""


@pytest.fixture
def page(open_page: OpenPage, world: World, teacher: User, student: User, other_student: User) -> Page:
    """A sheet with every kind of cell: a number, a code, a cleared one, none, and one with the automatic result beside."""
    essay, exam = (factories.column(world.sheet, max_points=100) for _ in range(2))
    save(essay, student, "7.5", by=teacher)
    save(essay, other_student, "e", by=teacher)
    post(exam, student, "6.5")
    save(exam, student, "8", version=1, by=teacher)
    post(exam, other_student, "6")
    save(exam, other_student, "", version=1, by=teacher)
    factories.column(world.sheet)
    return open_page(teacher, f"/marksheets/{world.sheet.pk}/", locale="de-DE")


def test_browser_reads_typed_text_by_the_same_rule_as_the_server(page: Page) -> None:
    given: list[Any] = [[sign, text] for sign, text, _ in CASES]
    found = page.evaluate(READ_ALL, [MODULES, given])
    assert dict(zip(map(tuple, given), found, strict=True)) == {
        (sign, text): expected for sign, text, expected in CASES
    }


def test_browser_checks_a_mark_against_its_column_like_the_server(page: Page) -> None:
    cases = {
        ("20", "20"): None,
        ("20.001", "20"): "above_max",
        ("0", "0.5"): None,
        ("7.1234", "20"): "too_many_decimals",
        ("9", "10"): None,
        ("absent", "1"): None,
        ("", "1"): None,
    }
    found = page.evaluate(CHECK_ALL, [MODULES, [list(case) for case in cases]])
    assert dict(zip(cases, found, strict=True)) == cases


def test_browser_draws_a_cell_exactly_as_the_server_does(page: Page) -> None:
    assert page.evaluate(DRAW_ALL, MODULES) == []
