"""A commit that returned is not yet an acknowledgement: each way in which PostgreSQL says yes too early (ADR 0011)."""

import os
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext

import psycopg
import pytest
from psycopg import Connection

from exams.gate import durability
from exams.gate.durability import NotDurable, QuorumDurability, durability_problem
from exams.gate.handin import UNKNOWN, HandIn, Outcome, Verdict
from exams.gate.session import Lost, Session
from exams.models import Submission
from exams.receipt_keys import get_key_ring
from exams.receipts import Receipt
from outbox.quorum import await_quorum, get_watch
from tests import factories
from tests.exams.gate.sessions import MakeHandIn, make_handin  # noqa: F401 - a fixture
from tests.quorum.rig import Rig
from tests.quorum.rigged import rig, rigs, session, template  # noqa: F401 - fixtures
from tests.waiting import wait_until

pytestmark = pytest.mark.process

ENDINGS = ("cancel", "terminate", "hang up")


class Trusting:
    """The naive level: waits for a standby, and believes the answer."""

    session_settings: Mapping[str, str] = {"synchronous_commit": "on"}
    verdict_seconds = 4.0

    def check_ready(self) -> None: ...

    def check_server(self, connection: Connection) -> None: ...

    def bound(self, connection: Connection) -> AbstractContextManager[None]:
        return nullcontext()

    def verify(self, connection: Connection) -> bool:
        return not connection.closed


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """The gate gives up soon: what it gives up on stays what it is."""
    monkeypatch.setattr(durability, "_BARRIER_SECONDS", 0.3)


@contextmanager
def waiting_commit(rig: Rig, session: Session, handin: HandIn) -> Iterator[Future[list[Verdict]]]:
    """Freeze both standbys and bring a hand-in to where its COMMIT waits for them; thaw them at the end."""
    rig.freeze("b", "c")
    with ThreadPoolExecutor(1) as pool:
        accepting = pool.submit(session.accept, [handin])
        try:
            wait_until(lambda: rig.list_waiting("a"))
            yield accepting
        finally:
            rig.thaw()


def end_wait(rig: Rig, ending: str, accepting: Future[list[Verdict]], session: Session) -> list[Verdict]:
    """End the wait in this way, and return the verdicts; a lost connection is the committer's own "unknown"."""
    [pid] = rig.list_waiting("a")
    match ending:
        case "cancel":
            rig.run("a", "SELECT pg_cancel_backend(%s)", pid)
        case "terminate":
            rig.run("a", "SELECT pg_terminate_backend(%s)", pid)
    try:
        return accepting.result(timeout=20)
    except Lost:
        return [UNKNOWN]


def count_stored(rig: Rig, name: str) -> int:
    [[count]] = rig.run(name, "SELECT count(*) FROM exams_submission")
    return int(str(count))


def test_commit_is_acknowledged_once_a_standby_has_it(
    rig: Rig, session: Session, make_handin: MakeHandIn
) -> None:
    [verdict] = session.accept([make_handin(factories.attempt())])

    stored = Submission.objects.get()
    assert (verdict.outcome, verdict.receipt) == (Outcome.ACCEPTED, Receipt.of(stored))
    assert durability_problem() is None


def test_one_frozen_standby_disturbs_nobody(rig: Rig, session: Session, make_handin: MakeHandIn) -> None:
    """D2."""
    rig.freeze("b")

    verdicts = [session.accept([make_handin(factories.attempt())])[0] for _ in range(20)]

    assert {verdict.outcome for verdict in verdicts} == {Outcome.ACCEPTED}
    assert get_watch().find_problem() is None


@pytest.mark.parametrize("ending", ENDINGS)
def test_ended_wait_is_no_acknowledgement_and_is_resolved_later(
    rig: Rig,
    session: Session,
    make_handin: MakeHandIn,
    impatient: None,
    monkeypatch: pytest.MonkeyPatch,
    ending: str,
) -> None:
    """D4: PostgreSQL answers a cancelled wait with success; the row is there to be seen, on one disk."""
    if ending == "hang up":
        monkeypatch.setattr(durability, "COMMIT_SECONDS", 0.5)
    handin = make_handin(factories.attempt())

    with waiting_commit(rig, session, handin) as accepting:
        assert end_wait(rig, ending, accepting, session) == [UNKNOWN]
        is_visible = count_stored(rig, "a") == 1
        on_standbys = count_stored(rig, "b") + count_stored(rig, "c")

    assert (is_visible, on_standbys) == (ending != "hang up", 0)
    wait_until(lambda: not rig.list_waiting("a"))
    session.connect()
    [verdict] = session.accept([handin])
    assert (verdict.outcome, verdict.receipt) == (Outcome.ACCEPTED, Receipt.of(Submission.objects.get()))


@pytest.mark.chaos
@pytest.mark.timeout(3_600)
@pytest.mark.parametrize("ending", ["cancel", "terminate"])
def test_none_of_two_hundred_ended_waits_is_an_acknowledgement(
    rig: Rig, session: Session, make_handin: MakeHandIn, impatient: None, ending: str
) -> None:
    """D4 at full size; `CHAOS_WAITS` of each."""
    handins = [make_handin(factories.attempt()) for _ in range(int(os.environ.get("CHAOS_WAITS", "200")))]
    told: list[Verdict] = []
    for handin in handins:
        session.connect()
        with waiting_commit(rig, session, handin) as accepting:
            told += end_wait(rig, ending, accepting, session)
        rig.wait_until_streaming("a", 2)

    session.connect()
    resolved = [session.accept([handin])[0].outcome for handin in handins]
    assert told == [UNKNOWN] * len(handins)
    assert resolved == [Outcome.ACCEPTED] * len(handins)
    assert Submission.objects.count() == len(handins)


def test_believing_a_cancelled_commit_loses_an_acknowledged_submission(
    rig: Rig, make_handin: MakeHandIn
) -> None:
    """The naive variant must fail, or the rig bites nobody: acknowledged, and gone after the fail-over."""
    session = Session(durability=Trusting(), key_id=get_key_ring().signing_id)
    session.connect()
    handin = make_handin(factories.attempt())
    with waiting_commit(rig, session, handin) as accepting:
        [acknowledged] = end_wait(rig, "cancel", accepting, session)
        for name in (
            "a",
            "b",
        ):  # what was under way to `b` is gone with both: `kill` alone would leave it in the kernel
            rig.kill(name)
    session.close()
    rig.node("b").start()
    rig.promote_naively("b")

    assert acknowledged.outcome is Outcome.ACCEPTED
    assert count_stored(rig, "b") == 0


def test_equal_submit_is_not_acknowledged_from_a_row_that_only_the_primary_has(
    rig: Rig, session: Session, make_handin: MakeHandIn, impatient: None
) -> None:
    """I23: the first one's wait was cancelled; the second finds its row, and must not believe it either."""
    attempt = factories.attempt()
    first, second = make_handin(attempt), make_handin(attempt)
    with waiting_commit(rig, session, first) as accepting:
        end_wait(rig, "cancel", accepting, session)
        with ThreadPoolExecutor(1) as pool:
            again = pool.submit(session.accept, [second])
            wait_until(lambda: rig.list_waiting("a"))
            replayed = end_wait(rig, "cancel", again, session)

    assert replayed == [UNKNOWN]
    [verdict] = session.accept([second])
    assert (verdict.outcome, verdict.receipt) == (Outcome.REPLAYED, Receipt.of(Submission.objects.get()))


def test_row_shown_by_a_crash_restart_is_not_acknowledged_until_a_standby_has_it(
    rig: Rig, session: Session, make_handin: MakeHandIn, impatient: None
) -> None:
    """D6: after the restart the row is simply there."""
    handin = make_handin(factories.attempt())
    with waiting_commit(rig, session, handin) as accepting:
        rig.kill("a")
        with pytest.raises(Lost):
            accepting.result(timeout=20)
        rig.node("a").start()
        is_visible, was_safe = count_stored(rig, "a") == 1, await_quorum(seconds=0.2)
        refused = durability_problem()

    rig.wait_until_streaming("a", 1)
    session.connect()
    [verdict] = session.accept([handin])
    assert (is_visible, was_safe) == (True, False)
    assert refused == "0 of the standbys a, b, c are streaming, 1 needed."
    assert verdict.outcome is Outcome.ACCEPTED


def test_nothing_is_published_while_the_wait_for_it_was_cancelled(
    rig: Rig, session: Session, make_handin: MakeHandIn, impatient: None
) -> None:
    """I21: the relay's barrier. The event is visible, and would be gone after a fail-over."""
    with waiting_commit(rig, session, make_handin(factories.attempt())) as accepting:
        end_wait(rig, "cancel", accepting, session)
        while_away = await_quorum(seconds=0.2)

    assert (while_away, await_quorum(seconds=20)) == (False, True)


def test_emptied_standby_names_stop_the_acknowledgements_at_once(
    rig: Rig, session: Session, make_handin: MakeHandIn
) -> None:
    """D7: PostgreSQL says nothing at all; commits just stop to wait."""
    [before] = session.accept([make_handin(factories.attempt())])
    later = make_handin(factories.attempt())

    rig.set_names("a", "")

    assert before.outcome is Outcome.ACCEPTED
    assert session.accept([later]) == [UNKNOWN]
    assert durability_problem() == (
        "The database server cannot keep the promise 'quorum': "
        "synchronous_standby_names is empty: commits wait for no standby."
    )
    wait_until(lambda: (get_watch().find_problem() or "").startswith("synchronous_standby_names is empty"))
    rig.set_names("a", "ANY 1 (a, b, c)")
    assert session.accept([later])[0].outcome is Outcome.ACCEPTED


@pytest.mark.parametrize(
    ("names", "fault"),
    [
        ("", "synchronous_standby_names is empty"),
        ("*", "which HANDOVER_STANDBYS does not name"),
        ("ANY 1 (b, backup)", "counts backup, which HANDOVER_STANDBYS does not name"),
        ("ANY 0 (b)", "waits for fewer than 1"),
    ],
)
def test_primary_that_waits_for_nobody_of_ours_is_refused(rig: Rig, names: str, fault: str) -> None:
    if names == "ANY 0 (b)":  # PostgreSQL itself would not take it
        assert fault in str(get_watch().quorum.find_fault(names))
        return
    rig.set_names("a", names)

    with (
        psycopg.connect(rig.url, autocommit=True) as connection,
        pytest.raises(NotDurable, match=fault.replace("*", r"\*")),
    ):
        QuorumDurability(get_watch()).check_server(connection)


def test_cancelled_waits_are_counted(rig: Rig, make_handin: MakeHandIn, impatient: None) -> None:
    level = QuorumDurability(get_watch())
    session = Session(durability=level, key_id=get_key_ring().signing_id)
    session.connect()

    with waiting_commit(rig, session, make_handin(factories.attempt())) as accepting:
        end_wait(rig, "cancel", accepting, session)

    session.close()
    assert level.cancelled_waits == 1
