"""Marks in templates: exact, without needless zeros, in the reader's decimals; the form the grid has."""

from decimal import Decimal

from django import template

from gradebook.entries import plain
from gradebook.web.grid import read_decimal_sign

register = template.Library()


@register.filter
def points(value: Decimal) -> str:
    """Return `7.5`, `10`, `3.125`: what the database keeps as 7.500 is shown as it was typed."""
    return plain(value).replace(".", read_decimal_sign())
