"""Moments and days in templates, in the one form that `gradebook.moments` describes."""

from datetime import date, datetime

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

from gradebook.moments import find_day, write_day, write_moment

register = template.Library()


@register.filter
def moment(value: datetime) -> SafeString:
    """Return `Sun 29 Nov 2026, 18:00 UTC+02:00` in a `<time>`."""
    written = write_moment(value)
    return format_html(
        '<time datetime="{}">{} <span class="utc-offset">{}</span></time>',
        value.isoformat(),
        written.clock,
        written.offset,
    )


@register.filter
def plain_moment(value: datetime) -> str:
    """Return the same as text, for mails."""
    return str(write_moment(value))


@register.filter
def day(value: date) -> SafeString:
    """Return `29 Nov 2026` in a `<time>`."""
    return format_html('<time datetime="{}">{}</time>', find_day(value).isoformat(), write_day(value))
