"""A receipt on paper: everything on one sheet, what is signed and what is not, and nothing to press."""

import re
from pathlib import Path

import pytest
from django.urls import reverse

from exams.models import Attempt
from gradebook.models import User
from outbox.log.sequencer import sequence_events
from tests.journeys.conftest import OpenPage
from tests.sitting import hand_in

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.parametrize("paper", ["A4", "Letter"])
def test_receipt_is_printed_on_one_sheet(
    site: str, open_page: OpenPage, attempt: Attempt, student: User, tmp_path: Path, paper: str
) -> None:
    submission = hand_in(attempt)
    sequence_events()
    page = open_page(student)
    page.goto(site + reverse("exams:receipt", args=[submission.pk]))

    page.pdf(path=tmp_path / "receipt.pdf", format=paper, prefer_css_page_size=True)
    page.emulate_media(media="print")

    assert len(re.findall(rb"/Type\s*/Page\b", (tmp_path / "receipt.pdf").read_bytes())) == 1
    assert page.get_by_role("heading", name="Not signed: its place in the log").is_visible()
    assert not page.get_by_role("button", name="Print").is_visible()
