"""What report cards would say now, and the cards that were issued."""

from collections import defaultdict
from collections.abc import Collection
from uuid import UUID

from django.db.models import Exists, F, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Now

from gradebook import policies
from gradebook.cards.content import (
    CardContent,
    CourseLine,
    MarkLine,
    order_courses,
    show_entry,
    show_total,
)
from gradebook.entries import Entry, plain
from gradebook.models import CardRelease, Column, Mark, MarkSheet, Period, ReportCard, Role, SchoolClass, User
from gradebook.queries.names import by_name
from gradebook.queries.sheets import enrolments_in, list_members
from gradebook.queries.totals import SheetRules, read_rules
from gradebook.totals import find_total

_PARTS = ("school", "period", "school_class", "student", "issued_by")


def list_card_holders(period: Period, school_class: SchoolClass) -> QuerySet[User]:
    """Return those on a class's sheets whose card of a term this class makes, by name: somebody who moved has it from the class they came to last.

    Who was in no class at all, and has marks here, has it from here.
    """
    touching = enrolments_in(period).filter(student=OuterRef("pk"))
    last = touching.order_by("-starts_on", F("ends_on").desc(nulls_first=True), "-pk").values("school_class")[
        :1
    ]
    people = list_members(period, school_class).annotate(last_class=Subquery(last))
    return people.filter(Q(last_class=school_class.pk) | Q(last_class__isnull=True))


def read_contents(
    period: Period,
    school_class: SchoolClass,
    people: QuerySet[User],
    students: Collection[UUID] | None = None,
) -> dict[UUID, CardContent]:
    """Return what the cards of a class's people in a term would say now, by student, in their order. Eight queries."""
    if students is not None:
        people = people.filter(pk__in=list(students))
    sheets = list(MarkSheet.objects.filter(period=period, school_class=school_class).select_related("course"))
    rules = read_rules([sheet.pk for sheet in sheets])
    columns: defaultdict[UUID, list[Column]] = defaultdict(list)
    for column in Column.objects.filter(sheet__in=sheets).order_by("position", "id"):
        columns[column.sheet_id].append(column)
    marks: defaultdict[tuple[UUID, UUID], dict[UUID, Entry]] = defaultdict(dict)
    rows = Mark.objects.filter(sheet__in=sheets)
    if students is not None:
        rows = rows.filter(student__in=list(students))
    for sheet_id, student_id, column_id, value, code in rows.values_list(
        "sheet_id", "student_id", "column_id", "value", "code"
    ):
        marks[sheet_id, student_id][column_id] = Entry(value, code)
    return {
        student.pk: CardContent(
            school=period.school.name,
            term=period.name,
            school_class=school_class.name,
            student=student.full_name,
            courses=order_courses(
                [
                    _describe_course(sheet, columns[sheet.pk], marks[sheet.pk, student.pk], rules[sheet.pk])
                    for sheet in sheets
                ]
            ),
        )
        for student in people
    }


def _describe_course(
    sheet: MarkSheet, columns: list[Column], marks: dict[UUID, Entry], rules: SheetRules
) -> CourseLine:
    total = find_total(rules.items, marks, rules.rules)
    return CourseLine(
        code=sheet.course.code,
        course=sheet.course.title,
        state=total.state,
        total=show_total(total),
        letter=total.letter,
        marks=tuple(
            MarkLine(
                title=column.title,
                mark=show_entry(marks.get(column.pk, Entry())),
                out_of=plain(column.max_points),
                part=total.parts[column.pk].value,
            )
            for column in columns
        ),
    )


def list_current_cards(period: Period, school_class: SchoolClass) -> dict[UUID, ReportCard]:
    """Return the cards that count, by student, in order of name. One query."""
    cards = ReportCard.objects.filter(period=period, school_class=school_class, replaced_at__isnull=True)
    return {card.student_id: card for card in cards.select_related(*_PARTS).order_by(*by_name("student__"))}


def list_counting_cards(period: Period, students: Collection[UUID]) -> dict[UUID, ReportCard]:
    """Return the cards of a term that count for these students, whichever class made them. One query."""
    cards = ReportCard.objects.filter(period=period, student__in=students, replaced_at__isnull=True)
    return {card.student_id: card for card in cards.select_related(*_PARTS)}


def find_counting_card(card: ReportCard) -> ReportCard | None:
    """Return the card of the same student and term that counts. One query."""
    cards = ReportCard.objects.filter(period=card.period_id, student=card.student_id)
    return cards.filter(replaced_at__isnull=True).first()


def find_card_by_code(code: str) -> ReportCard | None:
    """Return the card with this code, replaced or not. One query."""
    return ReportCard.objects.select_related(*_PARTS).filter(code=code).first()


def list_my_cards(user: User) -> QuerySet[ReportCard]:
    """Return the cards a student may see: theirs, that count, of classes whose cards are released. One query."""
    released = CardRelease.objects.filter(
        period=OuterRef("period"), school_class=OuterRef("school_class"), release_at__lte=Now()
    )
    mine = ReportCard.objects.filter(Exists(released), student=user, replaced_at__isnull=True)
    return mine.select_related(*_PARTS).order_by("-period__starts_on", "-issued_at")


def find_viewable_card(card_id: UUID, *, user: User) -> ReportCard | None:
    """Return a card this person may see: a student their own once released, an administrator their school's."""
    if user.role == Role.STUDENT:
        return list_my_cards(user).filter(pk=card_id).first()
    terms = policies.terms_lockable_by(user)
    return ReportCard.objects.select_related(*_PARTS).filter(pk=card_id, period__in=terms).first()
