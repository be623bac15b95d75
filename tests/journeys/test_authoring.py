"""An administrator writes a paper in the admin, previews and publishes it, in a real browser."""

from pathlib import Path

import pytest
from django.urls import reverse
from playwright.sync_api import expect

from exams.models import ExamRevision
from gradebook.models import User
from tests import factories
from tests.journeys.conftest import OpenPage
from tests.people import World

pytestmark = pytest.mark.django_db(transaction=True)

GIFT = "::Sea:: Estonia lies by the sea. {T}\n\nMatch. {=Latvia -> Riga =Lithuania -> Vilnius = -> Oslo}\n"


def test_paper_is_written_previewed_and_published(
    open_page: OpenPage, site: str, admin: User, world: World, tmp_path: Path
) -> None:
    exam = factories.exam(course=world.course, period=world.period, title="Geography")
    factories.target(exam, world.school_class)
    page = open_page(admin)

    page.goto(site + reverse("admin:exams_exam_change", args=[exam.pk]))
    page.get_by_role("button", name="New empty revision").click()
    expect(page.get_by_text("There are no questions yet.")).to_be_visible()

    page.get_by_role("link", name="Add question").click()
    expect(page.locator("#options-group")).to_be_visible()
    page.get_by_label("Kind:").select_option("numeric")
    expect(page.locator("#id_options-0-low")).to_be_visible()
    expect(page.locator("#id_options-0-text")).to_be_hidden()
    page.get_by_label("Kind:").select_option("true_false")
    expect(page.locator("#options-group")).to_be_hidden()
    expect(page.get_by_label("The statement is:")).to_be_visible()
    page.get_by_label("Kind:").select_option("multiple_choice")
    page.locator("#id_text").fill("Which are Baltic states?")
    for index, (text, is_right) in enumerate({"Latvia": True, "Lithuania": True, "Finland": False}.items()):
        page.locator(f"#id_options-{index}-text").fill(text)
        page.locator(f"#id_options-{index}-is_right").set_checked(is_right)
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_role("cell", name="Which are Baltic states?")).to_be_visible()

    page.get_by_role("link", name="Import GIFT file").click()
    file = tmp_path / "questions.gift"
    file.write_text("::Bad:: x? {~a ~b}\n\n" + GIFT, encoding="utf-8")
    page.get_by_label("GIFT file").set_input_files(file)
    page.get_by_role("button", name="Import").click()
    expect(page.get_by_text("Line 1, “Bad”: has no right choice.")).to_be_visible()
    file.write_text(GIFT, encoding="utf-8")
    page.get_by_label("GIFT file").set_input_files(file)
    page.get_by_role("button", name="Import").click()
    expect(page.get_by_text("2 questions imported.")).to_be_visible()

    page.get_by_role("link", name="Which are Baltic states?").click()
    page.go_back()
    page.get_by_role("link", name="Preview").click()
    expect(page.get_by_role("group").filter(has_text="Estonia lies by the sea.")).to_be_visible()
    expect(page.get_by_role("checkbox", name="Lithuania")).to_be_visible()
    expect(page.get_by_text("Latvia → Riga")).to_be_visible()

    page.get_by_role("link", name="Back to the revision").click()
    page.get_by_role("button", name="Publish").click()
    expect(page.get_by_text("Published: 3 points.")).to_be_visible()
    expect(page.get_by_role("button", name="New revision from this one")).to_be_visible()

    revision = ExamRevision.objects.get(exam=exam)
    assert [entry["kind"] for entry in revision.paper or []] == ["multiple_choice", "true_false", "matching"]
