"""The addresses of the API, in the order a student meets them. The submission's is answered by the gate, before Django."""

from django.urls import path

from exams.api.attachments import AttachmentContent, Attachments, AttachmentUpload
from exams.api.attempts import AttemptDetail, AttemptDraft, Attempts, AttemptStanding
from exams.api.exams import Exams
from exams.api.notifications import Notifications, ReadNotifications, UnreadNotifications
from exams.api.own_receipts import OwnReceipts
from exams.api.receipts import ReceiptDetail, ReceiptKeys
from exams.api.submission import AttemptSubmission
from exams.api.tokens import Tokens

urlpatterns = [
    path("tokens", Tokens.as_view(), name="api-tokens"),
    path("exams", Exams.as_view(), name="api-exams"),
    path("exams/<uuid:exam_id>/attempts", Attempts.as_view(), name="api-attempts"),
    path("attempts/<uuid:attempt_id>", AttemptDetail.as_view(), name="api-attempt"),
    path("attempts/<uuid:attempt_id>/standing", AttemptStanding.as_view(), name="api-standing"),
    path("attempts/<uuid:attempt_id>/draft", AttemptDraft.as_view(), name="api-draft"),
    path("attempts/<uuid:attempt_id>/submission", AttemptSubmission.as_view(), name="api-submission"),
    path("attempts/<uuid:attempt_id>/attachments", Attachments.as_view(), name="api-attachments"),
    path(
        "attempts/<uuid:attempt_id>/attachments/<uuid:version_id>",
        AttachmentUpload.as_view(),
        name="api-attachment",
    ),
    path(
        "attachments/<uuid:version_id>/<str:rendition>",
        AttachmentContent.as_view(),
        name="api-attachment-content",
    ),
    path("receipts", OwnReceipts.as_view(), name="api-receipts"),
    path("receipts/<uuid:receipt_id>", ReceiptDetail.as_view(), name="api-receipt"),
    path("notifications", Notifications.as_view(), name="api-notifications"),
    path("notifications/unread", UnreadNotifications.as_view(), name="api-unread-notifications"),
    path("notifications/read", ReadNotifications.as_view(), name="api-read-notifications"),
    path("receipt-keys", ReceiptKeys.as_view(), name="api-receipt-keys"),
]
