"""Pages show times as the clock on the school's wall does: the time zone is remembered at sign-in and set for each request."""

import zoneinfo
from typing import Any

from django.contrib.auth.signals import user_logged_in
from django.dispatch import receiver
from django.http import HttpRequest
from django.utils import timezone
from django.utils.deprecation import MiddlewareMixin

from config.admission.tiers import Tier, classify
from gradebook.models import User

SESSION_KEY = "time_zone"


@receiver(user_logged_in)
def remember_time_zone(request: HttpRequest, user: User, **_: Any) -> None:
    """Keep the school's time zone in the session, so that no page has to ask for it."""
    request.session[SESSION_KEY] = user.school.time_zone if user.school else None


class SchoolTimeMiddleware(MiddlewareMixin):
    """Sets the time zone of the person's school, and UTC where there is none. Behind the session middleware."""

    def process_request(self, request: HttpRequest) -> None:
        """Set it, or take away what the last request on this thread set.

        Probes are for nobody: whoever asks how we are with a session's cookie must not wait for a database that is away.
        """
        is_for_nobody = classify(request.method or "", request.path) is Tier.BASICS
        name = None if is_for_nobody else request.session.get(SESSION_KEY)
        if name:
            timezone.activate(zoneinfo.ZoneInfo(name))
        else:
            timezone.deactivate()
