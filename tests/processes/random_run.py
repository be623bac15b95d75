"""The random run: sixteen writers against real sequencers and consumers that are killed, frozen and started again.

Seeded, so a failure can be met again (as far as an operating system repeats itself). What it finds is counted, not judged: the
tests do that. It always runs a naive reader beside the others, which must lose events, or the run has proved nothing.
"""

import contextlib
import dataclasses
import itertools
import random
import signal
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import psycopg

from tests.processes.random_writers import CELLS, Change, NaiveReader, PositionReader, Session, Writer
from tests.processes.running import Running
from tests.waiting import wait_until

WRITERS = 16
CONSUMER = "tally"
COMMANDS = (("run_sequencer",), ("run_sequencer",), ("run_consumer", CONSUMER), ("run_consumer", CONSUMER))
PREPARE = """
    DROP TABLE IF EXISTS random_run_cell, random_run_tally;
    CREATE TABLE random_run_cell (subject text PRIMARY KEY, version integer NOT NULL DEFAULT 0) WITH (fillfactor = 50);
    INSERT INTO random_run_cell (subject) SELECT format('cell:%s', to_char(number, 'FM0000'))
    FROM generate_series(0, {cells}) AS number;
    CREATE TABLE random_run_tally (pos bigint NOT NULL, subject text NOT NULL, version integer NOT NULL);
"""


@dataclasses.dataclass(frozen=True, slots=True)
class Findings:
    """What a run came to. `missing`, `doubled`, `misplaced` and `inverted` must all be 0, `lost_by_naive` must not."""

    events: int
    rolled_back: int
    killed: int
    frozen: int
    missing: int  # acknowledged by a commit, and not read by position, or not by the consumer
    doubled: int  # read or applied more than once
    misplaced: int  # positions that are not 1, 2, 3, … as they were read
    inverted: int  # a cell's change read before the one it follows
    lost_by_naive: int


class Crew:
    """The four processes, and the hand that kills and freezes them."""

    def __init__(
        self, environment: dict[str, str], folder: Path, *, chance: random.Random, pause: float
    ) -> None:
        self.killed = self.frozen = 0
        self._environment = environment | {"DJANGO_SETTINGS_MODULE": "tests.processes.logplace.settings"}
        self._folder, self._chance, self._pause = folder, chance, pause
        self._numbers = itertools.count()
        self._members = [self._start(command) for command in COMMANDS]
        self._asked_to_stop = threading.Event()
        self._thread = threading.Thread(target=self._harass, daemon=True)

    def start_harassing(self) -> None:
        """Begin to kill and freeze, one after the other."""
        self._thread.start()

    def stop_harassing(self) -> None:
        """Leave them in peace; all four run."""
        self._asked_to_stop.set()
        self._thread.join(60)

    @property
    def pids(self) -> list[int]:
        """The process ids of those alive."""
        return [member.pid for member in self._members]

    def end(self) -> list[int]:
        """Ask all to end; return their exit codes."""
        for member in self._members:
            member.send(signal.SIGTERM)
        return [member.wait() for member in self._members]

    def kill_all(self) -> None:
        """Make sure that none is left."""
        for member in self._members:
            member.__exit__(None, None, None)

    def _harass(self) -> None:
        while not self._asked_to_stop.wait(self._chance.uniform(0, 2 * self._pause)):
            number = self._chance.randrange(len(COMMANDS))
            if self._chance.random() < 0.7:
                self._members[number].send(signal.SIGKILL)
                self._members[number].wait()
                self._members[number] = self._start(COMMANDS[number])
                self.killed += 1
            else:
                self._members[number].send(signal.SIGSTOP)
                self._asked_to_stop.wait(self._chance.uniform(0, 2 * self._pause))
                self._members[number].send(signal.SIGCONT)
                self.frozen += 1

    def _start(self, command: tuple[str, ...]) -> Running:
        log = self._folder / f"{command[0]}-{next(self._numbers)}.log"
        return Running(*command, environment=self._environment, log=log)


def play(
    url: str,
    environment: dict[str, str],
    folder: Path,
    *,
    seed: int,
    events: int,
    longest: float,
    pause: float,
    seconds: float,
) -> Findings:
    """Run until at least `events` were committed and one process was killed, then let everything come to rest, and count.

    `longest` is how long a slow transaction may take, `pause` the mean time between two attacks, `seconds` how long all of
    it may last at most.
    """
    with psycopg.connect(url, autocommit=True) as owner:
        owner.execute(PREPARE.format(cells=CELLS))
        chance = random.Random(seed)
        writers = [
            Writer(url, chance=random.Random(f"{seed}:{number}"), longest=longest)
            for number in range(WRITERS)
        ]
        naive, by_position = NaiveReader(url), PositionReader(url)
        with _crew(environment, folder, chance, pause) as crew:
            for session in (*writers, naive, by_position):
                session.start()
            crew.start_harassing()
            wait_until(lambda: _enough(writers, events) and crew.killed > 0, seconds=seconds)
            _finish(writers)
            crew.stop_harassing()
            wait_until(lambda: _is_at_rest(owner, crew.pids), seconds=seconds)
            assert crew.end() == [0] * len(COMMANDS)
        _finish([naive, by_position])
        return _count(owner, writers, naive, by_position, crew)


@contextlib.contextmanager
def _crew(environment: dict[str, str], folder: Path, chance: random.Random, pause: float) -> Iterator[Crew]:
    crew = Crew(environment, folder, chance=chance, pause=pause)
    try:
        yield crew
    finally:
        crew.stop_harassing()
        crew.kill_all()


def _enough(writers: list[Writer], events: int) -> bool:
    assert all(writer.error is None for writer in writers), [writer.error for writer in writers]
    return sum(len(writer.committed) for writer in writers) >= events


def _finish(sessions: "list[Writer] | list[Session]") -> None:
    for session in sessions:
        session.finish()


def _is_at_rest(owner: psycopg.Connection, pids: list[int]) -> bool:
    """Say whether everything is numbered and applied, and all processes are up."""
    row = owner.execute(
        "SELECT (SELECT count(*) FROM outbox_event) = (SELECT count(*) FROM outbox_eventposition)"
        " AND (SELECT count(*) FROM outbox_event) = (SELECT position FROM outbox_consumer WHERE name = %s)"
        " AND (SELECT count(DISTINCT pid) FROM outbox_heartbeat WHERE pid = ANY (%s)) = cardinality(%s)",
        [CONSUMER, pids, pids],
    ).fetchone()
    return row is not None and bool(row[0])


def _count(
    owner: psycopg.Connection,
    writers: list[Writer],
    naive: NaiveReader,
    by_position: PositionReader,
    crew: Crew,
) -> Findings:
    acknowledged = Counter(change for writer in writers for change in writer.committed)
    tally = owner.execute("SELECT subject, version FROM random_run_tally ORDER BY pos").fetchall()
    applied = [(subject, version) for subject, version in tally]
    return Findings(
        events=acknowledged.total(),
        rolled_back=sum(writer.rolled_back for writer in writers),
        killed=crew.killed,
        frozen=crew.frozen,
        missing=len(acknowledged - Counter(by_position.seen)) + len(acknowledged - Counter(applied)),
        doubled=len(Counter(by_position.seen) - acknowledged) + len(Counter(applied) - acknowledged),
        misplaced=sum(pos != place for place, pos in enumerate(by_position.positions, start=1)),
        inverted=_count_inversions(by_position.seen) + _count_inversions(applied),
        lost_by_naive=len(acknowledged - Counter(naive.seen)),
    )


def _count_inversions(changes: list[Change]) -> int:
    """Count changes that do not come right after the one before them of the same cell."""
    last: dict[str, int] = {}
    inversions = 0
    for subject, version in changes:
        inversions += version != last.get(subject, 0) + 1
        last[subject] = version
    return inversions
