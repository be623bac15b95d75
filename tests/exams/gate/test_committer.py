"""What the committer makes of trouble: locks, bad rows, lost connections, a database that is away."""

import dataclasses
import datetime as dt
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.db import connection

from config.postgres import Cluster
from exams.gate.committer import Committer
from exams.gate.durability import LocalDurability
from exams.gate.handin import NOT_STORED, UNKNOWN, HandIn, Outcome, Verdict
from exams.gate.session import Session
from exams.models import Submission
from exams.receipt_keys import get_key_ring
from exams.receipts import Receipt
from outbox.db import database_now
from tests import factories
from tests.counting import count_stored
from tests.cut_wire import CutWire
from tests.exams.gate.sessions import MakeHandIn, make_handin, session  # noqa: F401 - fixtures
from tests.waiting import wait_until


class Desk:
    """Collects verdicts as they are delivered."""

    def __init__(self) -> None:
        self.verdicts: dict[HandIn, list[Verdict]] = {}
        self._news = threading.Condition()

    def deliver(self, pairs: Sequence[tuple[HandIn, Verdict]]) -> None:
        with self._news:
            for handin, verdict in pairs:
                self.verdicts.setdefault(handin, []).append(verdict)
            self._news.notify_all()

    def wait_for(self, *handins: HandIn) -> list[Verdict]:
        """Return the one verdict of each, once all are there."""
        with self._news:
            assert self._news.wait_for(lambda: self.verdicts.keys() >= set(handins), timeout=30)
        assert [len(self.verdicts[handin]) for handin in handins] == [1] * len(handins)
        return [self.verdicts[handin][0] for handin in handins]


@dataclasses.dataclass
class Gate:
    committer: Committer
    desk: Desk
    session: Session

    def ask(self, *handins: HandIn) -> list[Verdict]:
        self.committer.join(handins)
        return self.desk.wait_for(*handins)


StartGate = Callable[..., Gate]


@pytest.fixture
def start_gate(session: Session) -> Iterator[StartGate]:
    """Starts a committer on the session; more of them on sessions of their own."""
    started: list[Committer] = []

    def start(patience: float = 20.0, on: Session | None = None) -> Gate:
        desk = Desk()
        committer = Committer(session=on or session, deliver=desk.deliver, patience=patience)
        committer.start()
        started.append(committer)
        return Gate(committer, desk, on or session)

    yield start
    for committer in started:
        committer.stop()


def outcomes(verdicts: Sequence[Verdict]) -> list[Outcome]:
    return [verdict.outcome for verdict in verdicts]


def backend_pid(session: Session) -> int:
    assert session._connection is not None
    return session._connection.info.backend_pid


def is_blocked(session: Session) -> Callable[[], object]:
    """Return whether the session's statement is waiting for a lock now."""
    pid = backend_pid(session)

    def ask() -> object:
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT 1 FROM pg_stat_activity WHERE pid = %s AND wait_event_type = 'Lock'", [pid]
            )
            return cursor.fetchone()

    return ask


def test_one_bad_row_never_fails_its_neighbours(start_gate: StartGate, make_handin: MakeHandIn) -> None:
    gate = start_gate()
    revision = factories.published_revision()
    stored = make_handin(factories.attempt(revision))
    gate.ask(stored)
    bad = make_handin(factories.attempt(revision), event_id=stored.event_id)
    good = [make_handin(factories.attempt(revision)) for _ in range(3)]

    verdicts = gate.ask(good[0], bad, *good[1:])

    assert outcomes(verdicts) == [Outcome.ACCEPTED, Outcome.NOT_STORED, Outcome.ACCEPTED, Outcome.ACCEPTED]
    assert count_stored() == (4, 4, 4)


def test_hand_in_that_cannot_even_be_sent_is_the_only_loser(
    start_gate: StartGate,
    make_handin: MakeHandIn,
) -> None:
    """The strict reader lets no lone surrogate through; should it ever, the driver fails on the whole group."""
    gate, revision = start_gate(), factories.published_revision()
    bad = make_handin(factories.attempt(revision))
    bad.answers = '{"q":"\ud83d"}'
    good = [make_handin(factories.attempt(revision)) for _ in range(2)]

    verdicts = gate.ask(good[0], bad, good[1])

    assert outcomes(verdicts) == [Outcome.ACCEPTED, Outcome.UNKNOWN, Outcome.ACCEPTED]
    assert count_stored() == (2, 2, 2)


def test_second_hand_in_of_an_attempt_in_one_group_is_answered_with_the_first_receipt(
    start_gate: StartGate,
    make_handin: MakeHandIn,
) -> None:
    attempt = factories.attempt()
    first, equal, other = make_handin(attempt), make_handin(attempt), make_handin(attempt, {"q": "other"})

    verdicts = start_gate().ask(first, equal, other)

    assert outcomes(verdicts) == [Outcome.ACCEPTED, Outcome.REPLAYED, Outcome.DIFFERENT]
    assert {verdict.receipt for verdict in verdicts} == {Receipt.of(Submission.objects.get())}


def test_locked_attempt_is_accepted_once_it_is_free(
    start_gate: StartGate,
    make_handin: MakeHandIn,
    database_url: str,
) -> None:
    gate, attempt = start_gate(), factories.attempt()
    held, free = make_handin(attempt), make_handin(factories.attempt())
    with psycopg.connect(database_url) as other:
        other.execute("SELECT 1 FROM exams_attempt WHERE id = %s FOR UPDATE", [attempt.pk])
        gate.committer.join([held, free])
        assert outcomes(gate.desk.wait_for(free)) == [Outcome.ACCEPTED]
        assert held not in gate.desk.verdicts

    assert outcomes(gate.desk.wait_for(held)) == [Outcome.ACCEPTED]


def test_loser_against_another_writer_is_answered_with_the_winners_receipt(
    start_gate: StartGate,
    make_handin: MakeHandIn,
    database_url: str,
) -> None:
    """I23, first half: the other one commits. It wrote without the attempt's lock, so only the unique index is between them."""
    gate, attempt = start_gate(), factories.attempt()
    handin = make_handin(attempt)
    with psycopg.connect(database_url) as winner:
        _insert_submission(winner, handin)
        gate.committer.join([handin])
        wait_until(is_blocked(gate.session))

    [verdict] = gate.desk.wait_for(handin)

    assert (verdict.outcome, verdict.receipt) == (Outcome.REPLAYED, Receipt.of(Submission.objects.get()))


def test_loser_becomes_the_winner_when_the_other_writer_rolls_back(
    start_gate: StartGate,
    make_handin: MakeHandIn,
    database_url: str,
) -> None:
    """I23, second half: the other one aborts."""
    gate, attempt = start_gate(), factories.attempt()
    handin = make_handin(attempt)
    with psycopg.connect(database_url) as other:
        _insert_submission(other, handin)
        gate.committer.join([handin])
        wait_until(is_blocked(gate.session))
        other.rollback()

    [verdict] = gate.desk.wait_for(handin)

    assert (verdict.outcome, verdict.receipt) == (Outcome.ACCEPTED, Receipt.of(Submission.objects.get()))
    assert Submission.objects.get().pk == handin.submission_id


def _insert_submission(other: psycopg.Connection[Any], handin: HandIn) -> None:
    other.execute(
        """
        INSERT INTO exams_submission
            (id, school_id, exam_id, attempt_id, student_id, revision_id, exam_revision, attempt_key, answers,
             payload_sha256, accepted_at, deadline, decision, decision_rule, origin, receipt_key_id, event_id)
        SELECT gen_random_uuid(), school_id, exam_id, id, student_id, revision_id, 1, 'key', %s, %s, now(), closes_at,
               'on_time', deadline_rule, 'student', %s, gen_random_uuid()
        FROM exams_attempt WHERE id = %s
        """,
        [handin.answers, handin.digest, get_key_ring().signing_id, handin.attempt_id],
    )


def test_connection_that_died_while_idle_is_replaced_unnoticed(
    start_gate: StartGate,
    make_handin: MakeHandIn,
) -> None:
    gate = start_gate()
    _terminate(gate.session)

    verdicts = gate.ask(make_handin(factories.attempt()), make_handin(factories.attempt()))

    assert outcomes(verdicts) == [Outcome.ACCEPTED, Outcome.ACCEPTED]


def test_connection_killed_in_the_transaction_leaves_the_key_free_and_is_tried_again(
    start_gate: StartGate,
    make_handin: MakeHandIn,
    database_url: str,
) -> None:
    """O02, second run: the first one dies before its commit."""
    gate, handin = start_gate(), make_handin(factories.attempt())
    with psycopg.connect(database_url) as other:
        other.execute("LOCK TABLE exams_submission IN SHARE MODE")
        gate.committer.join([handin])
        wait_until(is_blocked(gate.session))
        _terminate(gate.session)

    [verdict] = gate.desk.wait_for(handin)

    assert verdict.outcome is Outcome.ACCEPTED
    assert count_stored() == (1, 1, 1)


def _terminate(session: Session) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_terminate_backend(%s, 10000)", [backend_pid(session)])
        assert cursor.fetchone() == (True,)


@pytest.fixture
def wire(server: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[CutWire]:
    """A wire to the server that can be cut."""
    wire = CutWire(server.place.sockets, tmp_path_factory.mktemp("wire"))
    yield wire
    wire.close()


@pytest.fixture
def wired_session(transactional_db: None, wire: CutWire) -> Iterator[Session]:
    """A session whose packets pass through the wire."""
    session = _session_to(wire.folder)
    yield session
    session.close()


def _session_to(folder: Path) -> Session:
    session = Session(durability=LocalDurability(), key_id=get_key_ring().signing_id)
    session._arguments["host"] = str(folder)
    return session


def test_commit_whose_answer_is_lost_is_still_told_as_the_first_acceptance(
    start_gate: StartGate,
    make_handin: MakeHandIn,
    wired_session: Session,
    wire: CutWire,
) -> None:
    """D12: the reply is lost, the row is there; the second try must find its own row and say accepted, not replayed."""
    gate = start_gate(on=wired_session)
    gate.ask(make_handin(factories.attempt()))  # from now on each statement is one packet there and one back
    handin = make_handin(factories.attempt())
    wire.cuts = 1

    [verdict] = gate.ask(handin)

    assert wire.swallowed == 1
    assert (verdict.outcome, verdict.receipt) == (
        Outcome.ACCEPTED,
        Receipt.of(Submission.objects.get(pk=handin.submission_id)),
    )
    assert count_stored() == (2, 2, 2)


def test_outcome_is_unknown_when_the_answer_is_lost_and_the_database_stays_away(
    start_gate: StartGate,
    make_handin: MakeHandIn,
    wired_session: Session,
    wire: CutWire,
) -> None:
    gate = start_gate(patience=0.5, on=wired_session)
    gate.ask(make_handin(factories.attempt()))
    attempt = factories.attempt()
    in_doubt, never_sent = make_handin(attempt), make_handin(factories.attempt())
    wire.cuts, wire.is_shut = 1, True
    gate.committer.join([in_doubt])
    wait_until(lambda: wire.swallowed)
    gate.committer.join([never_sent])

    assert gate.desk.wait_for(in_doubt, never_sent) == [UNKNOWN, NOT_STORED]
    retry = make_handin(attempt)
    [verdict] = start_gate().ask(retry)
    assert (verdict.outcome, verdict.receipt) == (
        Outcome.REPLAYED,
        Receipt.of(Submission.objects.get(pk=in_doubt.submission_id)),
    )


def test_nothing_is_stored_and_nothing_claimed_while_the_database_is_away(
    transactional_db: None,
    start_gate: StartGate,
    make_handin: MakeHandIn,
    tmp_path: Path,
) -> None:
    gate = start_gate(patience=0.3, on=_session_to(tmp_path))

    assert gate.ask(make_handin(factories.attempt()), make_handin(factories.attempt())) == [
        NOT_STORED,
        NOT_STORED,
    ]
    assert Submission.objects.count() == 0


def test_hand_in_that_waited_in_line_longer_than_patience_is_still_sent_once_and_judged_by_its_arrival(
    start_gate: StartGate,
    make_handin: MakeHandIn,
) -> None:
    """The database stood still over the deadline: whoever was in line by then has arrived in time, and need not arrive again."""
    ended_at = database_now() - dt.timedelta(seconds=60)
    attempt = factories.attempt(closes_at=ended_at, grace_until=ended_at, accepts_until=ended_at)
    handin = make_handin(attempt, arrived_at=time.monotonic() - 90)

    [verdict] = start_gate(patience=8.0).ask(handin)

    stored = Submission.objects.get()
    assert (verdict.outcome, stored.decision) == (Outcome.ACCEPTED, "on_time")
    assert stored.accepted_at < attempt.closes_at


def test_table_that_is_locked_for_a_moment_only_costs_time(
    start_gate: StartGate,
    make_handin: MakeHandIn,
    database_url: str,
) -> None:
    gate, handin = start_gate(), make_handin(factories.attempt())
    with psycopg.connect(database_url) as migration:
        migration.execute("LOCK TABLE exams_attempt IN ACCESS EXCLUSIVE MODE")
        gate.committer.join([handin])
        wait_until(is_blocked(gate.session))

    assert outcomes(gate.desk.wait_for(handin)) == [Outcome.ACCEPTED]


def test_two_committers_never_accept_one_attempt_twice(
    start_gate: StartGate,
    make_handin: MakeHandIn,
) -> None:
    gates = [start_gate(), start_gate(on=_own_session())]
    revision = factories.published_revision()
    attempts = [factories.attempt(revision) for _ in range(40)]
    sent = [[make_handin(attempt) for attempt in attempts] for _ in gates]
    for gate, handins in zip(gates, sent, strict=True):
        gate.committer.join(handins)

    answered = [gate.desk.wait_for(*handins) for gate, handins in zip(gates, sent, strict=True)]

    for one, other in zip(*answered, strict=True):
        assert {one.outcome, other.outcome} == {Outcome.ACCEPTED, Outcome.REPLAYED}
        assert one.receipt == other.receipt
    assert count_stored() == (40, 40, 40)


def _own_session() -> Session:
    return Session(durability=LocalDurability(), key_id=get_key_ring().signing_id)


def test_stop_commits_whoever_is_still_in_line(start_gate: StartGate, make_handin: MakeHandIn) -> None:
    gate = start_gate()
    revision = factories.published_revision()
    handins = [make_handin(factories.attempt(revision)) for _ in range(30)]
    for handin in handins:
        gate.committer.join([handin])

    gate.committer.stop()

    assert set(outcomes(gate.desk.wait_for(*handins))) == {Outcome.ACCEPTED}
    assert Submission.objects.count() == 30
