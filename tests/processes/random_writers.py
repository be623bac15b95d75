"""The load of the random run: writers who do all that makes a log hard to read, and the reader who gets it wrong."""

import random
import threading
import time
from collections.abc import Callable

import psycopg

CELLS = 300
SHARE_ROLLED_BACK = 0.1
INSERT = """
    INSERT INTO outbox_event (event_id, kind, subject, subject_version, actor_type, payload)
    VALUES (gen_random_uuid(), 'ThingNoted', %s, %s, 'policy', '{}')
"""
Change = tuple[str, int]


class Session(threading.Thread):
    """A thread with a connection of its own that repeats one thing until told to stop; its error is the test's."""

    def __init__(self, url: str, *, rest: float) -> None:
        super().__init__(daemon=True)
        self.connection = psycopg.connect(url, autocommit=True)
        self.error: BaseException | None = None
        self._asked_to_stop = threading.Event()
        self._rest = rest

    def turn(self) -> None:
        """Do it once."""
        raise AssertionError("every session says what it does")

    def run(self) -> None:
        try:
            while not self._asked_to_stop.wait(self._rest):
                self.turn()
        except BaseException as error:  # noqa: BLE001 - handed over to the test
            self.error = error

    def finish(self) -> None:
        """Stop, do it a last time, close; raise what went wrong."""
        self._asked_to_stop.set()
        self.join(60)
        assert not self.is_alive()
        if self.error:
            raise self.error
        self.turn()
        self.connection.close()


class Writer(Session):
    """Changes cells in transactions of every kind; notes what was committed, in `committed`."""

    def __init__(self, url: str, *, chance: random.Random, longest: float) -> None:
        super().__init__(url, rest=0.001)
        self.committed: list[Change] = []
        self.rolled_back = 0
        self._chance = chance
        self._longest = longest
        self._ways: list[Callable[[], list[Change]]] = [
            *[self._change_one] * 10,
            *[self._change_several] * 4,
            *[self._change_with_savepoints] * 3,
            *[self._change_slowly] * 2,
            self._change_after_a_long_wait,
        ]

    def turn(self) -> None:
        keep = self._chance.random() >= SHARE_ROLLED_BACK
        with self.connection.transaction(force_rollback=not keep):
            changes = self._chance.choice(self._ways)()
        if keep:
            self.committed += changes
        else:
            self.rolled_back += 1

    def _change(self, subject: str) -> Change:
        """Lock the cell by raising its version, then append the event: the order the proof needs."""
        row = self.connection.execute(
            "UPDATE random_run_cell SET version = version + 1 WHERE subject = %s RETURNING version", [subject]
        ).fetchone()
        assert row is not None
        self.connection.execute(INSERT, [subject, row[0]])
        return subject, row[0]

    def _pick(self, count: int = 1) -> list[str]:
        return sorted(f"cell:{number:04}" for number in self._chance.sample(range(CELLS), count))

    def _change_one(self) -> list[Change]:
        return [self._change(subject) for subject in self._pick()]

    def _change_several(self) -> list[Change]:
        return [self._change(subject) for subject in self._pick(self._chance.randint(2, 12))]

    def _change_with_savepoints(self) -> list[Change]:
        changes = []
        for subject in self._pick(6):
            keep = self._chance.random() < 0.5
            with self.connection.transaction(force_rollback=not keep):
                change = self._change(subject)
            changes += [change] if keep else []
        return changes

    def _change_slowly(self) -> list[Change]:
        changes = self._change_one()
        time.sleep(self._chance.uniform(0, self._longest))
        return changes

    def _change_after_a_long_wait(self) -> list[Change]:
        self.connection.execute("SELECT pg_current_xact_id()")
        time.sleep(self._chance.uniform(0, self._longest))
        return self._change_one()


class NaiveReader(Session):
    """Remembers the highest sequence number it has seen, as so many do."""

    def __init__(self, url: str) -> None:
        super().__init__(url, rest=0.005)
        self.seen: list[Change] = []
        self._last = 0

    def turn(self) -> None:
        rows = self.connection.execute(
            "SELECT seq, subject, subject_version FROM outbox_event WHERE seq > %s ORDER BY seq", [self._last]
        ).fetchall()
        self.seen += [(subject, version) for _, subject, version in rows]
        self._last = rows[-1][0] if rows else self._last


class PositionReader(Session):
    """Reads by position, while the sequencers are killed under it."""

    def __init__(self, url: str) -> None:
        super().__init__(url, rest=0.005)
        self.positions: list[int] = []
        self.seen: list[Change] = []

    def turn(self) -> None:
        rows = self.connection.execute(
            "SELECT position.pos, event.subject, event.subject_version FROM outbox_eventposition AS position"
            " JOIN outbox_event AS event USING (seq) WHERE position.pos > %s ORDER BY position.pos",
            [self.positions[-1] if self.positions else 0],
        ).fetchall()
        self.positions += [pos for pos, _, _ in rows]
        self.seen += [(subject, version) for _, subject, version in rows]
