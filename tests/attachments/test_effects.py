"""From the event that a file has arrived to the picture that is shown, through the relay, the receipt and the render program."""

import pytest

from exams.attachments.effects import NAME
from exams.attachments.objects import get_storage
from outbox.effects.registry import RETRIES
from outbox.models import EffectReceipt
from tests.attachments import pictures
from tests.attachments.relaying import relay_everything, render_what_is_due
from tests.attachments.senders import Sender, objects_of, stands

pytestmark = pytest.mark.django_db(transaction=True)


def receipts() -> list[tuple[str, int, str]]:
    """Return state, tries and error of the renderings, in the order of their events."""
    rows = EffectReceipt.objects.filter(effect=NAME).order_by("pos")
    return list(rows.values_list("state", "tries", "error"))


def test_a_file_that_has_arrived_is_rendered_once_for_its_event(sender: Sender) -> None:
    version = sender.send(pictures.jpeg())

    relay_everything()
    relay_everything()

    assert receipts() == [("done", 1, "")]
    assert (stands(version).state, stands(version).attachment.published_id) == ("ready", version.pk)


def test_a_malformed_picture_ends_at_once_with_the_diagnosis_and_is_told_the_student(sender: Sender) -> None:
    bad = sender.send(pictures.bomb())
    good = sender.send(pictures.jpeg(), second=True)

    relay_everything()

    words = "This picture is too large: 60000 by 60000 pixels. At most 64,000,000 are taken."
    [(state, tries, error), done] = receipts()
    assert (state, tries, done) == ("failed", 1, ("done", 1, ""))
    assert f"{words} (over a limit of exams/attachments/limits.py)" in error
    assert (stands(bad).state, stands(bad).problem, stands(good).state) == ("failed", words, "ready")


def test_a_storage_that_is_away_is_tried_again_and_told_the_student_only_at_the_end(sender: Sender) -> None:
    version = sender.send(pictures.jpeg())
    get_storage().delete(version.stored_objects.get(role="original").name)

    relay_everything()
    assert (receipts()[0][:2], stands(version).state) == (("pending", 1), "processing")
    for _ in RETRIES:
        render_what_is_due()

    assert receipts()[0][:2] == ("failed", 1 + len(RETRIES))
    assert (stands(version).state, stands(version).problem) == (
        "failed",
        "This file could not be prepared for showing.",
    )
    assert "FileNotFoundError" in stands(version).diagnosis
    assert objects_of(version) == [("part", "doomed"), ("original", "kept")]
