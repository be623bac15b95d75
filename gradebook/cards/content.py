"""What stands on a report card, its checksum, and how two cards differ. Pure.

The one thing to know: the content is canonical JSON (sorted names, numbers as text), and the checksum is over exactly these bytes. What
is not in it (when it was issued, its code) may differ between two cards that say the same.
"""

import dataclasses
import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from gradebook.entries import Entry, plain
from gradebook.totals import Total


@dataclasses.dataclass(frozen=True, slots=True)
class MarkLine:
    """One column of a course as a card shows it."""

    title: str
    mark: str
    out_of: str
    part: str


@dataclasses.dataclass(frozen=True, slots=True)
class CourseLine:
    """One course as a card shows it; `total` is a percentage as text, or empty where `state` says why there is none."""

    code: str
    course: str
    state: str
    total: str
    letter: str
    marks: tuple[MarkLine, ...]


@dataclasses.dataclass(frozen=True, slots=True)
class CardContent:
    """A whole card."""

    school: str
    term: str
    school_class: str
    student: str
    courses: tuple[CourseLine, ...]

    def as_json(self) -> dict[str, Any]:
        """Return it as it is stored."""
        return json.loads(json.dumps(dataclasses.asdict(self)))  # type: ignore[no-any-return] # an object is what goes in

    @property
    def checksum(self) -> str:
        """The SHA-256 of the canonical text, in hexadecimal."""
        return find_checksum(self.as_json())


def find_checksum(content: Mapping[str, Any]) -> str:
    """Return the SHA-256 of a stored content's canonical text, in hexadecimal."""
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def show_entry(entry: Entry) -> str:
    """Return a mark as a card shows it: a number, a code's word, or nothing."""
    return entry.code or ("" if entry.value is None else plain(entry.value))


def show_total(total: Total) -> str:
    """Return a total as a card shows it."""
    return "" if total.percent is None else f"{total.percent:f}"


def find_difference(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[dict[str, str]]:
    """Return what differs between two stored contents, line by line: what, was, is. Empty when they say the same.

    Lines of history that change nothing a card shows are therefore not in it: only what matters to this card is.
    """
    was, now = _flatten(before), _flatten(after)
    return [
        {"what": name, "was": was.get(name, ""), "is": now.get(name, "")}
        for name in [*was, *(name for name in now if name not in was)]
        if was.get(name) != now.get(name)
    ]


def _flatten(content: Mapping[str, Any]) -> dict[str, str]:
    """Return a content as one text a line, in the order of the card."""
    lines = {
        "School": content["school"],
        "Term": content["term"],
        "Class": content["school_class"],
        "Name": content["student"],
    }
    for course in content["courses"]:
        name = course["course"]
        lines[f"{name}: total"] = _describe_total(course)
        for mark in course["marks"]:
            lines[f"{name}: {mark['title']}"] = _describe_mark(mark)
    return lines


def _describe_total(course: Mapping[str, Any]) -> str:
    if course["state"] != "result":
        return "withheld" if course["state"] == "withheld" else "no result"
    return f"{course['total']} % {course['letter']}".strip()


def _describe_mark(mark: Mapping[str, Any]) -> str:
    shown = f"{mark['mark'] or 'no mark'} of {mark['out_of']}"
    return shown if mark["part"] == "counted" else f"{shown}, {mark['part']}"


def order_courses(courses: Sequence[CourseLine]) -> tuple[CourseLine, ...]:
    """Return courses in the order of a card."""
    return tuple(sorted(courses, key=lambda line: (line.course, line.code)))
