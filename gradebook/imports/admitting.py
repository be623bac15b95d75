"""A list of people is held against a school and put into it: everything it says, or nothing."""

import dataclasses
import datetime as dt
from collections.abc import Mapping

from django.contrib.auth.hashers import make_password
from django.db import transaction
from django.db.models import Q
from django.db.models.functions import Lower

from gradebook.imports.enrolling import RosterPlan, SchoolAsItIs, plan_roster
from gradebook.imports.reading import read_table
from gradebook.imports.roster import Roster, read_roster
from gradebook.imports.tables import PEOPLE, BadFile
from gradebook.models import Course, Enrolment, Period, School, SchoolClass, TeachingAssignment, User
from gradebook.services.sheets import assign_teacher

_TOGETHER = 1_000


@dataclasses.dataclass(frozen=True, slots=True)
class RosterWishes:
    """How a list is meant: the term its teachers teach in, the day its students come, whether classes are made that are not there."""

    period: Period | None
    starts_on: dt.date
    makes_classes: bool = False
    worksheet: str = ""


def prepare_roster(*, school: School, data: bytes, wishes: RosterWishes) -> RosterPlan:
    """Return what a file would change in a school; nothing is written. Six reads. Raises what `read_workbook` raises of a workbook."""
    try:
        table = read_table(data, decimal_sign=".", worksheet=wishes.worksheet, bounds=PEOPLE)
        roster = read_roster(table)
    except BadFile as error:
        return RosterPlan(faults=list(error.faults))
    return plan_roster(
        roster,
        _look_at(school, roster, wishes),
        makes_classes=wishes.makes_classes,
        has_period=wishes.period is not None,
    )


def apply_roster(
    *, school: School, plan: RosterPlan, wishes: RosterWishes, passwords: Mapping[str, str]
) -> None:
    """Put all of a plan without faults into a school, in one transaction (join it, to do something with it).

    `passwords` are hashed, by user name; who has none cannot sign in. Raises `IntegrityError` where somebody else was quicker.
    """
    assert not plan.faults
    with transaction.atomic():
        _write_people(school, plan, passwords)
        names = {name for name, *_ in [*plan.enrolments, *plan.assignments]}
        people = {person.username: person for person in User.objects.filter(username__in=names)}
        SchoolClass.objects.bulk_create(SchoolClass(school=school, name=name) for name in plan.new_classes)
        classes = {each.name: each for each in SchoolClass.objects.filter(school=school)}
        Enrolment.objects.bulk_create(
            [
                Enrolment(student=people[name], school_class=classes[class_name], starts_on=wishes.starts_on)
                for name, class_name in plan.enrolments
            ],
            batch_size=_TOGETHER,
        )
        courses = {course.code: course for course in Course.objects.filter(school=school)}
        for name, class_name, code in plan.assignments:
            assert wishes.period is not None
            assign_teacher(
                teacher=people[name],
                school_class=classes[class_name],
                course=courses[code],
                period=wishes.period,
            )


def _write_people(school: School, plan: RosterPlan, passwords: Mapping[str, str]) -> None:
    new = [
        User(
            **dataclasses.asdict(person),
            school=school,
            password=passwords.get(name) or make_password(None),
        )
        for name, person in plan.new_people.items()
    ]
    User.objects.bulk_create(new, batch_size=_TOGETHER)
    renamed = list(User.objects.select_for_update().filter(username__in=plan.renamed))
    for person in renamed:
        said = plan.renamed[person.username]
        person.first_name, person.last_name = said.first_name, said.last_name
        person.email = said.email or person.email
    User.objects.bulk_update(renamed, ["first_name", "last_name", "email"], batch_size=_TOGETHER)


def _look_at(school: School, roster: Roster, wishes: RosterWishes) -> SchoolAsItIs:
    names = {line.person.username for line in roster.lines}
    alike = Q(lower__in={name.lower() for name in names})
    known = User.objects.annotate(lower=Lower("username")).filter(Q(username__in=names) | alike)
    people = {person.username: person for person in known}
    is_there = Q(ends_on__isnull=True) | Q(ends_on__gte=wishes.starts_on)
    enrolments = Enrolment.objects.filter(is_there, school_class__school=school, student__in=people.values())
    assignments = TeachingAssignment.objects.filter(period=wishes.period, teacher__in=people.values())
    return SchoolAsItIs(
        school_id=school.pk,
        classes={each.name: each for each in SchoolClass.objects.filter(school=school)},
        courses={course.code: course for course in Course.objects.filter(school=school)},
        people=people,
        learns=frozenset(enrolments.values_list("student", "school_class")),
        teaches=frozenset(assignments.values_list("teacher", "school_class", "course")),
    )
