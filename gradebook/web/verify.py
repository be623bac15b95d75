"""`/verify/`: anybody who holds a printed card can ask whether it is genuine and whether it still holds. No mark is revealed."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from gradebook.cards.codes import LONGEST, read_code
from gradebook.models import ReportCard
from gradebook.queries.cards import find_card_by_code
from gradebook.services.cards import find_changes


@require_GET
def verify(request: HttpRequest) -> HttpResponse:
    """Ask for a code, or say what the card with this `code` is."""
    typed = request.GET.get("code", "")[:LONGEST]
    card = find_card_by_code(read_code(typed)) if typed else None
    context = {
        "typed": typed,
        "card": card,
        "state": _find_state(card) if card else "",
        "initials": _initials(card),
    }
    return render(request, "gradebook/verify.html", context, status=404 if typed and card is None else 200)


def _find_state(card: ReportCard) -> str:
    if card.replaced_at:
        return "replaced"
    return "outdated" if find_changes(card) else "current"


def _initials(card: ReportCard | None) -> str:
    """Return enough of a name to compare with the paper, and no more."""
    return "".join(f"{word[0]}." for word in card.content["student"].split()) if card else ""
