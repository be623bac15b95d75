"""From the event that a file has arrived to the picture that is shown, through the relay, the receipt and the render program."""

import pytest
from django.core.files.base import ContentFile

from exams.attachments.effects import NAME
from exams.attachments.objects import get_storage
from exams.attachments.publication import render_version, reopen_version
from exams.errors import DigestMismatch
from outbox.effects.failures import list_failed_effects, list_refused_effects, replay_effects
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
    assert (state, tries, done) == ("refused", 1, ("done", 1, ""))
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


def replay() -> None:
    """What `manage.py effects replay --effect render_attachment` does, with and without `--refused`, and the next try."""
    for unhappened in (list_failed_effects(effect=NAME), list_refused_effects(effect=NAME)):
        replay_effects(ids=unhappened.values_list("pk", flat=True))
    render_what_is_due()


def test_a_failed_rendering_that_is_replayed_is_shown_once_its_cause_is_gone(sender: Sender) -> None:
    content = pictures.jpeg()
    version = sender.send(content)
    original = version.stored_objects.get(role="original").name
    get_storage().delete(original)
    relay_everything()
    for _ in RETRIES:
        render_what_is_due()
    assert (receipts()[0][0], stands(version).state) == ("failed", "failed")

    get_storage().save(original, ContentFile(content))
    replay()

    assert receipts() == [("done", 1, "")]
    shown = stands(version)
    assert (shown.state, shown.problem, shown.diagnosis) == ("ready", "", "")
    assert shown.attachment.published_id == version.pk


def test_a_malformed_picture_that_is_replayed_fails_again_with_its_words(sender: Sender) -> None:
    version = sender.send(pictures.bomb())
    relay_everything()
    first, words = receipts(), (stands(version).state, stands(version).problem, stands(version).diagnosis)
    assert (first[0][0], words[0]) == ("refused", "failed")

    replay()

    assert receipts() == first
    assert (stands(version).state, stands(version).problem, stands(version).diagnosis) == words


def test_a_rendering_whose_process_died_before_its_receipt_is_not_called_done(sender: Sender) -> None:
    version = sender.send(pictures.truncated_jpeg())
    render_version(version.pk)  # and the process dies

    relay_everything()

    assert [state for state, *_ in receipts()] == ["refused"]


def test_only_a_failed_version_of_a_complete_file_is_opened_again(sender: Sender) -> None:
    ready = sender.send_and_render(pictures.jpeg())
    content = pictures.jpeg(100, 100)
    forged = sender.announce(content, digest="0" * 64).version
    with pytest.raises(DigestMismatch):
        sender.add_rest(forged, content, 0)

    assert [reopen_version(each.pk) for each in (ready, forged)] == [False, False]
    assert [stands(each).state for each in (ready, forged)] == ["ready", "failed"]
