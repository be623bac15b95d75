"""Sessions of people who signed in to the pages: Django makes one at every sign-in, and leaves those that are over where they are."""

from django.contrib.sessions.models import Session
from django.db.models.functions import Now


def prune_sessions() -> int:
    """Forget sessions that are over; return how many. Nobody could go on with one of them."""
    return Session.objects.filter(expire_date__lt=Now()).delete()[0]
