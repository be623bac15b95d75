"""How the commands of terms are told which one: by its id, or by its name and the school's."""

from argparse import ArgumentParser
from uuid import UUID

from django.core.management.base import CommandError

from gradebook.models import Period


def add_term_arguments(parser: ArgumentParser) -> None:
    """Declare TERM and --school."""
    parser.add_argument("term", metavar="TERM", help="the term's id or its name")
    parser.add_argument("--school", help="the school's name, where several schools have a term of that name")


def find_term(term: str, school: str | None) -> Period:
    """Return the one term meant, or raise `CommandError` saying how to name it."""
    terms = Period.objects.select_related("school")
    try:
        found = list(terms.filter(pk=UUID(term)))
    except ValueError:
        found = list(terms.filter(name=term, **({"school__name": school} if school else {})))
    if len(found) == 1:
        return found[0]
    if found:
        names = ", ".join(sorted(each.school.name for each in found))
        raise CommandError(f"Several schools have a term {term!r}: {names}. Say which with --school.")
    offered = terms.exclude(school__is_rehearsal=True).order_by("-starts_on")[:10]
    known = ", ".join(f"{each.name} ({each.school.name})" for each in offered)
    at = f" at {school!r}" if school else ""
    raise CommandError(f"There is no term {term!r}{at}. There are: {known or 'none'}.")
