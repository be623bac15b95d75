"""A teacher marks essays in a real browser: by keyboard, without JavaScript, on a phone, beside a colleague."""

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from django.conf import settings
from playwright.sync_api import Page, expect

from exams.models import Exam, Submission
from gradebook.models import User
from tests import factories
from tests.exams.grading_room import post_everything
from tests.exams.marking.essays import essay_exam, essays_of, mark, sit, stands
from tests.journeys.conftest import PHONE, sign_in
from tests.people import World

OpenPage = Callable[..., Page]

LONG = "It was a dark and stormy night.\n\n    Nobody slept.\n" + "The wind " * 60 + "x" * 300


@pytest.fixture
def exam(site: str, world: World) -> Exam:
    return essay_exam(world, title="Reading and writing")


@pytest.fixture
def submissions(exam: Exam, world: World) -> list[Submission]:
    """Three students' essays, by name."""
    names = (("Aino", "Aalto"), ("Bo", "Berg"), ("נועה", "כהן"))
    handed_in = []
    for (first, last), text in zip(names, (LONG, "Rain <b>fell</b>.", "היה ערב סוער."), strict=True):
        student = factories.student(world.school, first_name=first, last_name=last)
        factories.enrolment(student, world.school_class)
        handed_in.append(sit(exam, student, first=text))
    return handed_in


@pytest.fixture
def colleague(world: World) -> User:
    person = factories.teacher(world.school, first_name="Maija", last_name="Virtanen")
    factories.assignment(person, world.school_class, world.course, world.period)
    return person


def scores(submissions: list[Submission]) -> list[tuple[str, Decimal]]:
    return [stands(each)[1:3] for each in submissions]


def press(page: Page, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def tab_to(page: Page, selector: str) -> None:
    """Reach something with the Tab key alone."""
    for _ in range(40):
        if page.evaluate("selector => document.activeElement.matches(selector)", selector):
            return
        page.keyboard.press("Tab")
    pytest.fail(f"The Tab key does not reach {selector}.")


def test_essays_are_marked_by_keyboard_alone_from_the_first_page_to_the_mark_sheet(
    open_page: OpenPage, exam: Exam, submissions: list[Submission], teacher: User, world: World
) -> None:
    page = open_page(teacher, "/marksheets/")
    tab_to(page, 'a[href="/exams/marking/"]')
    press(page, "Enter")
    expect(page.get_by_text("6 to mark")).to_be_visible()
    tab_to(page, "main a")
    press(page, "Enter")
    expect(page.get_by_role("heading", name="Question 2")).to_be_visible()

    tab_to(page, "[name^=points-]")
    for points in ("3.5", "4", "0"):
        page.keyboard.type(points)
        press(page, "Tab")
    expect(page.get_by_role("status")).to_have_text("3 not saved yet")
    press(page, "Shift+Tab", "Enter")

    expect(page.get_by_text("Points for 3 answers saved.")).to_be_visible()
    expect(page.locator("[data-state]")).to_have_text(["Saved"] * 3)
    tab_to(page, 'a[href^="?question="]:not([aria-current])')
    press(page, "Enter")
    expect(page.get_by_role("heading", name="Question 3")).to_be_visible()
    tab_to(page, "[name^=points-]")
    for points in ("2", "2.5", "1"):
        page.keyboard.type(points)
        press(page, "Tab")
    press(page, "Enter")

    expect(page.get_by_text("Points for 3 answers saved.")).to_be_visible()
    assert scores(submissions) == [
        ("graded", Decimal("6.5")),
        ("graded", Decimal("7.5")),
        ("graded", Decimal(2)),
    ]
    post_everything()
    page.goto(f"/marksheets/{world.sheet.pk}/")
    expect(page.locator("tbody td")).to_have_text(["6.5", "7.5", "2"])
    page.get_by_role("link", name="exam", exact=True).click()
    expect(page.get_by_role("heading", name="Reading and writing")).to_be_visible()


def test_what_cannot_be_saved_stays_in_its_field_with_the_reason_and_the_cursor(
    open_page: OpenPage, exam: Exam, submissions: list[Submission], teacher: User
) -> None:
    page = open_page(teacher, f"/exams/marking/{exam.pk}/")
    fields = page.locator("[name^=points-]")
    fields.nth(0).fill("5")
    fields.nth(1).fill("4")
    fields.nth(2).fill("1,234")
    press(page, "Enter")

    expect(page.get_by_role("alert")).to_contain_text("2 answers could not be saved.")
    assert [page.locator(f"#points-{each.pk}").input_value() for each in submissions] == ["5", "4", "1,234"]
    expect(page.locator(f"#points-{submissions[0].pk}")).to_be_focused()
    expect(page.locator(f"#problem-{submissions[0].pk}")).to_have_text("This question gives at most 4.")
    expect(page.locator("[data-state]")).to_have_text(["Not saved", "Not saved", "Saved"])
    assert scores(submissions)[1] == ("needs_marking", Decimal(5))


def test_a_colleagues_points_are_shown_before_they_are_replaced(
    open_page: OpenPage, exam: Exam, submissions: list[Submission], teacher: User, colleague: User
) -> None:
    question, _ = essays_of(exam)
    page = open_page(teacher, f"/exams/marking/{exam.pk}/")
    mark(submissions[0], question, "3", by=colleague)
    page.locator(f"#points-{submissions[0].pk}").fill("2")
    press(page, "Enter")

    problem = page.locator(f"#problem-{submissions[0].pk}")
    expect(problem).to_have_text(
        "Maija Virtanen gave 3 meanwhile. Save again to give 2 instead; to leave it, type 3."
    )
    page.locator(f"#points-{submissions[0].pk}").fill("3")
    press(page, "Enter")
    expect(page.locator(f"#points-{submissions[0].pk}")).to_have_value("3")
    expect(page.locator("[data-state]")).to_have_text(["To mark", "To mark", "Saved"])
    assert stands(submissions[0])[2:] == (Decimal(4), 2)


def test_leaving_with_points_typed_and_not_saved_asks_first(
    open_page: OpenPage, exam: Exam, submissions: list[Submission], teacher: User
) -> None:
    page = open_page(teacher, f"/exams/marking/{exam.pk}/")
    asked: list[str] = []

    def stay(dialog: Any) -> None:
        asked.append(dialog.type)
        dialog.dismiss()

    page.on("dialog", stay)
    field = page.locator("[name^=points-]").first
    field.click()
    page.keyboard.type("2")
    page.get_by_role("link", name="Mark sheets").click(no_wait_after=True)
    expect(field).to_have_value("2")
    page.wait_for_function("document.querySelector('[data-points-status]').textContent === '1 not saved yet'")
    assert asked == ["beforeunload"]
    field.fill("")
    page.get_by_role("link", name="Mark sheets").click()
    expect(page.get_by_role("heading", name="Mark sheets")).to_be_visible()
    assert asked == ["beforeunload"]


def test_points_typed_come_back_with_the_page_when_the_session_had_ended(
    open_page: OpenPage, exam: Exam, submissions: list[Submission], teacher: User, site: str
) -> None:
    page = open_page(teacher, f"/exams/marking/{exam.pk}/")
    page.locator("[name^=points-]").first.fill("2.5")
    page.context.clear_cookies(name=settings.SESSION_COOKIE_NAME)
    press(page, "Enter")
    expect(page.get_by_role("button", name="Sign in")).to_be_visible()

    sign_in(page.context, teacher, site)
    page.go_back()
    expect(page.locator("[name^=points-]").first).to_have_value("2.5")
    expect(page.get_by_role("status")).to_have_text("1 not saved yet")
    page.get_by_role("button", name="Save points").click()

    expect(page.get_by_text("Points for 1 answer saved.")).to_be_visible()
    assert stands(submissions[0])[2:] == (Decimal("3.5"), 2)


def test_a_phone_without_javascript_marks_and_nothing_is_wider_than_the_screen(
    open_page: OpenPage, exam: Exam, submissions: list[Submission], teacher: User
) -> None:
    page = open_page(teacher, f"/exams/marking/{exam.pk}/", viewport=PHONE, java_script_enabled=False)
    texts = page.locator(".answer__text").all_inner_texts()
    assert texts == [LONG, "Rain <b>fell</b>.", "היה ערב סוער."]
    for each in page.locator("main *:visible").all():
        box = each.bounding_box()
        assert box is None or box["x"] + box["width"] <= PHONE["width"] + 1, each.inner_html()[:200]

    page.locator("[name^=points-]").nth(1).fill("lots")
    page.get_by_role("button", name="Save points").click()
    expect(page.get_by_role("alert")).to_contain_text("1 answer could not be saved.")
    page.locator("[name^=points-]").nth(1).fill("3")
    page.get_by_role("button", name="Save points").click()

    expect(page.get_by_text("Points for 1 answer saved.")).to_be_visible()
    assert scores(submissions)[1] == ("needs_marking", Decimal(4))
