"""Moments in a mail: plain text, on the school's clock, with the offset, so that no reader guesses whose clock it is."""

from datetime import datetime

from django import template
from django.utils import dateformat, timezone, translation

register = template.Library()


@register.filter
def mail_moment(value: datetime) -> str:
    """Return `Sun 29 Nov 2026, 18:00:00 UTC+02:00`."""
    local = timezone.localtime(value)
    with translation.override("en"):
        text = dateformat.format(local, "D j M Y, H:i:s")
    return f"{text} UTC{local.isoformat()[-6:] if local.utcoffset() else ''}"
