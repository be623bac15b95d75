"""Terms with what waits in them, and the amendments of a sheet or of one cell's student."""

from uuid import UUID

from django.db.models import Case, Count, Q, QuerySet, When

from gradebook import policies
from gradebook.models import Amendment, AmendmentState, Period, User

_PARTS = ("period", "sheet__course", "sheet__school_class", "column", "student", "proposed_by", "decided_by")


def list_terms(user: User) -> QuerySet[Period]:
    """Return the terms this person may lock, newest first, each with the number of amendments that wait. One query."""
    waiting = Count("amendments", filter=Q(amendments__state=AmendmentState.PROPOSED))
    terms = policies.terms_lockable_by(user).select_related("school", "locked_by")
    return terms.annotate(waiting=waiting).order_by("-starts_on", "school__name", "name")


def list_amendments(*, sheet_id: UUID) -> QuerySet[Amendment]:
    """Return the amendments of a sheet, those that wait first, then the newest. One query."""
    amendments = Amendment.objects.filter(sheet=sheet_id).select_related(*_PARTS)
    waits = Case(When(state=AmendmentState.PROPOSED, then=0), default=1)
    return amendments.order_by(waits, "-proposed_at")


def list_waiting_amendments(*, period_id: UUID) -> QuerySet[Amendment]:
    """Return what waits for a signature in a term, oldest first. One query."""
    waiting = Amendment.objects.filter(period=period_id, state=AmendmentState.PROPOSED)
    return waiting.select_related(*_PARTS).order_by("proposed_at")


def find_amendment(amendment_id: UUID, *, user: User) -> Amendment | None:
    """Return an amendment of a sheet this person may read. Two queries."""
    amendment = Amendment.objects.select_related(*_PARTS).filter(pk=amendment_id).first()
    return amendment if amendment and policies.may_view_sheet(user, amendment.sheet_id) else None
