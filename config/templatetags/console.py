"""Words for the console's templates."""

from datetime import timedelta

from django import template

from config.console.words import say_age

register = template.Library()


@register.filter
def age(value: float | timedelta) -> str:
    """Return an age, in seconds or as a difference, as a person reads it."""
    return say_age(value)
