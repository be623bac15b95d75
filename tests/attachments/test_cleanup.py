"""What is cleared away, and above all what is not."""

import datetime as dt
from functools import partial
from typing import Any

import pytest
from django.db import connection
from django.db.models import F
from hypothesis import given
from hypothesis import strategies as st

from exams.attachments import cleanup
from exams.attachments.cleanup import review_version, sweep_doomed_objects, sweep_unused_attachments
from exams.attachments.judging import Publication, judge_fate
from exams.attachments.limits import UNUSED_KEPT, UPLOAD_PATIENCE, WRITING_PATIENCE
from exams.attachments.objects import get_storage
from exams.models import AttachmentVersion, Attempt, VersionState
from exams.services.drafts import save_draft
from tests.attachments import pictures
from tests.attachments.clearing import clean_up, let_time_pass
from tests.attachments.renderings import publish, rendered_late, shown
from tests.attachments.senders import (
    CHUNK,
    Sender,
    names_in_ledger,
    names_in_storage,
    objects_of,
    photo_questions,
    stands,
)
from tests.exams.crowd import gather
from tests.exams.plans import explain
from tests.exams.together import at_once

pytestmark = pytest.mark.django_db(transaction=True)

NOW = dt.datetime(2026, 11, 29, 12, tzinfo=dt.UTC)


def name_in_draft(sender: Sender, version: AttachmentVersion) -> None:
    save_draft(
        attempt_id=sender.attempt.pk,
        student_id=sender.attempt.student_id,
        answers={str(photo_questions(sender.attempt)[0]): version.sha256},
        token=None,
    )


def answer_with(sender: Sender, version: AttachmentVersion) -> dict[str, Any]:
    return {str(photo_questions(sender.attempt)[0]): version.sha256}


def test_parts_of_a_finished_upload_are_deleted(sender: Sender) -> None:
    version = sender.send_and_render(pictures.jpeg())
    assert len(names_in_ledger()) == 4

    assert clean_up() == (0, 1)

    assert objects_of(version) == [("original", "kept"), ("preview", "kept"), ("thumbnail", "kept")]
    assert names_in_ledger() <= names_in_storage()


def test_what_was_handed_in_is_kept_for_good(sender: Sender) -> None:
    version = sender.send_and_render(pictures.jpeg())
    sender.hand_in(answer_with(sender, version))
    clean_up()
    let_time_pass(sender, 10 * UNUSED_KEPT)

    assert clean_up() == (0, 0)

    assert stands(version).review_at is None
    assert (stands(version).state, shown(version)) == ("ready", 1)


def test_what_was_handed_in_is_kept_although_it_is_not_the_version_that_is_shown(sender: Sender) -> None:
    first = sender.send_and_render(pictures.jpeg(100, 100))
    second = sender.send_and_render(pictures.jpeg(200, 200))
    sender.hand_in(answer_with(sender, first))
    clean_up()
    let_time_pass(sender, UNUSED_KEPT)

    assert clean_up() == (1, 3)

    assert (stands(first).state, stands(second).state) == ("ready", "abandoned")
    assert (objects_of(second), shown(first)) == ([], None)
    assert names_in_ledger() <= names_in_storage()


def test_an_expired_attempt_loses_its_files_after_a_while_and_not_before(sender: Sender) -> None:
    version = sender.send_and_render(pictures.jpeg())
    names = names_in_ledger()
    Attempt.objects.filter(pk=sender.attempt.pk).update(state="not_taken", ended_at=F("started_at"))
    let_time_pass(sender, UPLOAD_PATIENCE)
    assert clean_up() == (0, 1)
    assert stands(version).state == "ready"
    let_time_pass(sender, UNUSED_KEPT)

    assert clean_up() == (1, 3)

    assert (stands(version).state, objects_of(version)) == ("abandoned", [])
    assert names.isdisjoint(names_in_storage())


def test_an_open_attempt_keeps_every_version_that_has_arrived(sender: Sender) -> None:
    first = sender.send(pictures.jpeg(100, 100))
    second = sender.send(pictures.jpeg(200, 200))
    let_time_pass(sender, 10 * UNUSED_KEPT)

    assert sweep_unused_attachments() == 0

    assert [stands(each).state for each in (first, second)] == ["processing", "processing"]


def test_a_draft_keeps_its_file_while_the_attempt_may_be_opened_again(sender: Sender) -> None:
    version = sender.send(pictures.jpeg())
    name_in_draft(sender, version)
    Attempt.objects.filter(pk=sender.attempt.pk).update(state="not_taken", ended_at=F("started_at"))
    let_time_pass(sender, 2 * UNUSED_KEPT)

    assert sweep_unused_attachments() == 0


def test_an_upload_nobody_goes_on_with_is_given_up(sender: Sender) -> None:
    content = pictures.jpeg(2400, 1600, quality=95) + b"\0" * CHUNK
    version = sender.announce(content).version
    sender.add(version, content, 0)
    assert clean_up() == (0, 0)
    let_time_pass(sender, UPLOAD_PATIENCE)

    assert clean_up() == (1, 1)

    assert (stands(version).state, objects_of(version)) == ("abandoned", [])


def test_an_object_whose_writer_died_is_deleted_after_a_while(sender: Sender) -> None:
    version = sender.send(pictures.jpeg())
    sweep_doomed_objects()
    late = rendered_late(version)
    assert sweep_doomed_objects() == 0
    let_time_pass(sender, WRITING_PATIENCE)

    assert sweep_doomed_objects() == 2

    assert names_in_storage().isdisjoint({stored.name for stored in late})
    assert objects_of(version) == [("original", "kept")]


def test_an_object_that_is_gone_already_is_no_reason_to_stop(sender: Sender) -> None:
    version = sender.send(pictures.jpeg())
    get_storage().delete(version.stored_objects.get(role="part").name)

    assert sweep_doomed_objects() == 1


def test_a_rendering_that_comes_after_the_clean_up_publishes_nothing(sender: Sender) -> None:
    version = sender.send(pictures.jpeg())
    late = rendered_late(version)
    Attempt.objects.filter(pk=sender.attempt.pk).update(state="not_taken", ended_at=F("started_at"))
    let_time_pass(sender, UNUSED_KEPT)
    sweep_unused_attachments()

    assert publish(version, late) is Publication.REFUSE

    sweep_doomed_objects()
    assert (objects_of(version), shown(version)) == ([], None)
    assert names_in_storage().isdisjoint({stored.name for stored in late})


def test_clean_up_and_publication_at_once_agree_on_one_outcome(sender: Sender) -> None:
    for side in range(10, 16):
        version = sender.send(pictures.jpeg(side * 10, side * 10))
        late = rendered_late(version)
        Attempt.objects.filter(pk=sender.attempt.pk).update(state="not_taken", ended_at=F("started_at"))
        let_time_pass(sender, 10 * UNUSED_KEPT)

        _, outcome = at_once(partial(review_version, version.pk), partial(publish, version, late))

        assert outcome in {Publication.PUBLISH, Publication.REFUSE}
        assert (stands(version).state, shown(version)) == ("abandoned", None)
        assert {state for _, state in objects_of(version)} == {"doomed"}
        Attempt.objects.filter(pk=sender.attempt.pk).update(state="open", ended_at=None)


def test_a_version_that_makes_trouble_keeps_no_other_from_being_cleared(
    sender: Sender, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    bad = sender.send(pictures.jpeg(100, 100))
    good = sender.send(pictures.jpeg(200, 200), second=True)
    Attempt.objects.filter(pk=sender.attempt.pk).update(state="not_taken", ended_at=F("started_at"))
    let_time_pass(sender, UNUSED_KEPT)
    AttachmentVersion.objects.filter(pk=bad.pk).update(touched_at=F("touched_at") - UNUSED_KEPT)
    review = cleanup.review_version

    def stumble(version_id: Any) -> bool:
        if version_id == bad.pk:
            raise ValueError("a defect")
        return review(version_id)

    monkeypatch.setattr(cleanup, "review_version", stumble)

    assert sweep_unused_attachments() == 1

    assert [stands(each).state for each in (bad, good)] == ["processing", "abandoned"]
    assert f"Could not decide about attachment version {bad.pk}." in caplog.text


@given(
    state=st.sampled_from(VersionState.values),
    attempt_state=st.sampled_from(["open", "submitted", "graded", "needs_marking", "failed", "not_taken"]),
    is_named=st.booleans(),
    touched_days=st.integers(0, 30),
    ended_days=st.none() | st.integers(0, 30),
)
def test_nothing_that_was_handed_in_or_may_still_be_is_ever_abandoned(
    state: str, attempt_state: str, is_named: bool, touched_days: int, ended_days: int | None
) -> None:
    fate = judge_fate(
        state=state,
        touched_at=NOW - dt.timedelta(days=touched_days),
        attempt_state=attempt_state,
        ended_at=None if ended_days is None else NOW - dt.timedelta(days=ended_days),
        is_named=is_named,
        now=NOW,
    )

    if fate.is_abandoned and state != "pending":
        assert not is_named
        assert attempt_state != "open"
        assert ended_days is not None
        assert ended_days >= 7
    assert not (fate.is_abandoned and fate.review_at)
    assert fate.review_at is None or fate.review_at > NOW


_MANY_VERSIONS = """
    WITH attachment AS (
        INSERT INTO exams_attachment (id, school_id, exam_id, attempt_id, question_id, latest_number)
        SELECT gen_random_uuid(), school_id, exam_id, id, gen_random_uuid(), 3 FROM exams_attempt
        RETURNING id
    )
    INSERT INTO exams_attachmentversion
        (id, attachment_id, number, state, sha256, size, received, file_name, file_type, problem, diagnosis, created_at,
         touched_at, completed_at)
    SELECT gen_random_uuid(), id, number, 'ready', md5(id::text), 1, 1, '', '', '', '', now(), now(), now()
    FROM attachment, generate_series(1, 3) AS number
"""


def test_the_clean_up_looks_only_at_versions_whose_time_has_come(sender: Sender) -> None:
    gather(sender.attempt)
    with connection.cursor() as cursor:
        cursor.execute(_MANY_VERSIONS)
        cursor.execute("ANALYZE exams_attachment, exams_attachmentversion")

    indexes = explain("list_versions_to_review", {"at_most": 500, "version_id": None})

    assert indexes == {
        "attachments_review_idx",
        "exams_attachment_pkey",
        "exams_attempt_pkey",
        "exams_draft_pkey",
        "submissions_student_idx",
    }
