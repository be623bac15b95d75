"""Which effects exams have, and which events other systems may be told of."""

from datetime import timedelta

from django.conf import settings

from exams.effects.drafts import delete_old_drafts, delete_spent_draft
from exams.effects.mail import mail_receipt
from exams.effects.notifications import TOLD, tell
from exams.effects.proctoring import tell_proctoring_service
from exams.events import (
    AttemptNotTaken,
    AttemptReopened,
    AttemptStarted,
    DeadlineMoved,
    ExamPublished,
    GradingFailed,
    ScoresReleased,
    SubmissionAccepted,
    SubmissionGraded,
)
from gradebook.events import ColumnChanged, ColumnRemoved, MarkChanged
from gradebook.services.notifications import prune_notifications
from gradebook.services.sessions import prune_sessions
from outbox.effects import Effect, register_effect
from outbox.periodic import Periodic, register_periodic
from outbox.webhooks import offer_kinds

OFFERED = (
    ExamPublished,
    AttemptStarted,
    DeadlineMoved,
    SubmissionAccepted,
    AttemptNotTaken,
    AttemptReopened,
    SubmissionGraded,
    GradingFailed,
    ScoresReleased,
    MarkChanged,
    ColumnChanged,
    ColumnRemoved,
)
ENDED = frozenset({SubmissionAccepted.kind, AttemptNotTaken.kind})


def register() -> None:
    """Make them known to the relay of this process. Without a proctoring service there is nobody to be told."""
    accepted = frozenset({SubmissionAccepted.kind})
    register_effect(Effect("delete_spent_draft", accepted, delete_spent_draft))
    register_effect(Effect("notify", TOLD, tell))
    register_effect(Effect("mail_receipt", accepted, mail_receipt, outside=True))
    if settings.PROCTORING_URL:
        register_effect(Effect("proctoring_finish", ENDED, tell_proctoring_service, outside=True))
    register_periodic(Periodic("old drafts", timedelta(hours=1), delete_old_drafts))
    register_periodic(Periodic("old notifications", timedelta(days=1), prune_notifications))
    register_periodic(Periodic("old sessions", timedelta(days=1), prune_sessions))
    offer_kinds(fact.kind for fact in OFFERED)
