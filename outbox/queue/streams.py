"""Which stream of waiting work is served next: fair to every exam, fresh work before backlog, always from where we left off.

A stream is the waiting jobs of one (kind, lane, group, priority), in order of arrival. A worker keeps a roster of the streams
that had work when it last looked (one to ten times a second, or when it found nothing) and how far into each it has come since: the
forward hint. A claim starts behind the hint, so it never walks again over rows that are claimed already but that an
old snapshot somewhere keeps from being cleaned away. What appears behind the hint is found by the next look (ADR 0002).

A job is in the lane it was queued in, but fresh work that has waited too long is *served* with the backlog, without being
rewritten: after an outage, those who hand in now do not stand behind everybody who did meanwhile (ADR 0013).
"""

import dataclasses
import datetime as dt
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import groupby, islice
from operator import attrgetter
from uuid import UUID

from outbox.models.jobs import Lane

FRESH_FOR = dt.timedelta(minutes=5)  # fresh work that has been due for longer is served with the backlog
FRESH_AGE_BUDGET = 60.0  # seconds the oldest fresh job may wait before the backlog gets nothing extra
BACKLOG_AGE_BUDGET = 3600.0  # seconds the oldest backlog job may wait before its lane gets the larger share
TURNS = 5  # of so many claims, all but one go to the favoured lane first: 80 to 20
BACKLOG_PER_SECOND = 1000.0  # jobs of the backlog lane that one worker takes at most, so that a replay leaves room for what comes
FIRST_JOB_ID = UUID(int=0)
FIRST_GROUP_ID = UUID(int=0)


@dataclasses.dataclass(slots=True)
class Stream:
    """A stream with work due, and the last place in it that this worker has claimed."""

    kind: str
    served_in: Lane  # whose turn it takes
    lane: Lane  # what its rows say
    group_id: UUID
    priority: int
    after_run_at: dt.datetime
    age: float  # seconds its oldest job had been due for at the last look
    after_job_id: UUID = FIRST_JOB_ID


class Roster:
    """The streams one worker knows of. Groups take turns; within a group the most urgent stream goes first."""

    def __init__(self) -> None:
        self.ages: dict[Lane, float] = {}  # the oldest wait of each lane
        self._lines: dict[tuple[str, Lane], dict[UUID, list[Stream]]] = {}
        self._last_served: dict[tuple[str, Lane], UUID] = {}

    def fill(self, streams: Iterable[Stream]) -> None:
        """Replace what was known by a new look: streams sorted by kind, lane served in, group and priority."""
        found = list(streams)
        self.ages = {}
        for stream in found:
            self.ages[stream.served_in] = max(self.ages.get(stream.served_in, 0.0), stream.age)
        self._lines = {
            key: self._line_up(key, list(line))
            for key, line in groupby(found, attrgetter("kind", "served_in"))
        }

    def _line_up(self, key: tuple[str, Lane], streams: Sequence[Stream]) -> dict[UUID, list[Stream]]:
        """Return the groups in the order of their turns: those behind the one served last come first."""
        last = self._last_served.get(key, FIRST_GROUP_ID)
        groups = {group_id: list(each) for group_id, each in groupby(streams, attrgetter("group_id"))}
        return dict(sorted(groups.items(), key=lambda item: (item[0] <= last, item[0])))

    def count_groups(self, kind: str, lane: Lane) -> int:
        """Return how many groups have work of this kind in this lane."""
        return len(self._lines.get((kind, lane), ()))

    def take_turns(self, kind: str, lane: Lane, count: int) -> list[Stream]:
        """Return the streams to claim from now, one a group, and send those groups to the end of the line."""
        line = self._lines[kind, lane]
        chosen = list(islice(line, count))
        for group_id in chosen:
            line[group_id] = line.pop(group_id)
            self._last_served[kind, lane] = group_id
        return [line[group_id][0] for group_id in chosen]

    def advance(self, stream: Stream, run_at: dt.datetime, job_id: UUID) -> None:
        """Remember how far into a stream we have come."""
        stream.after_run_at, stream.after_job_id = run_at, job_id

    def strike_off(self, stream: Stream) -> None:
        """Forget a stream that gave less than it was asked for, until the next look."""
        line = self._lines[stream.kind, stream.served_in]
        line[stream.group_id].remove(stream)
        if not line[stream.group_id]:
            del line[stream.group_id]


class Allowance:
    """So many jobs a second, and no more than a second's worth at once. A batch may overdraw it; then it is closed until that is made up."""

    def __init__(self, per_second: float, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._per_second = self._left = per_second
        self._clock = clock
        self._counted_at = clock()

    @property
    def is_open(self) -> bool:
        """Whether something is left."""
        now = self._clock()
        self._left = min(self._per_second, self._left + self._per_second * (now - self._counted_at))
        self._counted_at = now
        return self._left > 0

    def spend(self, count: int) -> None:
        """Take so many off."""
        self._left -= count


def share_out(batch: int, groups: int, at_most_each: int) -> tuple[int, int]:
    """Return from how many of the waiting groups a batch is taken, and how many jobs from each: the same for all.

    Of the two even ways (a little less from every group, a little more from some; the rest come first next time) the one that
    fills the batch better.

    >>> share_out(50, 3, 50), share_out(50, 26, 50)
    ((3, 16), (25, 2))
    """
    less, more = batch // groups, -(-batch // groups)
    ways = [(groups, less), (batch // more, more)]
    chosen, share = max(ways, key=lambda way: (way[0] * way[1], way[0]))
    return chosen, min(at_most_each, share)


def order_lanes(turn: int, ages: Mapping[Lane, float]) -> tuple[Lane, Lane]:
    """Return the lanes in the order to try them in: four turns of five the favoured one first; an empty one passes its turn on.

    Fresh work is favoured. The lanes swap while the backlog's oldest job is over its age budget and fresh work is not.
    """
    backlog_late = ages.get(Lane.BACKLOG, 0.0) > BACKLOG_AGE_BUDGET
    fresh_late = ages.get(Lane.FRESH, 0.0) > FRESH_AGE_BUDGET
    favoured, other = (
        (Lane.BACKLOG, Lane.FRESH) if backlog_late and not fresh_late else (Lane.FRESH, Lane.BACKLOG)
    )
    return (other, favoured) if turn % TURNS == TURNS - 1 else (favoured, other)
