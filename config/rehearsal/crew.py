"""The couriers as processes: one interpreter cannot send as fast as several gates answer."""

import contextlib
import multiprocessing
import os
from collections.abc import Iterator, Sequence
from multiprocessing.connection import Connection
from typing import Any

import uvloop

from config.rehearsal.behaviour import Outcome, Student
from config.rehearsal.courier import Courier
from config.rehearsal.wire import Address

LOOK_SECONDS = 0.25
_spawn = multiprocessing.get_context("spawn")  # forking would copy Django's connections


class CourierFailed(RuntimeError):
    """A process that sent has ended without its report."""


class Crew:
    """Processes that share the students among them."""

    def __init__(
        self,
        address: Address,
        students: Sequence[Student],
        *,
        start_at: float,
        patience: float,
        processes: int | None = None,
        connections: int = 256,
        seed: int = 1,
    ) -> None:
        count = processes or min(4, os.cpu_count() or 1)
        self._couriers = [
            _Courier(
                students[number::count],
                address=address,
                start_at=start_at,
                patience=patience,
                connections=max(1, connections // count),
                seed=seed + number,
            )
            for number in range(count)
        ]

    @contextlib.contextmanager
    def sending(self) -> Iterator[None]:
        """Start them; at the end of the block none is left."""
        try:
            for courier in self._couriers:
                courier.process.start()
            yield
        finally:
            for courier in self._couriers:
                if courier.process.pid is not None:
                    courier.process.terminate()
                    courier.process.join()

    def count_done(self) -> int:
        """Return how many students are through, one way or the other."""
        return sum(courier.done.value for courier in self._couriers)

    def find_outcomes(self, seconds: float = LOOK_SECONDS) -> list[Outcome] | None:
        """Return what became of everybody once all processes have reported; None after so many seconds without that."""
        for courier in self._couriers:
            courier.look(seconds)
        if any(courier.outcomes is None for courier in self._couriers):
            return None
        return [outcome for courier in self._couriers for outcome in courier.outcomes or ()]


class _Courier:
    """One process, seen from here."""

    def __init__(self, students: Sequence[Student], **options: Any) -> None:
        self.done = _spawn.Value("l", 0)
        self.outcomes: list[Outcome] | None = None
        self._reports, reports = _spawn.Pipe(duplex=False)
        self.process = _spawn.Process(
            target=_deliver, args=(students, options, self.done, reports), daemon=True
        )

    def look(self, seconds: float) -> None:
        """Take the report if it is there."""
        if self.outcomes is None and self._reports.poll(seconds):
            self.outcomes = self._reports.recv()
        elif self.outcomes is None and not self.process.is_alive():
            raise CourierFailed(f"A sending process ended with {self.process.exitcode}; its words are above.")


def _deliver(students: Sequence[Student], options: dict[str, Any], done: Any, reports: Connection) -> None:
    def tell() -> None:
        done.value += 1

    async def deliver() -> list[Outcome]:
        return await Courier(**options).deliver(students, tell=tell)

    reports.send(uvloop.run(deliver()))
