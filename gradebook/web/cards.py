"""The pages of report cards: administrators issue, print and release them a class at a time; students read their own."""

import datetime as dt
import io
import zipfile
from uuid import UUID
from zoneinfo import ZoneInfo

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.db.models import Count, Q
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_GET, require_http_methods

from gradebook import policies
from gradebook.cards.pdf import Printer
from gradebook.errors import CardsRefused, GradebookError
from gradebook.filenames import attach_as, name_part
from gradebook.models import CardRelease, Period, ReportCard, Role, SchoolClass
from gradebook.moments import FIRST_YEAR, LAST_YEAR, read_moment, write_moment
from gradebook.queries.cards import (
    find_counting_card,
    find_viewable_card,
    list_current_cards,
    list_my_cards,
)
from gradebook.services.cards import (
    describe_card,
    find_changes,
    find_standings,
    issue_cards,
    release_cards,
)
from gradebook.services.class_lists import describe_class_list
from gradebook.web.people import get_user


@login_required
@require_GET
def of_term(request: HttpRequest, period_id: UUID) -> HttpResponse:
    """List the classes of a term with how many cards each has."""
    term = _get_term(request, period_id)
    issued = Count("cards", filter=Q(cards__period=term, cards__replaced_at__isnull=True), distinct=True)
    classes = SchoolClass.objects.filter(marksheet__period=term).annotate(issued=issued).distinct()
    releases = dict(CardRelease.objects.filter(period=term).values_list("school_class", "release_at"))
    rows = [(each, releases.get(each.pk)) for each in classes.order_by("name")]
    return render(request, "gradebook/term_cards.html", {"term": term, "rows": rows, "now": timezone.now()})


@login_required
@require_http_methods(["GET", "POST"])
def of_class(request: HttpRequest, period_id: UUID, class_id: UUID) -> HttpResponse:
    """Show how each card of a class stands; POST `do=issue`, `do=hold`, `do=release` (now, or `at` a local time)."""
    term = _get_term(request, period_id)
    school_class = _get_class(term, class_id)
    error = ""
    if request.method == "POST":
        try:
            messages.success(request, _carry_out(request, term, school_class))
        except GradebookError as refused:
            error = refused.detail
        else:
            return redirect("gradebook:class_cards", term.pk, school_class.pk)
    release = CardRelease.objects.filter(period=term, school_class=school_class).first()
    standings = find_standings(term, school_class)
    context = {
        "term": term,
        "school_class": school_class,
        "standings": standings,
        "has_cards": any(each.card for each in standings),
        "release": release,
        "is_released": bool(release and release.release_at and release.release_at <= timezone.now()),
        "error": error,
        "typed_at": request.POST.get("at", ""),
    }
    return render(request, "gradebook/class_cards.html", context, status=409 if error else 200)


@login_required
@require_GET
def archive(request: HttpRequest, period_id: UUID, class_id: UUID) -> HttpResponse:
    """Give all cards of a class that count as PDF, in one file."""
    term = _get_term(request, period_id)
    school_class = _get_class(term, class_id)
    cards = list_current_cards(term, school_class)
    if not cards:
        raise Http404
    packed = io.BytesIO()
    printer = Printer("report_card")
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as file:
        for place, card in enumerate(cards.values(), 1):
            file.writestr(
                f"{place:03}-{name_part(card.content['student'])}.pdf", printer.print(describe_card(card))
            )
    name = f"{name_part(term.name)}-{name_part(school_class.name)}.zip"
    return _attach(packed.getvalue(), "application/zip", name)


@login_required
@require_GET
def class_list(request: HttpRequest, period_id: UUID, class_id: UUID) -> HttpResponse:
    """Show a class's totals, students down and courses across."""
    term = _get_term(request, period_id)
    school_class = _get_class(term, class_id)
    context = {"period": term, "group": school_class, **describe_class_list(term, school_class)}
    return render(request, "gradebook/class_list.html", context)


@login_required
@require_GET
def class_list_pdf(request: HttpRequest, period_id: UUID, class_id: UUID) -> HttpResponse:
    """Give the same as PDF."""
    term = _get_term(request, period_id)
    school_class = _get_class(term, class_id)
    printed = Printer("class_list").print(describe_class_list(term, school_class))
    return _attach(printed, "application/pdf", f"{name_part(school_class.name)}.pdf")


@login_required
@require_GET
def mine(request: HttpRequest) -> HttpResponse:
    """List a student's own cards, those that are released."""
    user = get_user(request)
    if user.role != Role.STUDENT:
        raise PermissionDenied
    return render(request, "gradebook/my_cards.html", {"cards": list_my_cards(user)})


@login_required
@require_GET
def show(request: HttpRequest, card_id: UUID) -> HttpResponse:
    """Show a card; an administrator also sees what has changed since that matters to it, and the card that replaced it."""
    card = _get_card(request, card_id)
    is_office = get_user(request).role != Role.STUDENT
    changes = [] if card.replaced_at else find_changes(card)
    context = {
        "card": card,
        "is_office": is_office,
        "changes": changes if is_office else [],  # a new mark is not released with the card it is not on
        "is_outdated": bool(changes),
        "newer": find_counting_card(card) if card.replaced_at else None,
        "has_letters": any(course["letter"] for course in card.content["courses"]),
        **describe_card(card),
    }
    return render(request, "gradebook/card.html", context)


@login_required
@require_GET
def pdf(request: HttpRequest, card_id: UUID) -> HttpResponse:
    """Give a card as PDF."""
    card = _get_card(request, card_id)
    name = f"{name_part(card.content['term'])}-{name_part(card.content['student'])}.pdf"
    return _attach(Printer("report_card").print(describe_card(card)), "application/pdf", name)


def _carry_out(request: HttpRequest, term: Period, school_class: SchoolClass) -> str:
    user = get_user(request)
    match request.POST.get("do"):
        case "issue":
            done = issue_cards(period_id=term.pk, school_class=school_class, by=user)
            return f"{len(done.issued)} issued, {len(done.replaced)} replaced, {len(done.kept)} still hold."
        case "hold":
            release_cards(period=term, school_class=school_class, release_at=None, by=user)
            return "Held: students do not see their cards."
        case "release":
            at = _read_moment(request.POST.get("at", ""), term)
            release_cards(period=term, school_class=school_class, release_at=at, by=user)
            zone = ZoneInfo(term.school.time_zone)
            is_later = at > timezone.now()
            return f"Students see their cards from {write_moment(at, zone)} on." if is_later else "Released."
        case _:
            raise PermissionDenied


def _read_moment(text: str, term: Period) -> dt.datetime:
    """Return the moment a form names in the school's time zone, or now where it names none."""
    if not text:
        return timezone.now()
    at = read_moment(text, ZoneInfo(term.school.time_zone))
    if at is None:
        raise CardsRefused(
            f"“{text[:40]}” is not a date and a time between {FIRST_YEAR} and {LAST_YEAR}: write it like 2027-02-01T08:00."
        )
    return at


def _get_term(request: HttpRequest, period_id: UUID) -> Period:
    terms = policies.terms_lockable_by(get_user(request)).select_related("school")
    return get_object_or_404(terms, pk=period_id)


def _get_class(term: Period, class_id: UUID) -> SchoolClass:
    return get_object_or_404(SchoolClass, pk=class_id, school=term.school_id)


def _get_card(request: HttpRequest, card_id: UUID) -> ReportCard:
    card = find_viewable_card(card_id, user=get_user(request))
    if card is None:
        raise Http404
    return card


def _attach(body: bytes, kind: str, name: str) -> HttpResponse:
    return HttpResponse(body, content_type=kind, headers=attach_as(name))
