"""A rehearsal from its begin to its end: make the school, send, watch, wait until all is drained, compare."""

import dataclasses
import datetime as dt
import json
import random
import time
from collections import Counter
from collections.abc import Callable, Sequence

import httpx

from config.rehearsal import school
from config.rehearsal.behaviour import Outcome, Student
from config.rehearsal.crew import LOOK_SECONDS, Crew
from config.rehearsal.keeping import put_away
from config.rehearsal.reconcile import Difference, Keys, Totals, count, find_differences
from config.rehearsal.watch import Sample, Watch, list_records
from config.rehearsal.wire import Address
from exams.canonical import canonical_answers, digest
from exams.receipt_keys import read_key_set
from outbox.db import database_now

Tell = Callable[[int, int], object]  # how many of how many: first those who have handed in, then the marks

LEAD_SECONDS = 2.0  # processes have started by then
ATTEMPTS_PER_SECOND = 1_500  # cautiously: how fast attempts are begun before the window


class CannotRehearse(Exception):
    """The address does not answer as a Handover does."""


@dataclasses.dataclass(frozen=True, slots=True)
class Options:
    """What is rehearsed. `patience` is how long after the deadline students go on trying, `drain` how long results may take then."""

    address: Address
    students: int
    window: float
    seed: int = 1
    patience: float = 120.0
    drain: float = 300.0
    connections: int = 256
    keep: bool = False


@dataclasses.dataclass(frozen=True, slots=True)
class Rehearsal:
    """What came of it."""

    options: Options
    began_at: str
    outcomes: Sequence[Outcome]
    samples: Sequence[Sample]
    totals: Totals
    differences: Sequence[Difference]
    drained_at: float | None  # seconds from the begin of the window; None when the bound was reached

    @property
    def is_clean(self) -> bool:
        """Whether nothing differs and nothing is left to do."""
        return not self.differences and self.drained_at is not None

    def count_manners(self) -> dict[str, int]:
        """Return how many students handed in in each manner."""
        return dict(Counter(outcome.manner.value for outcome in self.outcomes).most_common())


def rehearse(options: Options, *, tell: Tell) -> Rehearsal:
    """Run the whole of it. Raises `CannotRehearse` before anything is written when nobody answers."""
    keys = fetch_keys(options.address)
    made = school.make_school(students=options.students)
    try:
        return _run(options, made, keys, tell)
    finally:
        if not options.keep:
            put_away(made.exam.school_id)


def fetch_keys(address: Address) -> Keys:
    """Return the keys the address publishes, or raise `CannotRehearse`."""
    try:
        answer = httpx.get(f"{address.url}/api/v1/receipt-keys", timeout=10).raise_for_status()
        return read_key_set(answer.json())
    except (httpx.HTTPError, ValueError) as error:
        raise CannotRehearse(
            f"No Handover answers at {address.url}: {error}. Start it (`make run`), or say where it listens: --address http://HOST:PORT."
        ) from error


def _run(options: Options, made: school.RehearsalSchool, keys: Keys, tell: Tell) -> Rehearsal:
    dice = random.Random(options.seed)  # noqa: S311 - a repeatable draw is the point
    lead = dt.timedelta(seconds=LEAD_SECONDS + options.students / ATTEMPTS_PER_SECOND)
    window = dt.timedelta(seconds=options.window)
    attempts = school.begin_exam(made, closes_at=database_now() + lead + window)
    students = school.write_students(made, attempts, window=options.window, dice=dice)
    until_begin = (made.exam.closes_at - window - database_now()).total_seconds()
    start_at = time.monotonic() + max(LEAD_SECONDS, until_begin)
    watch = Watch(made.exam.pk, start_at)
    outcomes = _send(options, students, start_at, watch, tell)
    drained = _drain(watch, options, tell)
    records = list_records(made.exam.pk)
    return Rehearsal(
        options=options,
        began_at=(made.exam.closes_at - window).isoformat(timespec="seconds"),
        outcomes=outcomes,
        samples=watch.samples,
        totals=count(outcomes, records),
        differences=find_differences(outcomes, records, sent=_digests(students), keys=keys),
        drained_at=watch.samples[-1].at if drained else None,
    )


def _send(
    options: Options, students: Sequence[Student], start_at: float, watch: Watch, tell: Tell
) -> list[Outcome]:
    crew = Crew(
        options.address,
        students,
        start_at=start_at,
        patience=options.window + options.patience,
        connections=options.connections,
        seed=options.seed,
    )
    with crew.sending():
        while (outcomes := crew.find_outcomes()) is None:
            watch.look()
            tell(crew.count_done(), len(students))
    tell(len(students), len(students))
    return outcomes


def _drain(watch: Watch, options: Options, tell: Tell) -> bool:
    end = time.monotonic() + options.drain
    while not (sample := watch.look()).is_drained:
        tell(sample.marks, sample.handed_in)
        if time.monotonic() > end:
            return False
        time.sleep(LOOK_SECONDS)
    return True


def _digests(students: Sequence[Student]) -> dict[str, str]:
    return {
        student.attempt_id: digest(canonical_answers(json.loads(student.body)["answers"]))
        for student in students
    }
