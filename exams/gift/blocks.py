"""The file cut into its items: a blank line ends an item, comment lines do not count, each item knows its line.

Moodle cuts the same way, so a blank line inside a question ends it here too; the braces left open are then named.
"""

import dataclasses
import re
from collections.abc import Iterator

from exams.gift.escapes import hide

_title = re.compile(r"::(.*?)::", re.DOTALL)
_format = re.compile(r"\s*\[(html|markdown|plain|moodle)\]")


class Unreadable(Exception):
    """An item is not GIFT, or is GIFT that this product has no question for; the message says which."""


@dataclasses.dataclass(frozen=True, slots=True)
class Block:
    """One item: its first line's number and its text, escapes hidden."""

    line: int
    text: str


@dataclasses.dataclass(frozen=True, slots=True)
class Item:
    """A block taken apart. `answers` is None where there are no braces: a description."""

    title: str
    text_format: str | None
    before: str
    answers: str | None
    after: str


def list_blocks(text: str) -> Iterator[Block]:
    """Yield the items of a file; `$CATEGORY` lines are left out."""
    lines: list[str] = []
    first = 0
    for number, line in enumerate([*text.split("\n"), ""], start=1):
        stripped = line.strip()
        if stripped.startswith(("//", "$CATEGORY:")):
            continue
        if stripped:
            first = first or number
            lines.append(line)
        elif lines:
            yield Block(first, hide("\n".join(lines)))
            lines, first = [], 0


def count_categories(text: str) -> int:
    """Return how many `$CATEGORY` lines there are."""
    return sum(line.strip().startswith("$CATEGORY:") for line in text.split("\n"))


def split_title(text: str) -> tuple[str, str]:
    """Return title and rest of an item; the title is empty where there is none."""
    text = text.strip()
    if not text.startswith("::"):
        return "", text
    title = _title.match(text)
    if title is None:
        raise Unreadable("the title is opened with :: but never closed.")
    return title[1], text[title.end() :]


def take_apart(title: str, text: str) -> Item:
    """Return an item's parts, or raise `Unreadable`."""
    text_format, text = split_format(text)
    if not text.partition("{")[0].strip() and not text.partition("}")[2].strip():
        raise Unreadable("there is no text with the answers.")
    before, opening, rest = text.partition("{")
    if not opening:
        if "}" in before:
            raise Unreadable("there is a } without its {; a brace in a text is written \\}.")
        return Item(title, text_format, before, None, "")
    answers, closing, after = rest.partition("}")
    if not closing:
        raise Unreadable("the { is never closed (a blank line ends a question).")
    if "{" in answers:
        raise Unreadable("there is a { inside the braces; a brace in a text is written \\{.")
    if "{" in after:
        raise Unreadable("there are two blocks of answers; a question with gaps (cloze) is not supported.")
    if "}" in before or "}" in after:
        raise Unreadable("there is a } without its {; a brace in a text is written \\}.")
    return Item(title, text_format, before, answers, after)


def split_format(text: str) -> tuple[str | None, str]:
    """Return the `[format]` in front of a text, if there is one, and the text."""
    found = _format.match(text)
    return (found[1], text[found.end() :]) if found else (None, text)
