"""Files on their way in: kept byte for byte, gone on with where they were cut, and refused as soon as that is sure."""

import copy
import datetime as dt
from typing import Any

import pytest

from exams.attachments import arriving
from exams.attachments.arriving import add_chunk
from exams.attachments.limits import ATTEMPT_QUOTA, LARGEST_FILE, VERSIONS_PER_QUESTION
from exams.attachments.objects import get_storage
from exams.attachments.uploads import Announcement, start_upload
from exams.errors import (
    AttemptClosed,
    DigestMismatch,
    Malformed,
    NotFound,
    TooLarge,
    TooManyFiles,
    UnsuitableFile,
    UploadOver,
    WrongOffset,
)
from exams.models import AttachmentVersion, Attempt, StoredObject
from gradebook.models import User
from outbox.db import database_now
from tests.attachments import pictures
from tests.attachments.senders import (
    CHUNK,
    Sender,
    objects_of,
    photo_questions,
    read_object,
    sha256,
    stands,
)
from tests.sitting import hand_in

pytestmark = pytest.mark.django_db(transaction=True)

BIG = pictures.jpeg(2400, 1600, quality=95) + b"\0" * (2 * CHUNK + 10)


def test_a_file_arrives_in_chunks_and_is_kept_byte_for_byte(sender: Sender, events_of: Any) -> None:
    version = sender.send(BIG)

    assert (version.state, version.received, version.file_type) == ("processing", len(BIG), "image/jpeg")
    assert read_object(version, "original") == BIG
    parts = -(-len(BIG) // CHUNK)
    assert objects_of(version) == [("part", "doomed")] * parts + [("original", "kept")]
    kind, fact = events_of(sender.attempt.pk)[-1]
    assert (kind, fact) == (
        "AttachmentStored",
        {
            "attempt_id": str(sender.attempt.pk),
            "exam_id": str(sender.attempt.exam_id),
            "student_id": str(sender.attempt.student_id),
            "number": 1,
            "question_id": str(photo_questions(sender.attempt)[0]),
            "version_id": str(version.pk),
            "version_number": 1,
            "sha256": sha256(BIG),
            "size": len(BIG),
            "file_type": "image/jpeg",
        },
    )


def test_an_upload_goes_on_where_it_was_cut(sender: Sender) -> None:
    version = sender.announce(BIG).version
    sender.add(version, BIG, 0)

    again = sender.announce(BIG)

    assert (again.is_new, again.version.pk, again.version.received) == (False, version.pk, CHUNK)
    sender.add_rest(version, BIG, CHUNK)
    assert stands(version).state == "processing"


def test_a_chunk_sent_twice_is_told_where_the_upload_stands(sender: Sender) -> None:
    version = sender.announce(BIG).version
    sender.add(version, BIG, 0)

    with pytest.raises(WrongOffset) as refused:
        sender.add(version, BIG, 0)

    assert refused.value.extra == {"offset": CHUNK}
    assert objects_of(version) == [("part", "kept")]


def test_the_last_chunk_sent_again_after_its_answer_was_lost_says_that_the_upload_is_over(
    sender: Sender,
) -> None:
    content = pictures.jpeg()
    version = sender.send(content)

    with pytest.raises(UploadOver) as refused:
        sender.add(version, content, 0)

    assert refused.value.extra == {"state": "processing"}
    assert sender.announce(content).version.pk == version.pk


def test_an_upload_whose_server_died_before_the_check_is_finished_by_an_empty_chunk(sender: Sender) -> None:
    content = pictures.jpeg()
    version = sender.announce(content).version
    arriving._check_type(version, content)
    arriving._store_part(version, content, 0)  # and here it died

    finished = sender.add(version, content, len(content))

    assert finished.state == "processing"
    assert objects_of(version) == [("part", "doomed"), ("original", "kept")]
    assert sender.add(version, content, len(content)).pk == version.pk


def test_other_content_than_announced_fails_the_upload(sender: Sender) -> None:
    version = sender.announce(BIG, digest="0" * 64).version

    with pytest.raises(DigestMismatch):
        sender.add_rest(version, BIG, 0)

    failed = stands(version)
    assert (failed.state, failed.problem) == (
        "failed",
        "What arrived is not the file that was announced; please send it again.",
    )
    assert failed.diagnosis == f"Announced {'0' * 64}, arrived {sha256(BIG)}."
    assert {state for _, state in objects_of(version)} == {"doomed"}
    assert sender.announce(BIG).version.number == 2


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"GIF89a" + b"x" * 100, "This is not a photo (JPEG, PNG, WebP) and not a PDF."),
        (b"<html>" + b"x" * 100, "This is not a photo (JPEG, PNG, WebP) and not a PDF."),
        (b"\n%PDF-1.7" + b"x" * 100, "This is not a photo (JPEG, PNG, WebP) and not a PDF."),
        (b"\xff", "This is not a photo (JPEG, PNG, WebP) and not a PDF."),
        (
            pictures.heic(),
            "This photo is in the HEIC format. Take it with this page, or save it as JPEG first.",
        ),
    ],
)
def test_a_file_of_another_type_is_refused_by_its_first_bytes(
    sender: Sender, content: bytes, words: str
) -> None:
    version = sender.announce(content).version

    with pytest.raises(UnsuitableFile) as refused:
        sender.add(version, content, 0)

    assert refused.value.detail == words
    failed = stands(version)
    assert (failed.state, failed.problem, objects_of(version)) == ("failed", words, [])
    with pytest.raises(UploadOver):
        sender.add(version, content, 0)


def test_a_part_that_the_storage_has_lost_fails_the_upload_and_not_the_server(sender: Sender) -> None:
    version = sender.announce(BIG).version
    sender.add(version, BIG, 0)
    get_storage().delete(StoredObject.objects.get().name)

    with pytest.raises(DigestMismatch):
        sender.add_rest(version, BIG, CHUNK)

    assert stands(version).state == "failed"


@pytest.mark.parametrize(
    ("offset", "length", "error"),
    [
        (0, CHUNK - 1, Malformed),  # a chunk in the middle that is too small
        (0, 0, Malformed),
        (CHUNK, CHUNK, WrongOffset),
        (0, len(BIG) + 1, TooLarge),
    ],
)
def test_a_chunk_that_does_not_continue_the_upload_is_refused(
    sender: Sender, offset: int, length: int, error: type[Exception]
) -> None:
    version = sender.announce(BIG).version

    with pytest.raises(error):
        add_chunk(
            attempt_id=sender.attempt.pk,
            version_id=version.pk,
            offset=offset,
            content=(BIG + b"\0")[:length],
            arrived_at=database_now(),
            by=sender.attempt.student_id,
        )

    assert (stands(version).received, objects_of(version)) == (0, [])


def test_a_newer_file_takes_the_place_of_one_under_way(sender: Sender) -> None:
    first = sender.announce(BIG).version
    sender.add(first, BIG, 0)

    second = sender.announce(pictures.jpeg()).version

    assert (stands(first).state, objects_of(first)) == ("abandoned", [("part", "doomed")])
    assert (second.number, second.state) == (2, "pending")
    with pytest.raises(NotFound):
        sender.add(first, BIG, CHUNK)


def test_a_file_larger_than_allowed_is_refused_before_it_is_sent(sender: Sender) -> None:
    with pytest.raises(TooLarge):
        sender.announce(b"x", size=LARGEST_FILE + 1)

    assert not AttachmentVersion.objects.exists()


def test_an_attempt_takes_no_more_than_its_quota(sender: Sender) -> None:
    sender.send(pictures.jpeg())
    AttachmentVersion.objects.update(size=ATTEMPT_QUOTA, received=ATTEMPT_QUOTA)

    with pytest.raises(TooManyFiles):
        sender.announce(pictures.png(), second=True)

    assert list(AttachmentVersion.objects.values_list("number", "state")) == [(1, "processing")]


def test_a_question_takes_so_many_versions_and_no_more(sender: Sender) -> None:
    sender.send(pictures.jpeg())
    sender.attempt.attachments.update(latest_number=VERSIONS_PER_QUESTION)

    with pytest.raises(TooManyFiles):
        sender.announce(pictures.png())


def test_a_question_that_asks_for_no_file_takes_none(sender: Sender) -> None:
    other = next(
        entry["id"] for entry in sender.attempt.revision.paper or [] if entry["kind"] == "true_false"
    )
    announced = Announcement(question_id=other, file_name="a.jpg", size=10, sha256="0" * 64)

    with pytest.raises(Malformed) as refused:
        start_upload(attempt_id=sender.attempt.pk, announced=announced, by=sender.attempt.student_id)

    assert refused.value.pointer == "/question_id"


def test_another_students_upload_does_not_exist(sender: Sender, other_student: User) -> None:
    version = sender.announce(BIG).version
    stranger = Sender(copy.copy(sender.attempt))
    stranger.attempt.student = other_student

    with pytest.raises(NotFound):
        stranger.add(version, BIG, 0)
    with pytest.raises(NotFound):
        stranger.announce(BIG)

    assert objects_of(version) == []


def test_nothing_is_taken_after_the_personal_deadline(sender: Sender) -> None:
    version = sender.announce(BIG).version
    _end_the_time(sender.attempt)

    with pytest.raises(AttemptClosed):
        sender.add(version, BIG, 0)
    with pytest.raises(AttemptClosed):
        sender.announce(pictures.png(), second=True)

    assert objects_of(version) == []


def test_bytes_that_came_in_time_are_taken_though_they_are_looked_at_later(sender: Sender) -> None:
    content = pictures.jpeg()
    version = sender.announce(content).version
    arrived_at = database_now()
    _end_the_time(sender.attempt)
    Attempt.objects.filter(pk=sender.attempt.pk).update(accepts_until=arrived_at)

    taken = add_chunk(
        attempt_id=sender.attempt.pk,
        version_id=version.pk,
        offset=0,
        content=content,
        arrived_at=arrived_at,
        by=sender.attempt.student_id,
    )

    assert taken.state == "processing"


def test_nothing_is_taken_after_the_hand_in(sender: Sender) -> None:
    content = pictures.jpeg()
    version = sender.announce(content).version
    hand_in(sender.attempt, {})

    with pytest.raises(AttemptClosed):
        sender.add(version, content, 0)


def test_a_hand_in_between_the_last_chunk_and_the_check_keeps_the_file_out(sender: Sender) -> None:
    content = pictures.jpeg()
    version = sender.announce(content).version
    arriving._check_type(version, content)
    arriving._store_part(version, content, 0)
    version = AttachmentVersion.objects.select_related("attachment__attempt").get(pk=version.pk)
    hand_in(sender.attempt, {})

    with pytest.raises(AttemptClosed):
        arriving._finish(version, database_now())

    assert stands(version).state == "pending"
    assert objects_of(version) == [("part", "kept"), ("original", "doomed")]


def _end_the_time(attempt: Attempt) -> None:
    past = database_now() - dt.timedelta(seconds=1)
    Attempt.objects.filter(pk=attempt.pk).update(closes_at=past, grace_until=past, accepts_until=past)
