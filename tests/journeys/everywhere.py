"""One school in which every page has something to show, and the address of each page: for journeys that go everywhere."""

import dataclasses
from decimal import Decimal
from uuid import uuid4

from django.urls import reverse

from exams.models import Attempt, Exam, ExamRevision, Submission
from exams.services.attempts import start_attempt
from gradebook.cells import CellKey
from gradebook.entries import Entry
from gradebook.models import Amendment, Column, MarkSheet, Notification, ReportCard, User
from gradebook.services.cards import issue_cards, release_cards
from gradebook.services.proposals import propose_amendment
from gradebook.services.terms import lock_term
from outbox.consumers.batches import run_batch
from outbox.consumers.cursors import register_consumer
from outbox.consumers.registry import get_consumer
from outbox.db import database_now
from outbox.log.sequencer import sequence_events
from outbox.models import DeadLetter, EffectReceipt, ParkedSubject
from projections.analytics.projector import Analytics
from projections.history.projector import MarksheetHistory
from tests import factories
from tests.exams.grading_room import grade_everything, post_everything
from tests.factories.papers import a_question
from tests.gradebook.marks import save
from tests.outbox.queue.burying import bury
from tests.people import World
from tests.sitting import hand_in

CONSUMER = "gradebook_marks"


@dataclasses.dataclass(frozen=True, slots=True)
class Everything:
    """What the pages are about. `locked` is the same class's sheet of an ended term."""

    exam: Exam
    revision: ExamRevision
    draft: ExamRevision
    sitting: Attempt
    submission: Submission
    sheet: MarkSheet
    column: Column
    locked: MarkSheet
    amendment: Amendment
    card: ReportCard
    notification: Notification
    letter: DeadLetter
    effect: EffectReceipt


def build_everything(world: World, *, writer: User, sitter: User, teacher: User, head: User) -> Everything:
    """One exam that `writer` has handed in and `sitter` still sits, its term's sheet, and an ended term with an amendment and a card."""
    (letter,) = bury()
    column = factories.column(world.sheet, title="Essay", max_points=20)
    exam = factories.exam(school=world.school, course=world.course, period=world.period, title="Rivers")
    revision = factories.published_revision(
        exam, [*factories.questions(), a_question("upload", text="Draw the graph.")], by=teacher
    )
    result = factories.column(world.sheet, title="Rivers", source="exam", source_id=exam.pk)
    factories.target(exam, world.school_class, result)
    sitting = start_attempt(exam_id=exam.pk, student_id=sitter.pk).attempt
    submission = _sit(exam, writer)
    for student, text in ((writer, "17"), (sitter, "absent")):
        save(column, student, text, by=teacher)
    locked, amendment, card = _end_a_term(world, writer, teacher=teacher, head=head)
    _catch_up()
    return Everything(
        exam=exam,
        revision=revision,
        draft=factories.draft_revision(exam),
        sitting=sitting,
        submission=submission,
        sheet=world.sheet,
        column=column,
        locked=locked,
        amendment=amendment,
        card=card,
        notification=_notify(writer),
        letter=letter,
        effect=_fail_effect(),
    )


def _sit(exam: Exam, student: User) -> Submission:
    """Hand in right answers, and nothing to photograph; what only a person can judge waits."""
    attempt = start_attempt(exam_id=exam.pk, student_id=student.pk).attempt
    answers = factories.right_answers(attempt.revision)
    submission = hand_in(attempt, {key: answer for key, answer in answers.items() if answer})
    grade_everything()
    return submission


def _end_a_term(
    world: World, student: User, *, teacher: User, head: User
) -> tuple[MarkSheet, Amendment, ReportCard]:
    """The class's term before this one: locked, its cards released, one amendment waiting."""
    period = factories.period(world.school, name="Spring term")
    factories.assignment(teacher, world.school_class, world.course, period)
    sheet = MarkSheet.objects.filter(period=period).first() or factories.sheet(
        world.school_class, world.course, period
    )
    column = factories.column(sheet, title="Oral", max_points=10)
    save(column, student, "7", by=teacher)
    lock_term(period_id=period.pk, by=head)
    sequence_events()
    issue_cards(period_id=period.pk, school_class=world.school_class, by=head)
    release_cards(period=period, school_class=world.school_class, release_at=database_now(), by=head)
    amendment = propose_amendment(
        sheet=sheet,
        key=CellKey(column.pk, student.pk),
        entry=Entry(Decimal(8)),
        reason="Miscounted.",
        by=teacher,
    )
    return sheet, amendment, ReportCard.objects.get(student=student)


def _catch_up() -> None:
    post_everything()
    for projector in (MarksheetHistory(), Analytics()):
        while run_batch(projector).more:
            pass


def _notify(person: User) -> Notification:
    return Notification.objects.create(
        recipient=person,
        topic="receipt",
        text="Rivers was received.",
        address="/exams/",
        occurred_at=database_now(),
    )


def _fail_effect() -> EffectReceipt:
    """An effect that failed for good, and a subject that was set aside."""
    register_consumer(get_consumer(CONSUMER))
    ParkedSubject.objects.create(consumer_id=CONSUMER, subject="attempt:1", error="KeyError: 'q7'", tries=3)
    return EffectReceipt.objects.create(
        event_id=uuid4(), effect="mail_receipt", target="x", pos=1, state="failed", tries=9, ended_at=database_now(),
        error="550 no such mailbox",
    )  # fmt: skip


def list_pages(school: Everything) -> dict[str, dict[str, str]]:
    """Every page by who may see it and by its route, with an address at which there is something to see."""
    sheet, locked, exam = school.sheet.pk, school.locked.pk, school.exam.pk
    period, group = school.locked.period_id, school.locked.school_class_id
    return {
        "nobody": {
            "accessibility/": reverse("accessibility"),
            "accounts/login/": reverse("login"),
            "verify/": f"{reverse('gradebook:verify')}?code={school.card.code}",
        },
        "writer": {
            "exams/": reverse("exams:mine"),
            "exams/<uuid:exam_id>/": reverse("exams:exam", args=[exam]),
            "exams/receipts/": reverse("exams:receipts"),
            "exams/receipts/<uuid:receipt_id>/": reverse("exams:receipt", args=[school.submission.pk]),
            "cards/": reverse("gradebook:my_cards"),
            "cards/<uuid:card_id>/": reverse("gradebook:card", args=[school.card.pk]),
            "notifications/": reverse("gradebook:notifications"),
            "accounts/password/": reverse("password_change"),
        },
        "sitter": {"exams/attempts/<uuid:attempt_id>/": reverse("exams:sitting", args=[school.sitting.pk])},
        "teacher": {
            "exams/marking/": reverse("exams:marking"),
            "exams/marking/<uuid:exam_id>/": reverse("exams:marking-exam", args=[exam]),
            "exams/<uuid:exam_id>/analytics/": reverse("analytics:exam", args=[exam]),
            "marksheets/": reverse("gradebook:my_sheets"),
            "marksheets/<uuid:sheet_id>/": reverse("gradebook:sheet", args=[sheet]),
            "marksheets/<uuid:sheet_id>/columns/new/": reverse("gradebook:add_column", args=[sheet]),
            "marksheets/<uuid:sheet_id>/columns/<uuid:column_id>/": reverse(
                "gradebook:edit_column", args=[sheet, school.column.pk]
            ),
            "marksheets/<uuid:sheet_id>/totals/": reverse("gradebook:totals", args=[sheet]),
            "marksheets/<uuid:sheet_id>/totals/rules/": reverse("gradebook:total_rules", args=[sheet]),
            "marksheets/<uuid:sheet_id>/import/": reverse("gradebook:import_marks", args=[sheet]),
            "marksheets/<uuid:sheet_id>/history/": reverse("history:sheet", args=[sheet]),
            "marksheets/<uuid:sheet_id>/history/cells/<uuid:column_id>/<uuid:student_id>/": reverse(
                "history:cell", args=[sheet, school.column.pk, school.submission.student_id]
            ),
            "marksheets/<uuid:sheet_id>/as-of/": f"{reverse('asof:sheet', args=[sheet])}?from=1",
            "marksheets/<uuid:sheet_id>/analytics/": reverse("analytics:sheet", args=[sheet]),
            "marksheets/<uuid:sheet_id>/amendments/": reverse("gradebook:amendments", args=[locked]),
            "amendments/<uuid:amendment_id>/": reverse("gradebook:amendment", args=[school.amendment.pk]),
        },
        "head": {
            "terms/": reverse("gradebook:terms"),
            "terms/<uuid:period_id>/": reverse("gradebook:term", args=[period]),
            "terms/<uuid:period_id>/cards/": reverse("gradebook:term_cards", args=[period]),
            "terms/<uuid:period_id>/cards/<uuid:class_id>/": reverse(
                "gradebook:class_cards", args=[period, group]
            ),
            "terms/<uuid:period_id>/cards/<uuid:class_id>/list/": reverse(
                "gradebook:class_list", args=[period, group]
            ),
        },
        "operator": {
            "console/": reverse("console:overview"),
            "console/exams/<uuid:exam_id>/": reverse("console:exam", args=[exam]),
            "console/dead-letters/": reverse("console:dead_letters"),
            "console/dead-letters/<uuid:letter_id>/": reverse("console:dead_letter", args=[school.letter.pk]),
            "console/effects/<int:receipt_id>/": reverse("console:effect", args=[school.effect.pk]),
            "console/consumers/<slug:name>/": reverse("console:consumer", args=[CONSUMER]),
            **_list_authoring(school),
        },
    }


def _list_authoring(school: Everything) -> dict[str, str]:
    """The pages of the administration that are our own, and one of each kind that is Django's."""
    question = school.draft.questions.earliest("id")
    return {
        "admin/": reverse("admin:index"),
        "admin/list": reverse("admin:gradebook_user_changelist"),
        "admin/form": reverse("admin:gradebook_user_change", args=[school.submission.student_id]),
        "admin/exam": reverse("admin:exams_exam_change", args=[school.exam.pk]),
        "admin/revision": reverse("admin:exams_examrevision_change", args=[school.draft.pk]),
        "admin/question": reverse("admin:exams_question_change", args=[question.pk]),
        "admin/import": reverse("admin:exams_examrevision_import", args=[school.draft.pk]),
        "admin/preview": reverse("admin:exams_examrevision_preview", args=[school.draft.pk]),
    }
