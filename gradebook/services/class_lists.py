"""The class list: the totals of a class, students down and courses across, as it is shown and printed.

The one thing to know: it is read while the term is shared, so that state, place in the log and totals are of one moment. The place is named
only where the marks stand still and the log has numbered them all; a list of an open term says that it may change.
"""

from typing import Any
from zoneinfo import ZoneInfo

from django.utils import timezone

from gradebook.cards.content import CourseLine, find_checksum
from gradebook.models import Period, SchoolClass
from gradebook.moments import write_moment
from gradebook.queries.cards import read_contents
from gradebook.queries.sheets import list_members
from gradebook.services.cards import is_numbered, name_state
from gradebook.services.terms import changing_marks
from outbox.log.reading import get_head


def describe_class_list(period: Period, school_class: SchoolClass) -> dict[str, Any]:
    """Return a class's totals with the state of the term, the checksum of what is listed, and where it stands in the log."""
    with changing_marks([period.pk]) as terms:
        term = terms[period.pk]
        contents = list(read_contents(term, school_class, list_members(term, school_class)).values())
        position = str(get_head()) if term.is_locked and is_numbered(term) else ""
    listed = {
        "school": term.school.name,
        "term": term.name,
        "school_class": school_class.name,
        "courses": [line.course for line in contents[0].courses] if contents else [],
        "rows": [
            {"student": content.student, "totals": [_show(line) for line in content.courses]}
            for content in contents
        ],
    }
    return {
        **listed,
        "printed_at": str(write_moment(timezone.now(), ZoneInfo(term.school.time_zone))),
        "token": name_state(term).rpartition("/")[2],
        "position": position,
        "checksum": find_checksum(listed),
    }


def _show(line: CourseLine) -> str:
    if line.state == "withheld":
        return "withheld"
    return f"{line.total} {line.letter}".strip() or "\N{EN DASH}"
