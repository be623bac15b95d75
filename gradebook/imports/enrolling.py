"""What a list of people would change in a school, held against what is there. Pure.

The one thing to know: it only ever adds and corrects names. Nobody is taken out of a class, switched off, moved to another school or given
another role by a file: what looks like it is a fault. Said again, a list changes nothing.
"""

import dataclasses
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import TypeVar
from uuid import UUID

from gradebook.imports.roster import Person, Roster, RosterLine
from gradebook.imports.tables import Fault
from gradebook.models import Course, Role, SchoolClass, User
from gradebook.models.marks import fold_title

T = TypeVar("T")


@dataclasses.dataclass(frozen=True, slots=True)
class SchoolAsItIs:
    """What a list is held against: the school's classes by name, courses by code, people by user name, who is where.

    People are of any school, and also those whose user names differ from the list's only in case.
    """

    school_id: UUID
    classes: Mapping[str, SchoolClass]
    courses: Mapping[str, Course]
    people: Mapping[str, User]
    learns: frozenset[tuple[UUID, UUID]]  # student, class
    teaches: frozenset[tuple[UUID, UUID, UUID]]  # teacher, class, course: in the period that is meant


@dataclasses.dataclass(frozen=True, slots=True)
class RosterPlan:
    """What is new or corrected; with faults, nothing is."""

    new_people: dict[str, Person] = dataclasses.field(default_factory=dict)
    renamed: dict[str, Person] = dataclasses.field(default_factory=dict)
    new_classes: list[str] = dataclasses.field(default_factory=list)
    enrolments: list[tuple[str, str]] = dataclasses.field(default_factory=list)  # user name, class
    assignments: list[tuple[str, str, str]] = dataclasses.field(
        default_factory=list
    )  # user name, class, course
    faults: list[Fault] = dataclasses.field(default_factory=list)
    ignored: list[str] = dataclasses.field(default_factory=list)

    @property
    def is_empty(self) -> bool:
        """Whether everything is there already."""
        return not (
            self.new_people or self.renamed or self.new_classes or self.enrolments or self.assignments
        )


def plan_roster(roster: Roster, school: SchoolAsItIs, *, makes_classes: bool, has_period: bool) -> RosterPlan:
    """Return what a list would change in a school."""
    faults = [
        *roster.faults,
        *(
            Fault(line.line, problem)
            for line in roster.lines
            for problem in _list_problems(line, school, has_period=has_period)
        ),
        *_list_people_alike(roster, school),
        *_list_missing_classes(roster, school, makes_classes=makes_classes),
    ]
    people = {line.person.username: line.person for line in roster.lines}
    placed = [line for line in roster.lines if line.class_name]
    return RosterPlan(
        new_people={name: person for name, person in people.items() if name not in school.people},
        renamed={
            name: person for name, person in people.items() if _is_renamed(person, school.people.get(name))
        },
        new_classes=_unique(line.class_name for line in placed if line.class_name not in school.classes),
        enrolments=_unique(
            (line.person.username, line.class_name)
            for line in placed
            if line.person.role == Role.STUDENT and not _learns(line, school)
        ),
        assignments=_unique(
            (line.person.username, line.class_name, line.course_code)
            for line in placed
            if line.person.role == Role.TEACHER and not _teaches(line, school)
        ),
        faults=sorted(faults, key=lambda fault: fault.line),
        ignored=roster.ignored,
    )


def _list_problems(line: RosterLine, school: SchoolAsItIs, *, has_period: bool) -> Iterator[str]:
    known, person = school.people.get(line.person.username), line.person
    if known is not None and known.school_id != school.school_id:
        yield f"“{person.username}” is somebody's user name outside this school."
    elif known is not None and known.role != person.role:
        yield f"“{person.username}” is here already, as {known.role} and not as {person.role}."
    elif known is not None and not known.is_active:
        yield f"“{person.username}” is here already, and switched off."
    if line.course_code and line.course_code not in school.courses:
        yield f"There is no course with the code “{line.course_code}” in this school."
    if line.course_code and not has_period:
        yield "A teacher teaches for a term: say which with --period."


def _list_people_alike(roster: Roster, school: SchoolAsItIs) -> Iterator[Fault]:
    """Name whoever would get a second account: the administration takes no user names that differ only in case either."""
    written = {name.casefold(): name for name in school.people}
    for line in roster.lines:
        name = line.person.username
        if name not in school.people and (known := written.get(name.casefold())):
            yield Fault(line.line, f"“{name}” is somebody's user name already, written “{known}”.")


def _list_missing_classes(roster: Roster, school: SchoolAsItIs, *, makes_classes: bool) -> Iterator[Fault]:
    """Name each class once that is not to be made, or that is there in other letters: a list of a whole school has hundreds of lines of them."""
    written = {fold_title(name): name for name in school.classes}
    missing = [line for line in roster.lines if line.class_name and line.class_name not in school.classes]
    numbers = Counter(line.class_name for line in missing)
    firsts = {line.class_name: line for line in reversed(missing)}
    for first in sorted(firsts.values(), key=lambda line: line.line):
        name, others = first.class_name, numbers[first.class_name] - 1
        more = f", here and on {others} more line{'' if others == 1 else 's'}" if others else ""
        known = written.setdefault(fold_title(name), name)
        if known != name:
            yield Fault(first.line, f"“{known}” is written “{name}”{more}: is it another class?")
        elif not makes_classes:
            yield Fault(
                first.line,
                f"There is no class “{name}” in this school{more}. Should it be made? Say --make-classes.",
            )


def _is_renamed(person: Person, known: User | None) -> bool:
    if known is None:
        return False
    is_named = (known.first_name, known.last_name) == (person.first_name, person.last_name)
    return not is_named or bool(person.email and known.email != person.email)


def _learns(line: RosterLine, school: SchoolAsItIs) -> bool:
    known, found = school.people.get(line.person.username), school.classes.get(line.class_name)
    return bool(known and found and (known.pk, found.pk) in school.learns)


def _teaches(line: RosterLine, school: SchoolAsItIs) -> bool:
    known, found = school.people.get(line.person.username), school.classes.get(line.class_name)
    course = school.courses.get(line.course_code)
    return bool(known and found and course and (known.pk, found.pk, course.pk) in school.teaches)


def _unique(things: Iterable[T]) -> list[T]:
    return list(dict.fromkeys(things))
