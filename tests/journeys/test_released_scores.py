"""Scores are released: the student hears of it, follows the bell to the receipt, and reads what the author says."""

import datetime as dt
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from exams.models import Exam
from exams.services.releasing import announce_releases
from gradebook.models import User
from outbox.db import database_now
from tests import factories
from tests.exams.effects.happenings import make_happen
from tests.exams.grading_room import grade_everything
from tests.factories.papers import a_question, option
from tests.people import World
from tests.sitting import hand_in

pytestmark = pytest.mark.django_db(transaction=True)
HOUR = dt.timedelta(hours=1)


def sit_geography(world: World, student: User) -> Exam:
    """One question answered wrong and one left blank, graded, and not released."""
    exam = factories.exam(school=world.school, course=world.course, period=world.period, title="Geography")
    choices = (
        option("Tallinn", 100, feedback="Yes, since 1991."),
        option("Tartu", feedback="Tartu is the <b>second</b> largest town."),
    )
    capital = a_question(
        "single_choice",
        *choices,
        text="Capital of <b>Estonia</b>?",
        text_format="html",
        feedback="See the map on page 3.",
    )
    river = a_question(
        "numeric",
        text="How long is the Danube?\nIn km.",
        feedback="2,850 km, from Donaueschingen to the sea.",
    )
    revision = factories.published_revision(exam, [capital, river])
    factories.target(exam, world.school_class)
    entry = (revision.paper or [])[0]
    hand_in(factories.attempt(revision, student), {entry["id"]: entry["choices"][1]["id"]})
    grade_everything()
    return exam


def test_student_follows_the_bell_to_the_score_and_the_feedback(
    site: str, open_page: Callable[..., Page], world: World, student: User
) -> None:
    exam = sit_geography(world, student)
    make_happen()
    page = open_page(student, "/exams/receipts/")
    page.get_by_role("link", name="Geography").click()
    expect(page.get_by_text("The result is shown here once your school releases it.")).to_be_visible()
    expect(page.get_by_role("heading", name="Feedback")).to_have_count(0)

    now = database_now()
    Exam.objects.filter(pk=exam.pk).update(opens_at=now - 2 * HOUR, closes_at=now, scores_released_at=now)
    announce_releases()
    make_happen()
    page.goto(f"{site}/notifications/")
    page.get_by_role("link", name="The scores of Geography are released.").click()
    page.get_by_role("link", name="Geography").click()
    expect(page.get_by_text("0 of 2 points")).to_be_visible()
    feedback = page.get_by_role("region", name="Feedback")
    expect(feedback.get_by_role("article", name="Question 1")).to_contain_text(
        "Capital of Estonia? Tartu is the second largest town. See the map on page 3."
    )
    expect(feedback.get_by_role("article", name="Question 2")).to_contain_text("2,850 km")
    expect(feedback).not_to_contain_text("since 1991")
