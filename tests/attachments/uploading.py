"""Uploads over the API: announced, then sent a chunk at a time."""

from typing import Any

from django.http import HttpResponse

from exams.api.attachments import CHUNK_TYPE
from tests.attachments.senders import Sender, photo_questions, sha256
from tests.exams.api.callers import Caller


def announce(caller: Caller, sender: Sender, content: bytes, **fields: Any) -> HttpResponse:
    body = {
        "question_id": str(photo_questions(sender.attempt)[0]),
        "file_name": "IMG_0001.JPG",
        "size": len(content),
        "sha256": sha256(content),
    }
    return caller.post(f"attempts/{sender.attempt.pk}/attachments", body | fields)


def send(
    caller: Caller, sender: Sender, upload: str, offset: Any, content: bytes, **headers: str
) -> HttpResponse:
    path = f"attempts/{sender.attempt.pk}/attachments/{upload}"
    headers = {"content_type": CHUNK_TYPE, "Upload-Offset": str(offset)} | headers
    return caller.call("PATCH", path, content, **headers)
