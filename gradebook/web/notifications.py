"""A person's notifications: the list, the way to what each is about, and a button that notes them all as read."""

from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_POST

from gradebook.queries.notifications import find_notification, list_notifications
from gradebook.services.notifications import mark_read
from gradebook.web.people import get_user


@require_GET
@login_required
def show_list(request: HttpRequest) -> HttpResponse:
    """Show the latest."""
    lines = list(list_notifications(person_id=get_user(request).pk))
    context = {"lines": lines, "unread": sum(line.read_at is None for line in lines)}
    return render(request, "gradebook/notifications.html", context)


@require_GET
@login_required
def open_one(request: HttpRequest, notification_id: UUID) -> HttpResponse:
    """Lead to what it is about. Whoever goes there has read it; going twice changes nothing."""
    person = get_user(request)
    line = find_notification(notification_id=notification_id, person_id=person.pk)
    if line is None:
        raise Http404
    mark_read(person_id=person.pk, ids=[line.pk])
    return redirect(line.address)


@require_POST
@login_required
def read_all(request: HttpRequest) -> HttpResponse:
    """Note all as read."""
    mark_read(person_id=get_user(request).pk)
    return redirect("gradebook:notifications")
