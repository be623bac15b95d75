"""The rule of the gate, told by its one statement on a real database."""

import datetime as dt
from uuid import uuid4

import psycopg
import pytest

from exams.events import SubmissionAccepted
from exams.gate.handin import Outcome, Verdict
from exams.gate.session import Session
from exams.local_time import write_utc
from exams.models import Attempt, AttemptState, Decision, Draft, Origin, Submission
from exams.receipt_keys import get_key_ring
from exams.receipts import Receipt
from exams.services import closing
from exams.services.facts import describe
from outbox.models import Event, Job
from outbox.queue.jobs import job_id_for
from tests import factories
from tests.counting import count_stored
from tests.exams.gate.sessions import MakeHandIn, make_handin, session  # noqa: F401 - fixtures

MINUTE = dt.timedelta(minutes=1)


def now() -> dt.datetime:
    return dt.datetime.now(tz=dt.UTC)


def test_accept_stores_submission_job_event_and_attempt_together(
    session: Session, make_handin: MakeHandIn
) -> None:
    attempt = factories.attempt()
    handin = make_handin(attempt, {"q1": "a", "q2": ["x"]})

    [verdict] = session.accept([handin])

    attempt.refresh_from_db()
    submission = Submission.objects.values().get()
    accepted_at = submission["accepted_at"]
    assert abs(accepted_at - now()) < MINUTE
    assert submission == {
        "id": handin.submission_id,
        "school_id": attempt.school_id,
        "exam_id": attempt.exam_id,
        "attempt_id": attempt.pk,
        "student_id": attempt.student_id,
        "revision_id": attempt.revision_id,
        "exam_revision": 1,
        "attempt_key": attempt.key,
        "answers": '{"q1":"a","q2":["x"]}',
        "payload_sha256": handin.digest,
        "accepted_at": accepted_at,
        "deadline": attempt.closes_at,
        "decision": Decision.ON_TIME,
        "decision_rule": attempt.deadline_rule,
        "origin": Origin.STUDENT,
        "receipt_key_id": get_key_ring().signing_id,
        "event_id": handin.event_id,
        "withdrawn_at": None,
    }
    assert (attempt.state, attempt.version, attempt.ended_at) == (AttemptState.SUBMITTED, 2, accepted_at)
    assert verdict == Verdict(
        Outcome.ACCEPTED, Receipt.of(Submission.objects.get()), attempt.accepts_until, attempt.deadline_rule
    )


def test_accept_makes_the_job_that_the_queue_would_make(session: Session, make_handin: MakeHandIn) -> None:
    attempt = factories.attempt()
    handin = make_handin(attempt)

    session.accept([handin])

    job = Job.objects.values(
        "tenant_id", "group_id", "job_id", "kind", "subject_id", "lane", "priority", "tries"
    ).get()
    assert job == {
        "tenant_id": attempt.school_id,
        "group_id": attempt.exam_id,
        "job_id": job_id_for("grade", handin.submission_id),
        "kind": "grade",
        "subject_id": handin.submission_id,
        "lane": 0,
        "priority": 0,
        "tries": 0,
    }


def test_accept_writes_the_event_that_the_class_describes(session: Session, make_handin: MakeHandIn) -> None:
    attempt = factories.attempt(version=3)
    handin = make_handin(attempt)

    session.accept([handin])

    submission, event = Submission.objects.get(), Event.objects.get(kind=SubmissionAccepted.kind)
    fact = SubmissionAccepted(
        **describe(attempt),
        submission_id=submission.pk,
        payload_sha256=submission.payload_sha256,
        accepted_at=write_utc(submission.accepted_at),
        deadline=write_utc(submission.deadline),
        decision="on_time",
        origin="student",
    )
    assert event.payload == {
        name: value if isinstance(value, int) else str(value) for name, value in fact.payload().items()
    }
    assert (event.event_id, event.kind, event.schema_version) == (handin.event_id, fact.kind, fact.version)
    assert (event.subject, event.subject_version) == (f"attempt:{attempt.pk}", 4)
    assert (event.tenant_id, event.actor_type, event.actor_id) == (
        attempt.school_id,
        "person",
        attempt.student_id,
    )


@pytest.mark.parametrize(
    ("after_close", "decision"),
    [(-1, "on_time"), (1, "grace"), (59, "grace"), (61, "late"), (119, "late"), (121, None)],
)
def test_deadline_decides_by_the_moment_of_arrival(
    session: Session, make_handin: MakeHandIn, after_close: int, decision: str | None
) -> None:
    closes_at = now() - dt.timedelta(seconds=after_close)
    attempt = factories.attempt(
        closes_at=closes_at, grace_until=closes_at + MINUTE, accepts_until=closes_at + 2 * MINUTE
    )

    [verdict] = session.accept([make_handin(attempt)])

    if decision is None:
        assert verdict == Verdict(Outcome.CLOSED, None, attempt.accepts_until, attempt.deadline_rule)
        assert count_stored() == (0, 0, 0)
    else:
        assert verdict.outcome is Outcome.ACCEPTED
        assert Submission.objects.get().decision == decision


def test_waiting_in_the_gate_makes_nobody_late(session: Session, make_handin: MakeHandIn) -> None:
    closes_at = now() - dt.timedelta(seconds=3)
    attempt = factories.attempt(closes_at=closes_at)
    handin = make_handin(attempt)
    handin.arrived_at -= 5  # it has been in line for five seconds

    [verdict] = session.accept([handin])

    submission = Submission.objects.get()
    assert (verdict.outcome, submission.decision) == (Outcome.ACCEPTED, Decision.ON_TIME)
    assert closes_at - MINUTE < submission.accepted_at < closes_at


def test_equal_answers_get_the_first_receipt_again(session: Session, make_handin: MakeHandIn) -> None:
    attempt = factories.attempt()
    [first] = session.accept([make_handin(attempt, {"a": "1", "b": 2})])

    [second] = session.accept([make_handin(attempt, {"b": 2, "a": "1"})])

    assert second.outcome is Outcome.REPLAYED
    assert second.receipt == first.receipt
    assert count_stored() == (1, 1, 1)


def test_other_answers_overwrite_nothing_and_are_told_what_is_stored(
    session: Session, make_handin: MakeHandIn
) -> None:
    attempt = factories.attempt()
    [first] = session.accept([make_handin(attempt, {"a": "good"})])

    [second] = session.accept([make_handin(attempt, {})])

    assert (second.outcome, second.receipt) == (Outcome.DIFFERENT, first.receipt)
    assert Submission.objects.get().answers == '{"a":"good"}'
    assert count_stored() == (1, 1, 1)


def test_late_press_never_replaces_the_punctual_answers(session: Session, make_handin: MakeHandIn) -> None:
    """O05: submit in time, then an empty one after the deadline."""
    attempt = factories.attempt()
    [first] = session.accept([make_handin(attempt, {"a": "good"})])
    past = now() - MINUTE
    Attempt.objects.filter(pk=attempt.pk).update(closes_at=past, grace_until=past, accepts_until=past)

    [late] = session.accept([make_handin(attempt, {})])

    assert (late.outcome, late.receipt) == (Outcome.DIFFERENT, first.receipt)
    assert count_stored() == (1, 1, 1)


@pytest.mark.parametrize("answers", [{"a": "draft"}, {"a": "other"}])
def test_attempt_the_server_closed_stays_closed_and_shows_the_servers_receipt(
    session: Session, make_handin: MakeHandIn, answers: dict[str, str]
) -> None:
    """O07: the old page submits after the end; equal answers or not, the server's submission stands."""
    attempt = _overdue_attempt()
    Draft.objects.create(attempt=attempt, answers='{"a":"draft"}', token=uuid4(), saved_at=now())
    closing.close_overdue_attempts()
    stored = Submission.objects.get()

    [verdict] = session.accept([make_handin(attempt, answers)])

    assert verdict == Verdict(Outcome.CLOSED, Receipt.of(stored), attempt.closes_at, attempt.deadline_rule)
    assert (stored.origin, stored.answers) == (Origin.SERVER, '{"a":"draft"}')
    assert Submission.objects.count() == 1


def test_attempt_not_taken_stays_closed(session: Session, make_handin: MakeHandIn) -> None:
    attempt = _overdue_attempt()
    closing.close_overdue_attempts()

    [verdict] = session.accept([make_handin(attempt)])

    assert verdict == Verdict(Outcome.CLOSED, None, attempt.closes_at, attempt.deadline_rule)
    assert Submission.objects.count() == 0


def _overdue_attempt() -> Attempt:
    return factories.attempt(closes_at=now() - closing.MARGIN - MINUTE)


@pytest.mark.parametrize("state", [AttemptState.GRADED, AttemptState.NEEDS_MARKING, AttemptState.FAILED])
def test_graded_attempt_still_answers_a_retry_with_its_receipt(
    session: Session, make_handin: MakeHandIn, state: AttemptState
) -> None:
    attempt = factories.attempt()
    [first] = session.accept([make_handin(attempt)])
    Attempt.objects.filter(pk=attempt.pk).update(state=state)

    [again] = session.accept([make_handin(attempt)])

    assert (again.outcome, again.receipt) == (Outcome.REPLAYED, first.receipt)


def test_reopened_attempt_takes_a_new_submission_beside_the_withdrawn_one(
    session: Session, make_handin: MakeHandIn
) -> None:
    attempt = _overdue_attempt()
    Draft.objects.create(attempt=attempt, answers='{"a":"draft"}', token=uuid4(), saved_at=now())
    closing.close_overdue_attempts()
    Submission.objects.update(withdrawn_at=now())
    later = now() + MINUTE
    Attempt.objects.update(
        state="open", closes_at=later, grace_until=later, accepts_until=later, ended_at=None
    )

    [verdict] = session.accept([make_handin(attempt, {"a": "better"})])

    assert verdict.outcome is Outcome.ACCEPTED
    assert set(Submission.objects.values_list("origin", "answers")) == {
        ("server", '{"a":"draft"}'),
        ("student", '{"a":"better"}'),
    }


def test_attempt_of_somebody_else_is_not_found(session: Session, make_handin: MakeHandIn) -> None:
    attempt = factories.attempt()
    stranger = factories.student()

    verdicts = [
        session.accept([make_handin(attempt, student_id=stranger.pk)]),
        session.accept([make_handin(attempt, attempt_id=uuid4())]),
    ]

    assert verdicts == [[Verdict(Outcome.NOT_FOUND)], [Verdict(Outcome.NOT_FOUND)]]
    assert count_stored() == (0, 0, 0)


def test_group_gives_each_hand_in_its_own_verdict(session: Session, make_handin: MakeHandIn) -> None:
    revision = factories.published_revision()
    fresh, done, over, strange = (factories.attempt(revision) for _ in range(4))
    session.accept([make_handin(done, {"a": "x"})])
    past = now() - MINUTE
    Attempt.objects.filter(pk=over.pk).update(closes_at=past, grace_until=past, accepts_until=past)
    group = [
        make_handin(over),
        make_handin(strange, student_id=fresh.student_id),
        make_handin(fresh),
        make_handin(done, {"a": "y"}),
    ]

    verdicts = session.accept(group)

    assert [verdict.outcome for verdict in verdicts] == [
        Outcome.CLOSED,
        Outcome.NOT_FOUND,
        Outcome.ACCEPTED,
        Outcome.DIFFERENT,
    ]
    assert set(Submission.objects.values_list("attempt_id", flat=True)) == {fresh.pk, done.pk}


def test_locked_attempt_holds_up_nobody(session: Session, make_handin: MakeHandIn, database_url: str) -> None:
    held, free = factories.attempt(), factories.attempt()
    with psycopg.connect(database_url) as other:
        other.execute("SELECT 1 FROM exams_attempt WHERE id = %s FOR UPDATE", [held.pk])

        verdicts = session.accept([make_handin(held), make_handin(free)])

    assert [verdict.outcome for verdict in verdicts] == [Outcome.BUSY, Outcome.ACCEPTED]
    assert count_stored() == (1, 1, 1)


def test_error_in_the_statement_leaves_nothing_behind(session: Session, make_handin: MakeHandIn) -> None:
    """P4: an event that cannot be stored takes submission, job and attempt with it."""
    attempt = factories.attempt()
    taken = make_handin(factories.attempt())
    session.accept([taken])

    with pytest.raises(psycopg.errors.UniqueViolation):
        session.accept([make_handin(attempt, event_id=taken.event_id)])

    attempt.refresh_from_db()
    assert count_stored() == (1, 1, 1)
    assert (attempt.state, attempt.version) == (AttemptState.OPEN, 1)


def test_session_commits_to_the_disk_of_its_host_and_plans_for_any_size(session: Session) -> None:
    assert session._connection is not None
    shown = session._connection.execute(
        "SELECT name, setting FROM pg_settings WHERE name = ANY(%s)",
        [["synchronous_commit", "plan_cache_mode", "jit", "enable_seqscan", "application_name", "TimeZone"]],
    )
    assert dict(shown.fetchall()) == {
        "synchronous_commit": "local",
        "plan_cache_mode": "force_generic_plan",
        "jit": "off",
        "enable_seqscan": "off",
        "application_name": "handover-gate",
        "TimeZone": "UTC",
    }
