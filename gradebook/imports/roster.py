"""A school's list of people as rows: who somebody is, and which class they learn or teach in. Pure; nothing is asked of the database.

The one thing to know: somebody in two classes stands on two lines, and both say the same of them. Two lines that give one user name to
two people are faults, both of them: an account would be handed to the wrong one. So are two user names that differ only in case: the
administration takes no such pair either.
"""

import dataclasses
import unicodedata
from collections.abc import Iterator, Mapping
from typing import Final

from django.core.exceptions import ValidationError

from gradebook.imports.heads import STUDENT_HEADS
from gradebook.imports.tables import BadFile, Fault, Row, Table
from gradebook.models import Role, SchoolClass, User
from gradebook.models.marks import fold_title

HEADS: Final[Mapping[str, tuple[str, ...]]] = {
    "username": STUDENT_HEADS,
    "first_name": ("first name", "given name", "firstname", "forename"),
    "last_name": ("last name", "surname", "family name", "lastname"),
    "email": ("email", "e-mail", "email address", "e-mail address"),
    "role": ("role",),
    "class": ("class", "school class", "group"),
    "course": ("course", "course code"),
}
NEEDED: Final = ("username", "first_name", "last_name")
_WHO: Final = ("username", "first_name", "last_name", "email")
_OTHERS: Final = {field.name for field in User._meta.fields} - set(_WHO)  # noqa: SLF001 - public, whatever its name says


@dataclasses.dataclass(frozen=True, slots=True)
class Person:
    """Who somebody is, as a line says it."""

    username: str
    first_name: str
    last_name: str
    email: str
    role: Role

    @property
    def full_name(self) -> str:
        """The name as shown to others."""
        return f"{self.first_name} {self.last_name}".strip() or self.username


@dataclasses.dataclass(frozen=True, slots=True)
class RosterLine:
    """A line: a person, and the class they learn in, or the class and course they teach. Either may be empty."""

    line: int
    person: Person
    class_name: str
    course_code: str


@dataclasses.dataclass(frozen=True, slots=True)
class Roster:
    """The lines that can be read, what is wrong with the others, and the headers that are passed over."""

    lines: list[RosterLine]
    faults: list[Fault]
    ignored: list[str]


def read_roster(table: Table) -> Roster:
    """Return what a table says of people, or raise `BadFile` where its header does not say who they are."""
    places = _find_heads(table.header)
    faults = list(table.faults)
    lines = [line for row in table.rows if (line := _read_line(row, places, faults))]
    faults.extend(_list_two_people(lines))
    used = set(places.values())
    ignored = [head for place, head in enumerate(table.header.values) if head and place not in used]
    return Roster(lines, sorted(faults, key=lambda fault: fault.line), ignored)


def _find_heads(header: Row) -> dict[str, int]:
    """Return where each thing is in a row."""
    folded = [fold_title(value) for value in header.values]
    found = {
        what: [place for place, head in enumerate(folded) if head in heads] for what, heads in HEADS.items()
    }
    doubled = [
        f"Several headers are “{HEADS[what][0]}”." for what, places in found.items() if len(places) > 1
    ]
    lacking = [f"No header is “{HEADS[what][0]}”." for what in NEEDED if not found[what]]
    if doubled or lacking:
        raise BadFile(*(Fault(header.line, fault) for fault in [*doubled, *lacking]))
    return {what: places[0] for what, places in found.items() if places}


def _read_line(row: Row, places: Mapping[str, int], faults: list[Fault]) -> RosterLine | None:
    said = {what: _compose(row.values[places[what]]) if what in places else "" for what in HEADS}
    said["username"] = User.normalize_username(said["username"])  # as the sign-in page does
    role = said["role"].casefold() or Role.STUDENT
    problems = list(_list_problems(said, role))
    if problems:
        faults.extend(Fault(row.line, problem) for problem in problems)
        return None
    person = Person(**{what: said[what] for what in _WHO}, role=Role(role))
    return RosterLine(row.line, person, said["class"], said["course"])


def _compose(text: str) -> str:
    """Return a text in one line, its accents stored as browsers send them: what looks alike is alike."""
    return unicodedata.normalize("NFC", " ".join(text.split()))


def _list_problems(said: Mapping[str, str], role: str) -> Iterator[str]:
    if role not in {Role.STUDENT, Role.TEACHER}:
        yield f"“{said['role']}” is no role in a list of people: student or teacher."
    elif role == Role.STUDENT and said["course"]:
        yield "A student is in a class, not in a course."
    elif role == Role.TEACHER and bool(said["class"]) != bool(said["course"]):
        yield "A teacher teaches a class in a course: say both, or neither."
    if not said["first_name"] and not said["last_name"]:
        yield "Nobody is named in this row, neither by a first nor by a last name."
    yield from _list_invalid(said)


def _list_invalid(said: Mapping[str, str]) -> Iterator[str]:
    """Yield what an account or a class could not hold."""
    account, school_class = User(**{what: said[what] for what in _WHO}), SchoolClass(name=said["class"])
    found: dict[str, list[str]] = {}
    try:
        account.clean_fields(exclude=_OTHERS)
    except ValidationError as error:
        found |= error.message_dict
    try:
        school_class.clean_fields(exclude={"id", "school", *([] if said["class"] else ["name"])})
    except ValidationError as error:
        found["class"] = error.message_dict["name"]
    for what, messages in found.items():
        yield f"{HEADS[what][0].capitalize()} “{said[what][:40]}”: {' '.join(messages)}"


def _list_two_people(lines: list[RosterLine]) -> Iterator[Fault]:
    first_lines: dict[str, RosterLine] = {}
    for line in lines:
        first = first_lines.setdefault(line.person.username.casefold(), line)
        if first.person.username != line.person.username:
            yield Fault(
                line.line,
                f"“{line.person.username}” is “{first.person.username}” on line {first.line}: user names differ in more than case.",
            )
        elif first.person != line.person:
            other = f"{first.person.full_name}, {first.person.role}"
            yield Fault(
                line.line,
                f"“{line.person.username}” is on line {first.line} already, and somebody else there ({other}).",
            )
