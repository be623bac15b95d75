"""A line of history in words: what the cell showed before and after, and why it changed. Pure; no HTML, no database."""

import dataclasses
from collections.abc import Iterable, Iterator
from decimal import Decimal

from django.utils.formats import number_format

from projections.models import HistoryEntry

NO_MARK = "—"
FROM_COPY = "from_copy"  # no event's reason: a copy of the old system does not say more

REASONS: dict[str, str] = {  # every `gradebook.events.Reason` and that of a copy; a test compares
    "typed": "typed in the sheet",
    "cleared": "cleared in the sheet",
    "posted": "posted from the exam",
    "kept_beside": "exam result kept beside the teacher's own mark",
    "pasted": "pasted into the sheet",
    "imported": "imported from a file",
    "undone": "undone",
    "carried_over": "taken over from the old system",
    "amended": "changed by a signed amendment of the locked term",
    FROM_COPY: "saved in the old system",
}


@dataclasses.dataclass(frozen=True, slots=True)
class HistoryLine:
    """One change, ready to be shown. `old` and `new` are marks in the reader's number format."""

    change: HistoryEntry
    old: str
    new: str
    why: str
    who: str
    automatic: str

    @property
    def is_kept_beside(self) -> bool:
        """Whether the mark itself stayed as it was and only the automatic result beside it moved."""
        return self.change.reason == "kept_beside"


def describe_changes(changes: Iterable[HistoryEntry]) -> Iterator[HistoryLine]:
    """Put changes into words, in the order given."""
    return map(describe_change, changes)


def describe_change(change: HistoryEntry) -> HistoryLine:
    """Put one change into words."""
    return HistoryLine(
        change=change,
        old=show_mark(change.old_value, change.old_code),
        new=show_mark(change.new_value, change.new_code),
        why=explain(change.reason, change.origin),
        who=change.actor_name or change.actor_type,
        automatic=show_mark(change.automatic_value, ""),
    )


def explain(reason: str, origin: str) -> str:
    """Return a reason in words, with the file and line it came from where there is one."""
    words = REASONS.get(reason, reason)
    return f"{words}: {origin}" if origin else words


def show_mark(value: Decimal | None, code: str) -> str:
    """Return a mark as a person writes it: 8.5 or 8,5 by locale, a code as its word, a dash for none."""
    if value is not None:
        return number_format(_without_trailing_zeros(value), use_l10n=True)
    return code or NO_MARK


def _without_trailing_zeros(value: Decimal) -> Decimal:
    """8.500 -> 8.5 and 10.000 -> 10 (never 1E+1)."""
    return value.quantize(Decimal(1)) if value == value.to_integral_value() else value.normalize()
