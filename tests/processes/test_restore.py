"""D14, I26, I22: the database comes back from a real dump on another server, from a base backup of an earlier moment, or from an older one
and the write-ahead log since, up to a point in time.

No consumer may skip an event or apply one twice, though transaction ids begin again far below those in the log, and positions that
were given out after the backup are given again, to other events.
"""

import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import StringIO
from pathlib import Path

import psycopg
import pytest
from django.core.management import CommandError, call_command
from django.db import connection, connections

from config.postgres import Cluster
from config.postgres.node import Node
from config.postgres.place import DATABASE, OWNER_ROLE, SUPERUSER
from config.postgres.roles import ensure_database
from exams.models import Attempt
from gradebook.models import Mark
from outbox.errors import CursorOfAnotherEpoch
from outbox.log.reading import Position, get_head, read_events, refuse_foreign_position
from outbox.models import Consumer, Event
from projections.models import MarkHistory
from tests import factories
from tests.exams.grading_room import grade_everything
from tests.people import World
from tests.sitting import hand_in
from tests.waiting import wait_until

pytestmark = [pytest.mark.django_db(transaction=True, databases=["default", "owner"]), pytest.mark.process]

CONSUMERS = ("analytics", "gradebook_marks", "marksheet_history")
FAR = 5_000  # transaction ids: more than loading the dump takes
# Transactions of their own, which take an id each and wait for no disk.
BURN = """
    DO $$ BEGIN
        PERFORM set_config('synchronous_commit', 'off', false);
        FOR turn IN 1 .. %s LOOP PERFORM pg_current_xact_id(); COMMIT; END LOOP;
    END $$
"""


@pytest.fixture
def folder() -> Iterator[Path]:
    """A place for another server, short enough for its socket."""
    folder = Path(tempfile.mkdtemp(prefix="handover-restored-"))
    yield folder
    shutil.rmtree(folder)


Restore = Callable[[], Cluster]
BackUp = Callable[
    [Cluster, str, Path], Callable[[], Restore]
]  # begun before anything happens; called at the moment that comes back


def dump_and_load(server: Cluster, database: str, folder: Path) -> Callable[[], Restore]:
    """Back up as docs/operations.md says, and restore it on a new server."""
    return lambda: _dump(server, database, folder)


def copy_server(server: Cluster, _database: str, folder: Path) -> Callable[[], Restore]:
    """Take a base backup at the moment, and start it as a server of its own."""
    return lambda: _Copied(server, folder).restore


def replay_to_a_time(server: Cluster, _database: str, folder: Path) -> Callable[[], Restore]:
    """Take a base backup beforehand, and replay what the server wrote since, up to the moment."""
    copied = _Copied(server, folder)

    def note_moment() -> Restore:
        with connection.cursor() as cursor:
            cursor.execute("SELECT clock_timestamp()::text")
            (moment,) = cursor.fetchone()
        return lambda: copied.restore_to(moment)

    return note_moment


def _dump(server: Cluster, database: str, folder: Path) -> Restore:
    dump = folder / "handover.dump"
    run(server, "pg_dump", "--format=custom", f"--file={dump}", server.url(SUPERUSER, database))

    def restore() -> Cluster:
        other = Cluster(folder / "new")
        other.start()
        ensure_database(other)
        target = f"--dbname={other.url(SUPERUSER)}"
        run(
            other,
            "pg_restore",
            "--clean",
            "--if-exists",
            "--no-owner",
            f"--role={OWNER_ROLE}",
            target,
            str(dump),
        )
        return other

    return restore


class _Copied:
    """A base backup of a server, not started yet."""

    def __init__(self, server: Cluster, folder: Path) -> None:
        self._server = server
        self._node = Node(folder / "new", name="restored", options={"shared_buffers": "32MB"})
        self._node.copy(server.place)
        (self._node.place.data / "standby.signal").unlink()

    def restore(self) -> Cluster:
        """Start it as it was copied."""
        self._node.start()
        return self._node

    def restore_to(self, moment: str) -> Cluster:
        """Start it, and let it first replay the server's log up to a moment."""
        data, account = self._node.place.data, self._node.account
        archive = shutil.copytree(self._server.place.data / "pg_wal", data / "archive")
        signal = data / "recovery.signal"
        signal.touch(mode=0o600)
        for path in (signal, archive, *archive.rglob("*")):
            shutil.chown(path, account.uid, account.gid)
        self._node.options |= {
            "restore_command": f"cp {archive}/%f %p",
            "recovery_target_time": moment,
            "recovery_target_action": "promote",
        }
        self._node.start()
        wait_until(lambda: not self._is_recovering())
        return self._node

    def _is_recovering(self) -> object:
        with psycopg.connect(self._node.url(SUPERUSER, "postgres")) as session:
            return session.execute("SELECT pg_is_in_recovery()").fetchone() != (False,)


def run(server: Cluster, program: str, *arguments: str) -> None:
    done = subprocess.run(
        [server.binaries.path(program), *arguments], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


def tell(*words: str) -> str:
    """Run a command of ours and return what it printed."""
    out = StringIO()
    call_command(*words, stdout=out)
    return out.getvalue()


def catch_up() -> None:
    """Grade, number and project whatever waits, and what follows from that: the mark's own event."""
    grade_everything()
    for _ in range(2):
        tell("run_sequencer", "--once")
        tell("run_consumer", "--once", *CONSUMERS)


@contextmanager
def pointed_at(server: Cluster, database: str) -> Iterator[None]:
    """Let this process's Django work on another server."""
    aliases = [connections[alias] for alias in ("default", "owner")]
    kept = [dict(alias.settings_dict) for alias in aliases]
    for alias in aliases:
        alias.close()
        alias.settings_dict.update(HOST=str(server.place.sockets), NAME=database)
    try:
        yield
    finally:
        for alias, before in zip(aliases, kept, strict=True):
            alias.close()
            alias.settings_dict.update(before)


@pytest.fixture
def attempts(world: World) -> list[Attempt]:
    """Three of one class sit an exam whose results go to a column of their sheet."""
    exam = factories.exam(school=world.school, course=world.course, period=world.period)
    revision = factories.published_revision(exam, factories.questions(2, ("true_false",)))
    factories.target(exam, world.school_class, factories.column(world.sheet, source_id=exam.pk, max_points=2))
    students = [factories.student(world.school) for _ in range(3)]
    for student in students:
        factories.enrolment(student, world.school_class)
    return [factories.attempt(revision, student) for student in students]


@pytest.mark.parametrize("back_up", [dump_and_load, copy_server, replay_to_a_time])
def test_restored_log_is_followed_without_a_gap_or_a_repetition_and_by_no_cursor_of_before(
    server: Cluster,
    folder: Path,
    attempts: list[Attempt],
    back_up: BackUp,
) -> None:
    database = str(connection.settings_dict["NAME"])
    at_this_moment = back_up(server, database, folder)
    with connection.cursor() as cursor:
        cursor.execute(BURN % FAR)
    posted, waiting, late = attempts
    hand_in(posted)
    catch_up()
    hand_in(waiting)  # its event has no position yet, its job no worker
    numbered, written = read_events(Position(), 1_000), Event.objects.count()
    restore = at_this_moment()
    hand_in(late)
    catch_up()
    before = get_head()

    restored = restore()
    try:
        with pointed_at(restored, DATABASE if back_up is dump_and_load else database):
            assert Event.objects.count() == written  # nothing of what came after that moment
            if back_up is dump_and_load:
                with pytest.raises(CommandError, match="restored from another server"):
                    tell("run_sequencer", "--once")
            tell("run_sequencer", "--start-epoch")
            with pytest.raises(CommandError, match="the log is in epoch 1"):
                tell("run_consumer", "--once", *CONSUMERS)
            for name in CONSUMERS:
                tell("consumers", "adopt", name)
            hand_in(Attempt.objects.get(pk=late.pk))
            catch_up()

            head = get_head()
            events = read_events(Position(head.epoch), 1_000)
            assert events[: len(numbered)] == numbered
            assert [event.pos for event in events] == list(range(1, Event.objects.count() + 1))
            assert (head.epoch, head.pos) == (before.epoch + 1, len(events))
            assert set(Consumer.objects.values_list("name", "epoch", "position")) == {
                (name, head.epoch, head.pos) for name in CONSUMERS
            }
            assert Mark.objects.count() == MarkHistory.objects.count() == len(attempts)
            for name in ("marksheet_history", "analytics"):
                assert f"{name} equals the log at position {head.pos}. Nothing to take over." in tell(
                    "rebuild_projection", name, "--compare"
                )
            assert "The log is sound" in tell("verify_log")
            assert head.pos >= before.pos  # by number alone, the old cursor would pass for one of this log
            with pytest.raises(CursorOfAnotherEpoch):
                refuse_foreign_position(before, head)
    finally:
        restored.stop()
