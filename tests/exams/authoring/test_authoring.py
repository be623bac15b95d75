"""The commands of authoring: numbering, freezing, copying, placing; and two people at once."""

import hashlib
import json
import threading
from collections.abc import Callable
from decimal import Decimal

import pytest
from django.db import connection, transaction

from exams.errors import ExamsError, NotPublishable, RevisionPublished
from exams.local_time import write_utc
from exams.models import ExamRevision
from exams.services.authoring import (
    copy_revision,
    list_drafts,
    place_question,
    publish_revision,
    set_truth,
    start_revision,
)
from outbox.models import Event
from tests import factories
from tests.factories.papers import option


def at_once(*deeds: Callable[[], object]) -> list[object]:
    """Do these at the same time, each on its own connection; return what they returned or raised."""
    outcomes: list[object] = [None] * len(deeds)
    barrier = threading.Barrier(len(deeds))

    def do(place: int, deed: Callable[[], object]) -> None:
        barrier.wait(10)
        try:
            outcomes[place] = deed()
        except ExamsError as refusal:
            outcomes[place] = refusal
        finally:
            connection.close()

    threads = [threading.Thread(target=do, args=pair) for pair in enumerate(deeds)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    return outcomes


@pytest.mark.django_db(transaction=True)
def test_revisions_started_at_once_have_different_numbers() -> None:
    exam = factories.exam()

    at_once(*[lambda: start_revision(exam=exam)] * 8)

    assert list(exam.revisions.values_list("number", flat=True)) == list(range(1, 9))


@pytest.mark.django_db(transaction=True)
def test_revision_is_published_once_when_two_publish_it() -> None:
    revision = factories.draft_revision()
    people = [factories.teacher(revision.exam.school) for _ in range(4)]

    outcomes = at_once(*[lambda who=who: publish_revision(revision=revision, by=who) for who in people])

    published = [outcome for outcome in outcomes if isinstance(outcome, ExamRevision)]
    assert len(published) == 1
    assert sum(isinstance(outcome, RevisionPublished) for outcome in outcomes) == 3
    assert ExamRevision.objects.get(pk=revision.pk).published_by == published[0].published_by


@pytest.mark.django_db
def test_publishing_names_every_problem_and_leaves_the_revision_as_it_is() -> None:
    revision = factories.draft_revision(
        questions=[
            factories.a_question("numeric", option("x")),
            *factories.questions(1),
            factories.a_question("essay", text=" "),
        ]
    )

    with pytest.raises(NotPublishable) as caught:
        publish_revision(revision=revision, by=None)

    assert [problem.split(" (")[0] for problem in caught.value.extra["problems"]] == [
        "Question 1",
        "Question 1",
        "Question 3",
    ]
    revision.refresh_from_db()
    assert (revision.published_at, revision.paper, revision.key) == (None, None, None)


@pytest.mark.django_db
def test_publication_is_said_in_the_log_with_the_digest_of_the_paper() -> None:
    revision = factories.draft_revision(questions=factories.questions(2))
    author = factories.teacher(revision.exam.school)
    assert not Event.objects.exists()

    published = publish_revision(revision=revision, by=author)

    assert published.published_at is not None
    event = Event.objects.get()
    assert (event.kind, event.schema_version, event.subject, event.subject_version) == (
        "ExamPublished",
        1,
        f"revision:{revision.pk}",
        1,
    )
    assert (event.actor_type, event.actor_id, event.tenant_id) == (
        "person",
        author.pk,
        revision.exam.school_id,
    )
    stored = ExamRevision.objects.get()
    text = json.dumps(stored.paper, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    assert event.payload == {
        "exam_id": str(revision.exam_id),
        "revision_id": str(revision.pk),
        "revision": revision.number,
        "title": revision.exam.title,
        "questions": 2,
        "max_points": str(published.max_points),
        "published_at": write_utc(published.published_at),
        "paper_sha256": hashlib.sha256(text.encode()).hexdigest(),
    }


@pytest.mark.django_db
def test_publication_that_is_rolled_back_is_not_in_the_log() -> None:
    with transaction.atomic():
        publish_revision(revision=factories.draft_revision(), by=None)
        assert Event.objects.get().actor_type == "import"
        transaction.set_rollback(True)

    assert not Event.objects.exists()


@pytest.mark.django_db
def test_paper_with_more_questions_than_a_hand_in_has_room_for_answers_is_not_published() -> None:
    questions = [factories.a_question("essay") for _ in range(1_001)]
    revision = factories.draft_revision(questions=questions)

    with pytest.raises(NotPublishable) as refusal:
        publish_revision(revision=revision, by=None)
    assert refusal.value.extra["problems"] == [
        "The revision has 1,001 questions; a hand-in has room for 1,000 answers."
    ]

    revision.questions.last().delete()  # type: ignore[union-attr]
    assert len(publish_revision(revision=revision, by=None).paper or []) == 1_000


@pytest.mark.django_db
def test_copy_has_the_same_questions_under_new_ids() -> None:
    revision = factories.published_revision()

    copied = copy_revision(revision=revision)

    def told(of: ExamRevision) -> list[object]:
        return [
            (q.kind, q.text, q.points, [(o.text, o.match_text, o.low, o.high, o.fraction) for o in q.options])
            for q in list_drafts(of)
        ]

    assert (copied.number, copied.published_at, copied.instructions) == (2, None, revision.instructions)
    assert told(copied) == told(revision)
    assert not {q.id for q in list_drafts(copied)} & {q.id for q in list_drafts(revision)}


@pytest.mark.django_db
@pytest.mark.parametrize(("place", "order"), [(1, "cab"), (2, "acb"), (3, "abc"), (99, "abc"), (0, "cab")])
def test_question_is_placed_and_the_others_move(place: int, order: str) -> None:
    revision = factories.draft_revision(
        questions=[factories.a_question("essay", text=text) for text in "abc"]
    )

    place_question(question=revision.questions.get(text="c"), place=place)

    assert list(revision.questions.values_list("position", "text")) == list(enumerate(order, start=1))


@pytest.mark.django_db
def test_truth_replaces_whatever_choices_there_were() -> None:
    revision = factories.draft_revision(questions=[factories.a_question("true_false", option("x"))])

    set_truth(question=revision.questions.get(), truth=False)

    (draft,) = list_drafts(revision)
    assert {o.text: o.fraction for o in draft.options} == {"true": Decimal(0), "false": Decimal(100)}


@pytest.mark.django_db
def test_paper_is_read_in_two_statements_however_long_it_is(
    django_assert_num_queries: Callable[[int], object],
) -> None:
    for count in (1, 3):
        revision = factories.draft_revision(questions=factories.questions(count))
        with django_assert_num_queries(2):  # type: ignore[attr-defined]
            list_drafts(revision)
