"""Who is looking, and what they may look at: what every page of the gradebook asks first."""

from uuid import UUID

from django.http import Http404, HttpRequest

from gradebook.models import MarkSheet, User
from gradebook.queries import find_viewable_sheet


def get_user(request: HttpRequest) -> User:
    """Return who is signed in; the view asks for a sign-in before."""
    assert isinstance(request.user, User)
    return request.user


def get_sheet_or_404(request: HttpRequest, sheet_id: UUID) -> MarkSheet:
    """Return a sheet this person may read, with `may_edit`; one that is not theirs does not exist for them."""
    sheet = find_viewable_sheet(sheet_id, user=get_user(request))
    if sheet is None:
        raise Http404
    return sheet
