"""What a tool can find against WCAG 2.2 AA it finds on no page of anybody: at a desk in light colours, and on a small phone in dark ones.

A new page fails here until it has an address in `everywhere.py`, at which there is something to see.
"""

from collections.abc import Callable

import pytest
from django.urls import get_resolver
from playwright.sync_api import Locator, Page, ViewportSize

from gradebook.models import User
from tests import factories
from tests.journeys.axe import find_violations, find_violations_of_the_look
from tests.journeys.conftest import DESKTOP, OpenPage
from tests.journeys.everywhere import Everything, build_everything, list_pages
from tests.overload.test_tiers import list_routes
from tests.people import World

pytestmark = pytest.mark.django_db(transaction=True)

SMALL: ViewportSize = {"width": 320, "height": 640}  # what is left of a desktop at 400 % (WCAG 1.4.10)

# Not pages: what programs ask, files, deeds, and addresses that only lead to a page.
NO_PAGES = {
    "",
    "accounts/logout/",
    "cards/<uuid:card_id>/card.pdf",
    "console/live/",
    "exams/<uuid:exam_id>/attempts/",
    "exams/receipts/<uuid:receipt_id>/receipt.json",
    "favicon.ico",
    "healthz",
    "marksheets/<uuid:sheet_id>/marks.csv",
    "marksheets/<uuid:sheet_id>/marks.xlsx",
    "marksheets/<uuid:sheet_id>/marks",
    "metrics",
    "notifications/<uuid:notification_id>/",
    "notifications/read/",
    "readyz",
    "terms/<uuid:period_id>/cards/<uuid:class_id>/archive.zip",
    "terms/<uuid:period_id>/cards/<uuid:class_id>/list.pdf",
}


def send_unfilled(form: Locator) -> None:
    with form.page.expect_navigation():
        form.evaluate(
            """form => {
                form.noValidate = true;
                for (const field of form.querySelectorAll("input:not([type=hidden])")) field.value = "";
                form.requestSubmit();
            }"""
        )


def type_what_is_no_mark(cell: Locator) -> None:
    cell.click()
    cell.page.keyboard.type("99")
    cell.page.keyboard.press("Enter")


# What is done on a page that has this, so that not only what is at rest is looked at: errors beside their fields, an open dialog or menu.
DEEDS: dict[str, Callable[[Locator], None]] = {
    ":is([data-page=amendments], [data-page=column-form], [data-page=login]) main form": send_unfilled,
    "[data-page=marksheet] td": type_what_is_no_mark,
    "[data-page=sitting] [data-submit]": Locator.click,
    "[data-page=my-sheets] .user-menu summary": Locator.click,
}


@pytest.fixture
def people(
    student: User, other_student: User, teacher: User, admin: User, world: World
) -> dict[str, User | None]:
    return {
        "nobody": None,
        "writer": student,
        "sitter": other_student,
        "teacher": teacher,
        "head": factories.admin(school=world.school),
        "operator": admin,
    }


@pytest.fixture
def school(world: World, people: dict[str, User]) -> Everything:
    chosen = {who: people[who] for who in ("writer", "sitter", "teacher", "head")}
    return build_everything(world, **chosen)


@pytest.mark.timeout(300)
def test_no_page_breaks_a_rule_of_accessibility_that_a_tool_can_judge(
    open_page: OpenPage, school: Everything, people: dict[str, User | None]
) -> None:
    pages = list_pages(school)
    assert {
        route for each in pages.values() for route in each if not route.startswith("admin/")
    } == list_ours()
    found: list[str] = []
    for who, addresses in pages.items():
        # Without motion, so that no colour is still on its way to another when it is looked at.
        page = open_page(people[who], "/healthz", reduced_motion="reduce")
        for route, address in addresses.items():
            found += [f"{who} at {route}: {fault}" for fault in look(page, address)]
    assert found == [], "\n".join(found)


def list_ours() -> set[str]:
    """Return the routes of our own pages."""
    others = ("admin/", "api/", "^api/")
    return {route for route in list_routes(get_resolver()) if not route.startswith(others)} - NO_PAGES


def look(page: Page, address: str) -> list[str]:
    """Return what is wrong with a page at a desk and on a small phone, in the state that is worth most."""
    page.emulate_media(color_scheme="light")
    page.set_viewport_size(DESKTOP)
    answer = page.goto(address)
    assert answer is not None
    assert (answer.status, answer.url.endswith(address)) == (200, True), address
    for selector, act in DEEDS.items():
        if (found := page.locator(selector)).count():
            act(found.first)
    at_the_desk = find_violations(page)
    page.emulate_media(color_scheme="dark")
    page.set_viewport_size(SMALL)
    width = page.evaluate("document.documentElement.scrollWidth")
    wide = [f"reflow: {width} px wide"] if width > SMALL["width"] else []
    return at_the_desk + [f"small and dark: {fault}" for fault in find_violations_of_the_look(page) + wide]
