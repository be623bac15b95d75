"""Fail-over keeps what was acknowledged, whatever the old primary still believes; and refuses when it cannot know."""

from datetime import timedelta
from pathlib import Path

import pytest
from django.db import connections

from config.failover import CannotFailOver, Member, aftermath, fail_over, member
from config.postgres.place import SUPERUSER
from exams.gate import durability
from exams.gate.handin import UNKNOWN, HandIn, Outcome, Verdict
from exams.gate.session import Lost, Session
from exams.models import Attempt
from outbox.errors import CursorOfAnotherEpoch
from outbox.log.reading import get_head, refuse_foreign_position
from outbox.log.sequencer import sequence_events
from outbox.models.consumers import Consumer
from outbox.quorum import get_watch
from tests import factories
from tests.exams.gate.sessions import MakeHandIn, make_handin  # noqa: F401 - a fixture
from tests.processes.running import Running
from tests.quorum.rig import MEMBERS, Rig
from tests.quorum.rigged import rig, rig_environment, rigs, session, template  # noqa: F401 - fixtures
from tests.waiting import wait_until

pytestmark = pytest.mark.process


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Everybody gives up soon: what is given up on stays what it is."""
    monkeypatch.setattr(durability, "COMMIT_SECONDS", 0.5)
    monkeypatch.setattr(durability, "_BARRIER_SECONDS", 0.3)
    monkeypatch.setattr(member, "SECONDS_TO_STOP", 3.0)


def members(rig: Rig, *names: str) -> list[Member]:
    return [Member(name, rig.node(name).url(SUPERUSER, "postgres")) for name in names]


def fail_over_to(rig: Rig, *standbys: str) -> str:
    said: list[str] = []
    names = f"ANY 1 ({', '.join(MEMBERS)})"
    return fail_over(members(rig, *standbys), names=names, quorum=get_watch().quorum, say=said.append).name


def accept_new(session: Session, make_handin: MakeHandIn) -> tuple[Attempt, Verdict]:
    attempt = factories.attempt()
    return attempt, session.accept([make_handin(attempt)])[0]


def list_stored(rig: Rig, name: str) -> set[str]:
    return {str(row[0]) for row in rig.run(name, "SELECT attempt_id FROM exams_submission")}


def run_failover(rig: Rig, environment: dict[str, str], log: Path, *arguments: str) -> tuple[int, str]:
    """Run the real command on both standbys."""
    named = [f"--standby={name}={rig.node(name).url(SUPERUSER, 'postgres')}" for name in ("b", "c")]
    with Running("failover", *named, *arguments, environment=environment, log=log) as command:
        return command.wait(), command.output


def try_to_accept(session: Session, handin: HandIn) -> Verdict:
    """One try as the committer makes it."""
    try:
        session.connect()
        return session.accept([handin])[0]
    except Lost:
        return UNKNOWN


def test_failover_takes_the_standby_that_has_the_most(
    rig: Rig, session: Session, make_handin: MakeHandIn
) -> None:
    """D8, with both: `b` stopped receiving before the last submissions, so only `c` has them."""
    rig.run("b", "ALTER SYSTEM SET primary_conninfo = ''")
    rig.run("b", "SELECT pg_reload_conf()")
    wait_until(lambda: rig.count_streaming("a") == 1)
    accepted = {str(accept_new(session, make_handin)[0].pk) for _ in range(5)}
    rig.kill("a")

    primary = fail_over_to(rig, "b", "c")

    assert (primary, list_stored(rig, "c")) == ("c", accepted)
    wait_until(lambda: list_stored(rig, "b") == accepted)
    rig.wait_until_streaming("c", 1)  # with all of it, it may still be catching up


def test_failover_refuses_when_one_standby_cannot_be_asked(rig: Rig) -> None:
    """D8: the one that is away may have what the other has not."""
    rig.kill("a")
    rig.kill("b")

    with pytest.raises(
        CannotFailOver,
        match=r"The server b cannot be asked: .* Nothing was changed: .* Bring it back first\.",
    ):
        fail_over_to(rig, "b", "c")
    with pytest.raises(CannotFailOver, match="2 of the 2 standbys must be asked, and 1 can be"):
        fail_over_to(rig, "c")

    assert rig.run("c", "SELECT pg_is_in_recovery(), current_setting('primary_conninfo') <> ''") == [
        (True, True)
    ]


def test_failover_undoes_the_fence_when_a_standby_does_not_stop_receiving(
    rig: Rig, session: Session, make_handin: MakeHandIn
) -> None:
    rig.freeze("c")

    with pytest.raises(
        CannotFailOver, match=r"c does not stop receiving.*Nothing was promoted; receiving as before: b, c"
    ):
        fail_over_to(rig, "b", "c")

    rig.thaw()
    rig.wait_until_streaming("a", 2)
    assert accept_new(session, make_handin)[1].outcome is Outcome.ACCEPTED


@pytest.mark.parametrize("is_frozen", [False, True], ids=["running", "frozen and thawed"])
def test_old_primary_acknowledges_nothing_after_a_failover(
    rig: Rig, session: Session, make_handin: MakeHandIn, is_frozen: bool
) -> None:
    """D9: it is never told; it has no standby left to say yes."""
    attempts = [factories.attempt() for _ in range(3)]
    kept, verdict = accept_new(session, make_handin)
    if is_frozen:
        rig.freeze_node("a")
    primary = fail_over_to(rig, "b", "c")
    rig.thaw()

    believed = [try_to_accept(session, make_handin(attempt)) for attempt in attempts]

    assert verdict.outcome is Outcome.ACCEPTED
    assert believed == [UNKNOWN] * 3
    assert list_stored(rig, primary) == {str(kept.pk)}


def test_promoting_without_the_fence_loses_an_acknowledged_submission(
    rig: Rig, session: Session, make_handin: MakeHandIn
) -> None:
    """The naive variant must fail, or the rig bites nobody: the old primary still has `c`, and that is a quorum."""
    rig.promote_naively("b")

    attempt, verdict = accept_new(session, make_handin)

    assert verdict.outcome is Outcome.ACCEPTED
    assert str(attempt.pk) not in list_stored(rig, "b")


def test_old_primary_comes_back_as_a_standby_and_counts_again(
    rig: Rig, session: Session, make_handin: MakeHandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    """D9, its end: rewound, also of a commit that nobody else has."""
    lonely = make_handin(factories.attempt())
    kept, _ = accept_new(session, make_handin)
    primary = fail_over_to(rig, "b", "c")
    assert try_to_accept(session, lonely) == UNKNOWN  # it is on the old primary's disk now, and only there

    said: list[str] = []
    aftermath.bring_back(rig.node("a"), rig.node(primary), said.append)
    rig.start_again("a")

    rig.wait_until_streaming(primary, 2)
    wait_until(lambda: try_to_accept(session, lonely).outcome is Outcome.ACCEPTED)
    both = {str(kept.pk), str(lonely.attempt_id)}
    assert list_stored(rig, primary) == both
    wait_until(lambda: list_stored(rig, "a") == both)


def test_failover_command_asks_everybody_and_changes_nothing_when_dry(
    rig: Rig, rig_environment: dict[str, str], tmp_path: Path
) -> None:
    code, words = run_failover(rig, rig_environment, tmp_path / "log", "--dry-run")

    assert (code, words.splitlines()[-1]) == (
        0,
        "Both can be asked: a fail-over would go on. Nothing was changed.",
    )
    assert rig.run("b", "SELECT pg_is_in_recovery()") == [(True,)]
    assert rig.count_streaming("a") == 2


def test_failover_command_begins_an_epoch_that_only_cursors_inside_the_log_survive(
    rig: Rig, rig_environment: dict[str, str], session: Session, make_handin: MakeHandIn, tmp_path: Path
) -> None:
    """I22: a cursor kept elsewhere may be ahead of the log that goes on."""
    kept, _ = accept_new(session, make_handin)
    sequence_events()
    elsewhere = get_head()
    inside = Consumer.objects.create(
        name="inside", staleness_budget=timedelta(seconds=1), position=elsewhere.pos
    )
    rig.kill("a")

    code, words = run_failover(rig, rig_environment, tmp_path / "log")

    assert code == 0, words
    connections["default"].close()
    head = get_head()
    inside.refresh_from_db()
    assert (head.epoch, head.pos) == (elsewhere.epoch + 1, elsewhere.pos)
    assert (inside.epoch, inside.position) == (head.epoch, elsewhere.pos)
    with pytest.raises(CursorOfAnotherEpoch):
        refuse_foreign_position(elsewhere, head)
    assert list_stored(rig, "b") == {str(kept.pk)}
