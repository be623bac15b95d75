"""`/marksheets/<sheet>/marks`: POST saves the cells that changed, GET tells what others changed meanwhile.

For our own pages only: a session, and CSRF checked. A save names every change exactly once: saved, in conflict or refused.
"""

from uuid import UUID

from django.utils import timezone
from rest_framework.exceptions import UnsupportedMediaType
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from gradebook.api import shapes
from gradebook.api.authentication import PageSession
from gradebook.api.bodies import SaveRequest, read_save_request
from gradebook.cells import CellChange
from gradebook.entries import Refused, read_entry
from gradebook.errors import Malformed, SomebodyElse
from gradebook.models import User
from gradebook.queries import get_layout, get_viewable_sheet, list_changes
from gradebook.services.marks import Refusal, save_marks


class Marks(APIView):
    """The marks of one sheet, as its grid saves and refreshes them."""

    authentication_classes = (PageSession,)
    schema = None  # the grid's own address, no part of the public API

    def get(self, request: Request, sheet_id: UUID) -> Response:
        """Answer with the cells the snapshot `since` has not seen, and the layout the grid should have."""
        sheet = get_viewable_sheet(sheet_id, user=_user(request))
        changes = list_changes(sheet, since=request.query_params.get("since", ""))
        return Response(shapes.changes(changes, get_layout(sheet).digest))

    def post(self, request: Request, sheet_id: UUID) -> Response:
        """Save what can be saved, and say what became of each change."""
        user = _user(request)
        sheet = get_viewable_sheet(sheet_id, user=user)
        wanted = _read(request)
        if wanted.by != user.pk:
            raise SomebodyElse
        changes, unreadable = _sort(wanted)
        outcome = save_marks(sheet=sheet, changes=changes, by=user, generation=wanted.generation)
        return Response(shapes.outcome(outcome, unreadable, saved_at=timezone.now()))


def _read(request: Request) -> SaveRequest:
    http = request._request  # noqa: SLF001 - the body as it came; DRF's own parser is less strict
    if http.content_type != "application/json":
        raise UnsupportedMediaType(request.content_type or "")
    return read_save_request(http.body)


def _sort(wanted: SaveRequest) -> tuple[list[CellChange], list[Refusal]]:
    """Part what can be read as a mark from what cannot; our own page never sends the latter."""
    keys = {change.key for change in wanted.changes}
    if len(keys) != len(wanted.changes):
        raise Malformed("A cell may be named once in a request.", pointer="/changes")
    read = {c: read_entry(c.text, decimal_sign=wanted.decimal_sign) for c in wanted.changes}
    changes = [CellChange(c.key, c.version, e, c.how) for c, e in read.items() if not isinstance(e, Refused)]
    return changes, [Refusal(c.key, e.problem, e.detail) for c, e in read.items() if isinstance(e, Refused)]


def _user(request: Request) -> User:
    assert isinstance(request.user, User)  # IsAuthenticated is the project's default
    return request.user
