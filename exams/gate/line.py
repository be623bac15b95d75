"""The line in front of the committer: hand-ins in order of arrival, and how the next group is taken from it.

Nobody sets a timer to gather a group: whatever came while the last group was being committed is the next one, so that
groups are small when the gate is quiet and large when it is not. Any thread may join and close; only the committer takes.
"""

import queue
import time
from collections.abc import Sequence
from uuid import UUID

from exams.gate.handin import HandIn

GROUP_SIZE = 256
GROUP_CHARACTERS = 4 * 1024 * 1024


class Line:
    """Hand-ins that wait: those that just came, and those the committer has seen but not yet taken, or sent back."""

    def __init__(self) -> None:
        self._arrivals: queue.SimpleQueue[Sequence[HandIn] | None] = queue.SimpleQueue()
        self._waiting: list[HandIn] = []
        self._is_closed = False

    def join(self, handins: Sequence[HandIn]) -> None:
        """Stand in line, together: the committer sees all of them or none."""
        self._arrivals.put(handins)

    def close(self) -> None:
        """Let the line run dry; nobody may join after this."""
        self._arrivals.put(None)

    def send_back(self, handin: HandIn, *, seconds: float) -> None:
        """Let a hand-in the committer holds stand in line again, for another try after so many seconds."""
        handin.not_before = time.monotonic() + seconds
        self._waiting.append(handin)

    def take(self) -> list[HandIn]:
        """Wait for the next group and return it, oldest first; empty once the line is closed and dry."""
        while True:
            self._let_in()
            group = self._pick()
            if group or (self._is_closed and not self._waiting):
                return group
            self._wait()

    def _let_in(self) -> None:
        """Move everybody who has arrived to those who wait."""
        for _ in range(self._arrivals.qsize()):
            self._welcome(self._arrivals.get_nowait())

    def _wait(self) -> None:
        """Wait for an arrival, or until the first of those who were sent back is due."""
        due = min((handin.not_before for handin in self._waiting), default=None)
        try:
            self._welcome(
                self._arrivals.get(timeout=None if due is None else max(0.0, due - time.monotonic()))
            )
        except queue.Empty:
            return

    def _welcome(self, arrivals: Sequence[HandIn] | None) -> None:
        if arrivals is None:
            self._is_closed = True
        else:
            self._waiting.extend(arrivals)

    def _pick(self) -> list[HandIn]:
        """Take a group from the front; once it is full, nobody further back is looked at, however long the line is."""
        now = time.monotonic()
        group = _Group()
        passed_over, seen = [], 0
        for handin in self._waiting:
            if group.is_full:
                break
            seen += 1
            if handin.not_before > now or not group.admit(handin):
                passed_over.append(handin)
        self._waiting[:seen] = passed_over
        return group.members


class _Group:
    """Hand-ins that can be decided by one statement: not too many, not too large, no attempt twice.

    One whose last try is in doubt goes alone: if it was the one that broke the connection, it takes nobody with it again.
    """

    def __init__(self) -> None:
        self.members: list[HandIn] = []
        self._attempts: set[UUID] = set()
        self._characters = 0
        self.is_full = False

    def admit(self, handin: HandIn) -> bool:
        """Take the hand-in in if it fits; say whether it did."""
        size = len(handin.answers)
        if self.members and (self.is_full or handin.losses > 0 or self._characters + size > GROUP_CHARACTERS):
            return False
        if handin.attempt_id in self._attempts:
            return False
        self.members.append(handin)
        self._attempts.add(handin.attempt_id)
        self._characters += size
        self.is_full = handin.losses > 0 or len(self.members) >= GROUP_SIZE
        return True
