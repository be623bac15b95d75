"""Photographed answers: announce a file, send it in chunks, see what became of it, and look at it.

Bodies of chunks are bytes, never parsed. What is sent back to a browser is told not to be run, framed or guessed at.
"""

from typing import Any
from uuid import UUID

from django.http import HttpResponse
from django.urls import reverse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from exams.api.authentication import SignedInView
from exams.api.bodies import read_body
from exams.api.fields import TokenText
from exams.api.problems import READING_A_BODY, refusals
from exams.attachments.arriving import add_chunk
from exams.attachments.limits import LARGEST_CHUNK
from exams.attachments.objects import open_object
from exams.attachments.queries import get_showable, list_uploads
from exams.attachments.reaching import reaching_storage
from exams.attachments.uploads import Announcement, get_upload, start_upload
from exams.errors import (
    AttemptClosed,
    DigestMismatch,
    ForeignPage,
    Malformed,
    NotFound,
    OutcomeUnknown,
    TooLarge,
    TooManyFiles,
    UnsuitableFile,
    UnsupportedMediaType,
    UploadOver,
    WrongOffset,
)
from exams.models import AttachmentVersion, FileType, ObjectRole, VersionState
from gradebook.models import User
from outbox.db import database_now

CHUNK_TYPE = "application/offset+octet-stream"
SHOWN_STATES = [state for state in VersionState.values if state != VersionState.ABANDONED]
RENDITIONS = [role for role in ObjectRole.values if role != ObjectRole.PART]
_LONGEST_OFFSET = 12
# A file of a stranger is looked at or saved, and does nothing, wherever it ends up.
_HARMLESS = {
    "Content-Security-Policy": "default-src 'none'; sandbox",
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Resource-Policy": "same-origin",
}


class AnnouncementForm(serializers.Serializer[Any]):
    """What is known of a file before it is sent."""

    question_id = TokenText()
    file_name = serializers.CharField(max_length=200)
    size = serializers.IntegerField(min_value=1)
    sha256 = serializers.RegexField(r"^[0-9a-f]{64}\Z", trim_whitespace=False)


class UploadSerializer(serializers.Serializer[AttachmentVersion]):
    """One file as it stands. `offset` is how much has arrived. `sha256` is what the answer to its question names.

    `pending`: arriving. `processing`: arrived and safe; what is shown of it is being made. `ready`. `failed`: see `problem`.
    """

    id = serializers.UUIDField()
    question_id = serializers.UUIDField(source="attachment.question_id")
    version = serializers.IntegerField(source="number")
    state = serializers.ChoiceField(choices=SHOWN_STATES)
    is_shown = serializers.SerializerMethodField()
    file_name = serializers.CharField()
    file_type = serializers.ChoiceField(choices=[*FileType.values, ""])
    size = serializers.IntegerField()
    offset = serializers.IntegerField(source="received")
    sha256 = serializers.CharField()
    problem = serializers.CharField()
    width = serializers.IntegerField(allow_null=True)
    height = serializers.IntegerField(allow_null=True)
    pages = serializers.IntegerField(allow_null=True)
    original_url = serializers.SerializerMethodField()
    preview_url = serializers.SerializerMethodField()
    thumbnail_url = serializers.SerializerMethodField()

    def get_is_shown(self, version: AttachmentVersion) -> bool:
        """Whether this version is the one that is shown for its question."""
        return version.attachment.published_id == version.pk

    def get_original_url(self, version: AttachmentVersion) -> str | None:
        """Where the file can be had as it was sent; null until all of it has arrived."""
        return _url(version, ObjectRole.ORIGINAL) if version.completed_at else None

    def get_preview_url(self, version: AttachmentVersion) -> str | None:
        """Where the picture can be seen; null until it was made, and for a PDF."""
        return _url(version, ObjectRole.PREVIEW) if _has_pictures(version) else None

    def get_thumbnail_url(self, version: AttachmentVersion) -> str | None:
        """Where a small copy of the picture can be seen; null until it was made, and for a PDF."""
        return _url(version, ObjectRole.THUMBNAIL) if _has_pictures(version) else None


class Attachments(SignedInView):
    """The files of one attempt."""

    @extend_schema(
        operation_id="list_attachments",
        summary="List the files sent with an attempt",
        responses={200: UploadSerializer(many=True)} | refusals(NotFound),
    )
    def get(self, request: Request, attempt_id: UUID) -> Response:
        """Answer with all versions, by question and number."""
        uploads = list_uploads(attempt_id=attempt_id, student_id=self.person_id)
        return Response([UploadSerializer(upload).data for upload in uploads])

    @extend_schema(
        operation_id="announce_attachment",
        summary="Announce a file, or go on with it",
        request=AnnouncementForm,
        responses={201: UploadSerializer, 200: UploadSerializer}
        | refusals(*READING_A_BODY, NotFound, AttemptClosed, TooManyFiles, ForeignPage, OutcomeUnknown),
    )
    def post(self, request: Request, attempt_id: UUID) -> Response:
        """Answer 201 with a new upload, or 200 with the one of the same file that was begun before: go on at its `offset`.

        JPEG, PNG, WebP or PDF, at most 20 MiB a file and 200 MiB an attempt; what counts is what is in the file, not its name. Once it
        has arrived, save its `sha256` as the answer to its question.
        """
        announced = Announcement(**read_body(request, AnnouncementForm))
        started = start_upload(attempt_id=attempt_id, announced=announced, by=self.person_id)
        code = status.HTTP_201_CREATED if started.is_new else status.HTTP_200_OK
        return Response(UploadSerializer(started.version).data, status=code)


class AttachmentUpload(SignedInView):
    """One file on its way."""

    @extend_schema(
        operation_id="get_attachment",
        summary="See how far an upload is",
        responses={200: UploadSerializer} | refusals(NotFound),
    )
    def get(self, request: Request, attempt_id: UUID, version_id: UUID) -> Response:
        """Answer with the upload; after a cut connection go on at its `offset`."""
        version = get_upload(attempt_id=attempt_id, version_id=version_id, by=self.person_id)
        return Response(UploadSerializer(version).data)

    @extend_schema(
        operation_id="send_chunk",
        summary="Send the next bytes of a file",
        parameters=[
            OpenApiParameter(
                "Upload-Offset",
                int,
                OpenApiParameter.HEADER,
                required=True,
                description="Where in the file they begin.",
            )
        ],
        request={CHUNK_TYPE: OpenApiTypes.BINARY},
        responses={200: UploadSerializer}
        | refusals(
            *READING_A_BODY,
            NotFound,
            AttemptClosed,
            WrongOffset,
            UploadOver,
            UnsuitableFile,
            DigestMismatch,
            ForeignPage,
            OutcomeUnknown,
        ),
    )
    def patch(self, request: Request, attempt_id: UUID, version_id: UUID) -> Response:
        """Keep these bytes and answer with the upload; with the last ones the whole file is checked and kept.

        From 64 KiB to 1 MiB, the last ones may be fewer; none at all, at the end, ask for the check again. After a lost answer look up
        the `offset` and go on from there.
        """
        arrived_at = database_now()
        offset, content = _read_offset(request), _read_chunk(request)
        with reaching_storage():
            version = add_chunk(
                attempt_id=attempt_id,
                version_id=version_id,
                offset=offset,
                content=content,
                arrived_at=arrived_at,
                by=self.person_id,
            )
        return Response(UploadSerializer(version).data)


class AttachmentContent(SignedInView):
    """What can be seen of a file, by its student, by who marks it, and by administrators."""

    @extend_schema(
        operation_id="get_attachment_content",
        summary="Look at a file",
        parameters=[OpenApiParameter("rendition", str, OpenApiParameter.PATH, enum=RENDITIONS)],
        responses={
            (200, "image/jpeg"): OpenApiResponse(OpenApiTypes.BINARY, description="A picture to be shown."),
            (200, "application/octet-stream"): OpenApiResponse(
                OpenApiTypes.BINARY, description="The file as it was sent, to be saved."
            ),
        }
        | refusals(NotFound),
    )
    def get(self, request: Request, version_id: UUID, rendition: str) -> HttpResponse:
        """Answer with the bytes. Pictures for showing carry no metadata; originals are always a download."""
        if rendition not in RENDITIONS:
            raise NotFound
        person = User.objects.get(pk=self.person_id)
        found = get_showable(version_id=version_id, role=ObjectRole(rendition), by=person)
        is_picture = rendition != ObjectRole.ORIGINAL
        with reaching_storage(), open_object(found.stored) as content:
            response = HttpResponse(
                content.read(),
                content_type=found.content_type if is_picture else "application/octet-stream",
                headers=_HARMLESS,
            )
        disposition = "inline" if is_picture else "attachment"
        response["Content-Disposition"] = f'{disposition}; filename="{found.file_name}"'
        return response


def _read_offset(request: Request) -> int:
    text = request.headers.get("Upload-Offset", "")
    if not (text.isascii() and text.isdigit() and len(text) <= _LONGEST_OFFSET):
        raise Malformed("The header Upload-Offset says, as a number, where in the file these bytes begin.")
    return int(text)


def _read_chunk(request: Request) -> bytes:
    http = request._request  # noqa: SLF001 - Django's request, whose body nobody has read yet
    content = http.read(LARGEST_CHUNK + 1)
    if len(content) > LARGEST_CHUNK:
        raise TooLarge(f"A chunk has at most {LARGEST_CHUNK:,} bytes.")
    if content and (http.content_type != CHUNK_TYPE or "Content-Encoding" in http.headers):
        raise UnsupportedMediaType(f"Send bytes, as {CHUNK_TYPE}.")
    return content


def _has_pictures(version: AttachmentVersion) -> bool:
    return version.state == VersionState.READY and version.file_type != FileType.PDF


def _url(version: AttachmentVersion, role: ObjectRole) -> str:
    return reverse("api-attachment-content", args=[version.pk, role])
