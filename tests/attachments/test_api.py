"""Photographed answers over the API: announced, sent in chunks, looked at; and who may see which picture."""

import json
from typing import Any

import pytest
from django.http import HttpResponse
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from exams.models import AttachmentVersion
from gradebook.models import User
from tests.attachments import pictures
from tests.attachments.senders import CHUNK, Sender, photo_questions, sha256, stands
from tests.attachments.uploading import announce, send
from tests.exams.api.callers import Caller, read, refused, with_session, with_token
from tests.exams.grading_room import grade_everything

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def caller(student: User) -> Caller:
    return with_token(student)


def look(caller: Caller, version: AttachmentVersion, rendition: str) -> HttpResponse:
    return caller.get(f"attachments/{version.pk}/{rendition}")


def test_a_file_is_announced_sent_and_seen(caller: Caller, sender: Sender) -> None:
    content = pictures.jpeg()

    announced = read(announce(caller, sender, content), 201)
    sent = read(send(caller, sender, announced["id"], 0, content), 200)

    expected = {
        "id": announced["id"],
        "question_id": str(photo_questions(sender.attempt)[0]),
        "version": 1,
        "state": "pending",
        "is_shown": False,
        "file_name": "IMG_0001.JPG",
        "file_type": "",
        "size": len(content),
        "offset": 0,
        "sha256": sha256(content),
        "problem": "",
        "width": None,
        "height": None,
        "pages": None,
        "original_url": None,
        "preview_url": None,
        "thumbnail_url": None,
    }
    assert announced == expected
    original = f"/api/v1/attachments/{announced['id']}/original"
    arrived = {
        "state": "processing",
        "file_type": "image/jpeg",
        "offset": len(content),
        "original_url": original,
    }
    assert sent == expected | arrived
    path = f"attempts/{sender.attempt.pk}/attachments"
    assert read(caller.get(path), 200) == [sent]
    assert read(caller.get(f"{path}/{announced['id']}"), 200) == sent


def test_a_ready_file_says_where_it_can_be_seen(caller: Caller, sender: Sender) -> None:
    version = sender.send_and_render(pictures.jpeg())

    [shown] = read(caller.get(f"attempts/{sender.attempt.pk}/attachments"), 200)

    address = f"/api/v1/attachments/{version.pk}/"
    assert {
        name: shown[name] for name in ("state", "is_shown", "width", "height", "preview_url", "thumbnail_url")
    } == {
        "state": "ready",
        "is_shown": True,
        "width": 640,
        "height": 480,
        "preview_url": f"{address}preview",
        "thumbnail_url": f"{address}thumbnail",
    }


def test_announcing_again_answers_200_and_where_to_go_on(caller: Caller, sender: Sender) -> None:
    content = pictures.jpeg(2400, 1600, quality=95) + b"\0" * CHUNK
    first = read(announce(caller, sender, content), 201)
    send(caller, sender, first["id"], 0, content[:CHUNK])

    again = read(announce(caller, sender, content), 200)

    assert (again["id"], again["offset"]) == (first["id"], CHUNK)


@pytest.mark.parametrize(
    ("fields", "pointer"),
    [
        ({"size": 0}, "/size"),
        ({"size": -1}, "/size"),
        ({"size": True}, "/size"),
        ({"size": "many"}, "/size"),
        ({"sha256": "0" * 63}, "/sha256"),
        ({"sha256": "0" * 64 + "\n"}, "/sha256"),
        ({"sha256": "A" * 64}, "/sha256"),
        ({"question_id": 7}, "/question_id"),
        ({"question_id": "0193c5a4-0000-7000-8000-000000000000"}, "/question_id"),
        ({"file_name": ""}, "/file_name"),
        ({"file_name": "x" * 201}, "/file_name"),
        ({"file_name": "a\0b"}, "/file_name"),
    ],
)
def test_an_announcement_that_says_nothing_is_refused_by_its_place(
    caller: Caller, sender: Sender, fields: dict[str, Any], pointer: str
) -> None:
    problem = refused(announce(caller, sender, b"x" * 100, **fields), 400)

    assert (problem["code"], [error["pointer"] for error in problem["errors"]]) == ("malformed", [pointer])
    assert not AttachmentVersion.objects.exists()


def test_a_file_too_large_is_refused_when_it_is_announced(caller: Caller, sender: Sender) -> None:
    assert refused(announce(caller, sender, b"x", size=10**30), 413)["code"] == "too_large"


@pytest.mark.parametrize("offset", ["", "-1", "1.0", "x", "٣", "1" * 13])
def test_an_offset_that_is_no_number_is_refused(caller: Caller, sender: Sender, offset: str) -> None:
    version = sender.announce(pictures.jpeg()).version

    response = send(caller, sender, str(version.pk), offset, b"x")

    assert refused(response, 400)["code"] == "malformed"


def test_a_wrong_offset_is_told_where_the_upload_stands(caller: Caller, sender: Sender) -> None:
    version = sender.announce(pictures.jpeg()).version

    problem = refused(send(caller, sender, str(version.pk), 5, b"x"), 409)

    assert (problem["code"], problem["offset"]) == ("wrong_offset", 0)


@pytest.mark.parametrize(
    "content_type", ["application/json", "multipart/form-data; boundary=x", "image/jpeg"]
)
def test_a_chunk_of_another_media_type_is_refused(caller: Caller, sender: Sender, content_type: str) -> None:
    version = sender.announce(pictures.jpeg()).version

    response = send(caller, sender, str(version.pk), 0, b"{}", content_type=content_type)

    assert refused(response, 415)["code"] == "unsupported_media_type"


def test_a_chunk_too_large_is_refused(caller: Caller, sender: Sender) -> None:
    version = sender.announce(b"x" * 3_000_000).version

    assert (
        refused(send(caller, sender, str(version.pk), 0, b"x" * (1024 * 1024 + 1)), 413)["code"]
        == "too_large"
    )


def test_a_page_of_ours_sends_with_its_session_only_with_the_csrf_header(
    sender: Sender, student: User
) -> None:
    version = sender.announce(pictures.jpeg()).version

    problem = refused(send(with_session(student), sender, str(version.pk), 0, pictures.jpeg()), 403)

    assert problem["code"] == "permission_denied"
    assert stands(version).received == 0


def test_a_file_of_another_type_is_refused_in_words(caller: Caller, sender: Sender) -> None:
    version = sender.announce(b"GIF89a" + b"x" * 100).version

    problem = refused(send(caller, sender, str(version.pk), 0, b"GIF89a" + b"x" * 100), 422)

    words = "This is not a photo (JPEG, PNG, WebP) and not a PDF."
    assert (problem["code"], problem["detail"]) == ("unsuitable_file", words)
    [shown] = read(caller.get(f"attempts/{sender.attempt.pk}/attachments"), 200)
    assert (shown["state"], shown["problem"]) == ("failed", words)


def test_a_picture_for_showing_cannot_do_anything(caller: Caller, sender: Sender) -> None:
    version = sender.send_and_render(pictures.polyglot())

    response = look(caller, version, "preview")

    assert response.status_code == 200
    assert response.content.startswith(b"\xff\xd8\xff")
    assert {
        name: response[name]
        for name in (
            "Content-Type",
            "Content-Disposition",
            "Content-Security-Policy",
            "X-Content-Type-Options",
            "Cross-Origin-Resource-Policy",
            "Cache-Control",
        )
    } == {
        "Content-Type": "image/jpeg",
        "Content-Disposition": f'inline; filename="answer-{version.sha256[:12]}.jpg"',
        "Content-Security-Policy": "default-src 'none'; sandbox",
        "X-Content-Type-Options": "nosniff",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Cache-Control": "private, no-store",
    }


@pytest.mark.parametrize("content", [pictures.pdf(), pictures.photo_with_place()])
def test_an_original_is_the_very_file_and_only_ever_saved(
    caller: Caller, sender: Sender, content: bytes
) -> None:
    version = sender.send_and_render(content)

    response = look(caller, version, "original")

    assert response.content == content
    assert response["Content-Type"] == "application/octet-stream"
    assert response["Content-Disposition"].startswith("attachment; ")
    assert response["Content-Security-Policy"] == "default-src 'none'; sandbox"


@pytest.mark.parametrize("rendition", ["part", "nothing", "PREVIEW"])
def test_there_is_nothing_else_to_see(caller: Caller, sender: Sender, rendition: str) -> None:
    version = sender.send_and_render(pictures.jpeg())

    assert refused(look(caller, version, rendition), 404)["code"] == "not_found"


def test_who_may_see_which_picture(
    sender: Sender,
    student: User,
    other_student: User,
    teacher: User,
    other_teacher: User,
    other_school_teacher: User,
    admin: User,
) -> None:
    photo = sender.send_and_render(pictures.photo_with_place())
    pdf = sender.send_and_render(pictures.pdf(), second=True)
    first, second = map(str, photo_questions(sender.attempt))
    people = (student, other_student, teacher, other_teacher, other_school_teacher, admin)

    def codes(version: AttachmentVersion, rendition: str) -> list[int]:
        return [look(with_token(person), version, rendition).status_code for person in people]

    assert codes(photo, "preview") == [200, 404, 404, 404, 404, 200]  # nothing is handed in yet

    sender.hand_in({first: photo.sha256, second: pdf.sha256})
    grade_everything()

    assert codes(photo, "preview") == [200, 404, 200, 404, 404, 200]
    assert codes(photo, "thumbnail") == [200, 404, 200, 404, 404, 200]
    assert codes(photo, "original") == [200, 404, 404, 404, 404, 200]  # it says where it was taken
    assert codes(pdf, "original") == [200, 404, 200, 404, 404, 200]
    assert codes(pdf, "preview") == [404] * 6


def test_who_marks_may_have_the_original_of_a_photo_that_cannot_be_shown(
    sender: Sender, teacher: User
) -> None:
    photo = sender.send_and_render(pictures.truncated_jpeg())
    sender.hand_in({str(photo_questions(sender.attempt)[0]): photo.sha256})
    grade_everything()

    assert look(with_token(teacher), photo, "original").content == pictures.truncated_jpeg()


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_whatever_is_sent_is_refused_in_words_or_arrives_whole(
    sender: Sender, caller: Caller, data: st.DataObject
) -> None:
    """Any chunks at any offsets: never a 500, and an upload that says it has arrived has exactly these bytes."""
    content = data.draw(
        st.sampled_from([pictures.png(), pictures.jpeg(1500, 1500, quality=98), b"x" * 200_000])
    )
    upload = json.loads(announce(caller, sender, content).content)
    for _ in range(data.draw(st.integers(1, 5))):
        stand = stands(AttachmentVersion.objects.get(pk=upload["id"])).received
        offset = data.draw(st.just(stand) | st.integers(0, len(content) + 5))
        length = data.draw(st.sampled_from([0, 1, CHUNK, len(content)]))
        response = send(caller, sender, upload["id"], offset, content[offset : offset + length])
        assert response.status_code in {200, 400, 409, 413, 422}
    version = stands(AttachmentVersion.objects.get(pk=upload["id"]))
    assert (version.state == "processing") == (version.completed_at is not None)
    if version.completed_at:
        assert look(caller, version, "original").content == content
