"""What people are told in the page: who, in which words, once per event."""

from datetime import UTC, datetime, timedelta
from itertools import permutations

import pytest
from django.db import transaction
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from exams.events import AttemptNotTaken, AttemptReopened, DeadlineMoved, GradingFailed, SubmissionGraded
from exams.models import Attempt, Exam, Origin, Result, ResultState
from exams.services.releasing import announce_releases
from gradebook.models import Notification, User
from gradebook.services.notifications import mark_read, notify, prune_notifications
from outbox.db import database_now
from outbox.effects.receipts import Message
from outbox.effects.running import run_message
from outbox.models import Event
from tests import factories
from tests.exams.api.callers import Caller, read, with_token
from tests.exams.effects.happenings import list_ends, make_happen, note, only
from tests.exams.grading_room import grade_everything
from tests.people import World
from tests.sitting import hand_in

pytestmark = pytest.mark.django_db(transaction=True)
MOMENT = datetime(2026, 11, 29, 16, tzinfo=UTC)
GRADED = {
    "score": "4",
    "max_points": "5",
    "result_version": 1,
    "old_score": None,
    "revision": 1,
    "points": ["4"],
    "out_of": ["5"],
    "classes": [],
}


def told(person: User) -> list[tuple[str, int]]:
    return list(
        Notification.objects.filter(recipient=person)
        .order_by("occurred_at", "id")
        .values_list("text", "count")
    )


@transaction.atomic
def tell_one(person: User, topic: str, text: str, occurred_at: datetime = MOMENT) -> None:
    notify(recipients=[person.pk], topic=topic, text=text, address="/exams/", occurred_at=occurred_at)


def tell_some(person: User, *topics: str) -> None:
    for number, topic in enumerate(topics):
        tell_one(person, topic, f"About {topic}.", MOMENT + timedelta(minutes=number))


@pytest.fixture(autouse=True)
def title(exam: Exam) -> None:
    exam.title = "Physics"
    exam.save()


def test_student_is_told_that_work_was_received_and_nobody_else(
    attempt: Attempt, student: User, other_student: User, teacher: User
) -> None:
    submission = hand_in(attempt)
    make_happen()
    line = only(Notification.objects.all())
    assert (line.recipient, line.text, line.count) == (student, "Your work for Physics was received.", 1)
    assert line.address == reverse("exams:receipt", args=[submission.pk])


def test_student_is_told_of_everything_that_happens_to_the_attempt(attempt: Attempt, student: User) -> None:
    moved = {
        "old_closes_at": MOMENT.isoformat(),
        "new_closes_at": MOMENT.isoformat(),
        "rule": "",
        "reason": "",
    }
    note(attempt, DeadlineMoved, **moved)
    note(attempt, AttemptNotTaken)
    note(attempt, AttemptReopened, withdrawn_submission_id=None, new_closes_at=MOMENT.isoformat(), reason="")
    submission = hand_in(attempt, origin=Origin.SERVER)
    note(attempt, GradingFailed, submission_id=submission.pk, reason="The paper is gone.")
    make_happen()
    assert told(student) == [
        ("Physics ended, and nothing of yours had been saved.", 1),
        (
            "Physics is open for you again until Sun 29 Nov 2026, 18:00 UTC+02:00.",
            2,
        ),  # the deadline was moved before
        ("Time was up for Physics: what you had saved was handed in for you.", 1),
        ("Your work for Physics is safe, but could not be graded yet. Your school has been told.", 1),
    ]
    assert list_ends("notify") == [("notify", "done", "")] * 5


@pytest.mark.parametrize(
    ("released", "lines"), [(None, 0), (timedelta(hours=1), 0), (-timedelta(hours=1), 1)]
)
def test_student_hears_of_a_grade_only_once_scores_are_released(
    attempt: Attempt, exam: Exam, student: User, released: timedelta | None, lines: int
) -> None:
    exam.scores_released_at = None if released is None else timezone.now() + released
    exam.save()
    submission = hand_in(attempt)
    note(attempt, SubmissionGraded, submission_id=submission.pk, state="graded", **GRADED)
    make_happen()
    assert [text for text, _ in told(student)][1:] == ["Your work for Physics is graded."] * lines


def test_students_with_a_score_hear_once_that_scores_are_released(
    attempt: Attempt, exam: Exam, student: User, other_student: User
) -> None:
    """The other one still waits for a mark by hand."""
    scored, waiting = hand_in(attempt), hand_in(factories.attempt(attempt.revision, other_student))
    grade_everything()
    Result.objects.filter(submission=scored).update(state=ResultState.GRADED)
    Result.objects.filter(submission=waiting).update(state=ResultState.NEEDS_MARKING)
    make_happen()
    Notification.objects.all().delete()

    exam.scores_released_at = database_now()
    exam.save()
    assert [announce_releases(), announce_releases()] == [1, 0]
    make_happen()
    line = only(Notification.objects.all())
    assert (line.recipient, line.text) == (student, "The scores of Physics are released.")
    assert line.address == reverse("exams:receipts")


def test_release_that_was_taken_back_before_anybody_was_told_is_told_nobody(
    attempt: Attempt, exam: Exam
) -> None:
    hand_in(attempt)
    grade_everything()
    make_happen()
    Notification.objects.all().delete()
    exam.scores_released_at = database_now()
    exam.save()
    announce_releases()
    Exam.objects.update(scores_released_at=None)
    make_happen()
    assert list(Notification.objects.all()) == []


def test_teachers_of_the_class_hear_once_of_all_answers_that_wait_for_them(
    exam: Exam,
    world: World,
    attempt: Attempt,
    student: User,
    other_student: User,
    teacher: User,
    other_teacher: User,
) -> None:
    other = factories.attempt(attempt.revision, other_student)
    for each in (attempt, other):
        submission = hand_in(each)
        note(each, SubmissionGraded, submission_id=submission.pk, state="needs_marking", **GRADED)
    make_happen()
    line = only(Notification.objects.exclude(recipient__in=[student, other_student]))
    assert (line.recipient, line.text, line.count) == (teacher, "Answers in Physics wait for marking.", 2)
    assert line.address == reverse("exams:marking-exam", args=[exam.pk])
    assert told(other_teacher) == []


def test_event_told_twice_in_any_order_counts_once(attempt: Attempt, teacher: User) -> None:
    submission = hand_in(attempt)
    note(attempt, SubmissionGraded, submission_id=submission.pk, state="needs_marking", **GRADED)
    note(attempt, SubmissionGraded, submission_id=submission.pk, state="needs_marking", **GRADED)
    make_happen()
    expected = told(teacher)
    messages = [
        Message(event.event_id, "notify", "", pos)
        for pos, event in enumerate(Event.objects.order_by("seq"), start=1)
        if event.kind == SubmissionGraded.kind
    ]
    for order in permutations(messages):
        for message in order:
            run_message(message)
    assert told(teacher) == expected == [("Answers in Physics wait for marking.", 2)]


def test_later_words_of_a_topic_stand_whichever_comes_first(student: User) -> None:
    for minutes in (5, 0):
        tell_one(student, "t", f"At {minutes}.", MOMENT + timedelta(minutes=minutes))
    assert told(student) == [("At 5.", 2)]


@pytest.mark.parametrize("lines", [1, 3])
def test_list_is_one_query_beside_the_sign_in_whatever_its_length(
    client: Client, student: User, django_assert_num_queries: DjangoAssertNumQueries, lines: int
) -> None:
    tell_some(student, *"abc"[:lines])
    client.force_login(student)
    with django_assert_num_queries(3):  # session, person, lines
        page = client.get(reverse("gradebook:notifications"))
    assert [line.text for line in page.context["lines"]] == [
        f"About {each}." for each in reversed("abc"[:lines])
    ]


def test_opening_one_leads_to_it_and_notes_it_as_read(
    client: Client, student: User, other_student: User
) -> None:
    tell_some(student, "a", "b")
    line = Notification.objects.get(topic="a")
    client.force_login(other_student)
    assert client.get(reverse("gradebook:open_notification", args=[line.pk])).status_code == 404
    client.force_login(student)
    response = client.get(reverse("gradebook:open_notification", args=[line.pk]))
    assert (response.status_code, response["Location"]) == (302, "/exams/")
    assert list(Notification.objects.filter(read_at=None).values_list("topic", flat=True)) == ["b"]

    assert client.post(reverse("gradebook:read_notifications")).status_code == 302
    assert not Notification.objects.filter(read_at=None).exists()


def test_pages_of_notifications_ask_for_a_sign_in(client: Client) -> None:
    assert client.get(reverse("gradebook:notifications")).status_code == 302
    assert client.post(reverse("gradebook:read_notifications")).status_code == 302


def test_api_lists_counts_and_notes_as_read_only_what_is_ones_own(student: User, other_student: User) -> None:
    tell_some(student, "a", "b")
    tell_some(other_student, "c")
    caller: Caller = with_token(student)
    lines = read(caller.get("notifications"), 200)
    assert [(line["text"], line["count"], line["read_at"]) for line in lines] == [
        ("About b.", 1, None),
        ("About a.", 1, None),
    ]
    assert read(caller.get("notifications/unread"), 200) == {"unread": 2}
    foreign = str(Notification.objects.get(topic="c").pk)
    assert read(caller.post("notifications/read", {"ids": [lines[0]["id"], foreign]}), 200) == {"unread": 1}
    assert read(caller.post("notifications/read", {}), 200) == {"unread": 0}
    assert read(with_token(other_student).get("notifications/unread"), 200) == {"unread": 1}


def test_topic_read_before_is_told_anew(student: User) -> None:
    tell_some(student, "a")
    mark_read(person_id=student.pk)
    tell_some(student, "a")
    assert told(student) == [("About a.", 1), ("About a.", 1)]


def test_old_lines_are_forgotten(student: User) -> None:
    tell_some(student, "a")
    tell_one(student, "b", "New.", timezone.now())
    Notification.objects.filter(topic="a").update(occurred_at=timezone.now() - timedelta(days=181))
    assert prune_notifications() == 1
    assert told(student) == [("New.", 1)]
