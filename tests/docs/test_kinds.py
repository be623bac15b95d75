"""Every kind of event that the code can say is in the table of the architecture page."""

from pathlib import Path

from config.cutover import moving
from exams import events as of_exams
from gradebook import events as of_marks
from outbox.facts import Fact

PAGE = Path(__file__).resolve().parents[2] / "docs" / "architecture.md"


def _list_kinds() -> set[str]:
    things = [thing for module in (moving, of_exams, of_marks) for thing in vars(module).values()]
    facts = [thing for thing in things if isinstance(thing, type) and issubclass(thing, Fact)]
    return {fact.kind for fact in facts if "kind" in vars(fact)}


def test_every_kind_of_event_is_named_by_its_subject() -> None:
    named = [row.split("|")[2] for row in PAGE.read_text().splitlines() if row.startswith("| `")]
    kinds = _list_kinds()
    assert {"MarkChanged", "SubmissionAccepted", "CutoverMoved"} <= kinds
    assert [kind for kind in sorted(kinds) if not any(f"`{kind}`" in row for row in named)] == []
