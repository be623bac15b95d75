"""The console's pages. The first one refreshes itself by asking for its own middle part; every deed has a page that asks once more."""

from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from config.console import deeds
from config.console.doors import for_operators
from config.console.overview import MOST_SHOWN, overview
from config.console.reconciliation import list_differences, read_counts
from exams.models import Exam
from gradebook.models import User
from outbox.consumers import registry
from outbox.consumers.parking import list_parked_subjects
from outbox.consumers.staleness import get_consumer_status
from outbox.effects.failures import name_targets
from outbox.effects.registry import list_effects
from outbox.errors import OutboxError, UnknownConsumer
from outbox.models import Consumer, DeadLetter, EffectReceipt, EffectState, ParkedSubject
from outbox.queue.dead_letters import list_dead_letters

MOST_AT_ONCE = 500  # dead letters that one press replays; a form of ours has at most a thousand fields


@require_safe
@for_operators
def show(request: HttpRequest, operator: User) -> HttpResponse:
    """Show everything."""
    return render(request, "console/overview.html", {"seen": overview.get(), "most_shown": MOST_SHOWN})


@require_safe
@for_operators
def show_live(request: HttpRequest, operator: User) -> HttpResponse:
    """Show the part of it that changes, alone."""
    return render(request, "console/live.html", {"seen": overview.get(), "most_shown": MOST_SHOWN})


@require_safe
@for_operators
def show_exam(request: HttpRequest, operator: User, exam_id: UUID) -> HttpResponse:
    """Count one exam along the whole path."""
    exam = get_object_or_404(Exam.objects.select_related("school"), pk=exam_id)
    counts = read_counts(exam.pk)
    differences = list_differences(counts)
    has_fault = any(difference.is_fault for difference in differences)
    context = {"exam": exam, "counts": counts, "differences": differences, "has_fault": has_fault}
    return render(request, "console/exam.html", context)


@require_http_methods(["GET", "POST"])
@for_operators
def dead_letter(request: HttpRequest, operator: User, letter_id: UUID) -> HttpResponse:
    """Show a dead letter, or replay it."""
    letter = get_object_or_404(DeadLetter, pk=letter_id)
    if request.method == "POST":
        return _done(request, deeds.replay_letter(letter, by=operator))
    return render(request, "console/dead_letter.html", {"letter": letter})


@require_http_methods(["GET", "POST"])
@for_operators
def dead_letters(request: HttpRequest, operator: User) -> HttpResponse:
    """Ask whether to replay the open dead letters, or do it: those that the page counted, and none that came since."""
    ids = list(list_dead_letters().values_list("pk", flat=True)[:MOST_AT_ONCE])
    if request.method == "POST":
        seen = set(request.POST.getlist("letter"))
        return _done(request, deeds.replay_letters([each for each in ids if str(each) in seen], by=operator))
    return render(request, "console/dead_letters.html", {"ids": ids, "is_part": len(ids) == MOST_AT_ONCE})


@require_http_methods(["GET", "POST"])
@for_operators
def effect(request: HttpRequest, operator: User, receipt_id: int) -> HttpResponse:
    """Show an effect, or let it be tried again if it failed or was refused."""
    receipt = get_object_or_404(EffectReceipt, pk=receipt_id)
    if request.method == "POST":
        return _done(request, deeds.replay_effect(receipt, by=operator))
    ((_, target),) = name_targets([receipt])
    context = {
        "receipt": receipt,
        "target": target,
        "is_refused": receipt.state == EffectState.REFUSED,
        "may_be_tried": receipt.state in (EffectState.FAILED, EffectState.REFUSED),
        "is_known": receipt.effect in {each.name for each in list_effects()},
    }
    return render(request, "console/effect.html", context)


@require_http_methods(["GET", "POST"])
@for_operators
def consumer(request: HttpRequest, operator: User, name: str) -> HttpResponse:
    """Show a consumer and what it has set aside, or tell it something."""
    try:
        registry.get_consumer(name)
    except UnknownConsumer:
        raise Http404 from None
    if request.method == "POST":
        return _tell(request, get_object_or_404(Consumer, pk=name), operator)
    context = {
        "status": get_consumer_status(name),
        "has_run": Consumer.objects.filter(pk=name).exists(),
        "parked": list_parked_subjects(name)[:MOST_SHOWN],
    }
    return render(request, "console/consumer.html", context)


def _tell(request: HttpRequest, row: Consumer, operator: User) -> HttpResponse:
    match request.POST.get("deed"):
        case "pause":
            return _done(request, deeds.pause(row, by=operator))
        case "resume":
            return _done(request, deeds.resume(row, by=operator))
        case "adopt":
            try:
                return _done(request, deeds.adopt(row, by=operator))
            except OutboxError as refused:
                return _done(request, str(refused))
        case "release":
            try:
                return _done(request, deeds.release(row, request.POST.get("subject", ""), by=operator))
            except ParkedSubject.DoesNotExist:
                return _done(request, "It is no longer set aside; nothing was done.")
    raise Http404


def _done(request: HttpRequest, words: str) -> HttpResponse:
    messages.info(request, words)
    return redirect("console:overview")
