"""Every kind of event that the code can say is in the table of the architecture page."""

from collections.abc import Iterator
from pathlib import Path

import config.cutover.moving
import exams.events
import gradebook.events  # noqa: F401 - all of these declare kinds
from outbox.facts import Fact

PAGE = Path(__file__).resolve().parents[2] / "docs" / "architecture.md"
APPS = {"config", "exams", "gradebook"}


def _list_kinds(of: type[Fact] = Fact) -> Iterator[str]:
    for fact in of.__subclasses__():
        if fact.__module__.partition(".")[0] in APPS and "kind" in vars(fact):
            yield fact.kind
        yield from _list_kinds(fact)


def test_every_kind_of_event_is_named_by_its_subject() -> None:
    named = [row.split("|")[2] for row in PAGE.read_text().splitlines() if row.startswith("| `")]
    kinds = sorted(_list_kinds())
    assert len(kinds) > 10  # they are found
    assert [kind for kind in kinds if not any(f"`{kind}`" in row for row in named)] == []
