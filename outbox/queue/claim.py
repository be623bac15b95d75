"""Taking jobs: `Claimer.claim()` gives a batch of one kind, leased to one worker and committed, or None.

The try is counted here, not at the end: a job that kills its worker never reaches an end.
"""

import dataclasses
import datetime as dt
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from operator import itemgetter
from typing import Any
from uuid import UUID, uuid4

from django.db import connection

from outbox.db import load_sql
from outbox.models.jobs import Lane
from outbox.queue.handlers import ClaimedJob
from outbox.queue.streams import (
    BACKLOG_PER_SECOND,
    FRESH_FOR,
    Allowance,
    Roster,
    Stream,
    order_lanes,
    share_out,
)

SECONDS_BETWEEN_LOOKS = (0.1, 1.0)  # at least and at most
LOOKING_SHARE = 0.05  # of the worker's time, between these two
LARGEST_BATCH = 250
SUSPECTS_TOGETHER = 16  # of those that lost one lease; who lost more goes alone
FIELDS_OF_A_JOB = itemgetter(*ClaimedJob.__slots__)  # what of a claimed row


@dataclasses.dataclass(frozen=True, slots=True)
class Claim:
    """A batch in hand: jobs of one kind under one lease."""

    lease_id: UUID
    kind: str
    jobs: tuple[ClaimedJob, ...]


def name_held_jobs(jobs: Sequence[ClaimedJob]) -> dict[str, Any]:
    """Return the parameters by which a statement finds these jobs of one claim, as long as they are held under its lease."""
    return {
        "kind": jobs[0].kind,
        "lease_id": jobs[0].lease_id,
        "group_ids": _write_array(job.group_id for job in jobs),
        "subject_ids": _write_array(job.subject_id for job in jobs),
    }


def _write_array(ids: Iterable[UUID]) -> str:
    """Return the ids as PostgreSQL writes an array of them: psycopg takes six times as long over the list."""
    return "{" + ",".join(map(str, ids)) + "}"


@dataclasses.dataclass(slots=True)
class Claimer:
    """One worker's way of taking jobs. `per_group` caps what one group may have in one worker's hands, `backlog` what it takes of old work.

    `held_back` says after an empty answer that there is backlog, but no allowance for it at this moment.
    """

    kinds: Sequence[str]
    lease: dt.timedelta
    batch: int = LARGEST_BATCH
    per_group: int = LARGEST_BATCH
    backlog: Allowance = dataclasses.field(default_factory=lambda: Allowance(BACKLOG_PER_SECOND))
    held_back: bool = False
    _roster: Roster = dataclasses.field(default_factory=Roster)
    _turn: int = 0
    _next_look: float = 0.0
    _suspects: bool = True

    def claim(self, by: UUID | None) -> Claim | None:
        """Claim the next batch, or None when nothing is due. An empty answer from the roster is checked by a new look."""
        looked = self._look_if_due()
        claim = self._claim_from_roster(by)
        if claim is None and not looked:
            self._look()
            claim = self._claim_from_roster(by)
        return claim

    def _look_if_due(self) -> bool:
        due = time.monotonic() >= self._next_look
        if due:
            self._look()
        return due

    def _look(self) -> None:
        begun = time.monotonic()
        self._roster.fill(list_ready_streams())
        self._suspects = True
        now = time.monotonic()
        self._next_look = now + plan_next_look(now - begun)

    def _claim_from_roster(self, by: UUID | None) -> Claim | None:
        """Every other turn belongs to the suspects while there are any; otherwise lanes, then kinds, take turns."""
        self._turn += 1
        suspect_first = self._turn % 2 == 0
        return (
            (self._claim_suspect(by) if suspect_first else None)
            or self._claim_batch(by)
            or (None if suspect_first else self._claim_suspect(by))
        )

    def _claim_batch(self, by: UUID | None) -> Claim | None:
        self.held_back = False
        for lane in order_lanes(self._turn, self._roster.ages):
            if lane == Lane.BACKLOG and not self.backlog.is_open:
                self.held_back = any(self._roster.count_groups(kind, lane) for kind in self.kinds)
                continue
            for kind in self._kinds_in_turn():
                while groups := self._roster.count_groups(kind, lane):
                    if claim := self._claim_from_groups(kind, lane, groups, by):
                        return claim
        return None

    def _claim_from_groups(self, kind: str, lane: Lane, groups: int, by: UUID | None) -> Claim | None:
        chosen, share = share_out(self.batch, groups, self.per_group)
        streams = self._roster.take_turns(kind, lane, chosen)
        rows = claim_jobs(kind=kind, streams=streams, share=share, lease=self.lease, by=by)
        if lane == Lane.BACKLOG:
            self.backlog.spend(len(rows))
        found = Counter(row["group_id"] for row in rows)
        last = {row["group_id"]: row for row in rows}
        for stream in streams:
            if found[stream.group_id] < share:
                self._roster.strike_off(stream)
            else:
                row = last[stream.group_id]
                self._roster.advance(stream, row["run_at"], row["job_id"])
        return _as_claim(rows)

    def _claim_suspect(self, by: UUID | None) -> Claim | None:
        if not self._suspects:
            return None
        for kind in self._kinds_in_turn():
            for losses, at_most in ((1, min(SUSPECTS_TOGETHER, self.batch)), (2, 1)):
                if rows := claim_suspects(kind=kind, losses=losses, at_most=at_most, lease=self.lease, by=by):
                    return _as_claim(rows)
        self._suspects = False
        return None

    def _kinds_in_turn(self) -> list[str]:
        start = self._turn // 2 % len(self.kinds)
        return [*self.kinds[start:], *self.kinds[:start]]


def plan_next_look(cost: float) -> float:
    """Return in how many seconds to look again after a look that cost so many: often while few exams wait, and never too often."""
    soonest, latest = SECONDS_BETWEEN_LOOKS
    return min(latest, max(soonest, cost / LOOKING_SHARE))


def list_ready_streams() -> list[Stream]:
    """Return every stream with a job due, sorted by kind, lane it is served in, group and priority. One probe a stream."""
    return [
        Stream(
            kind=row["kind"],
            served_in=Lane(row["served_in"]),
            lane=Lane(row["lane"]),
            group_id=row["group_id"],
            priority=row["priority"],
            after_run_at=row["run_at"],
            age=row["age"],
        )
        for row in _fetch_rows("list_ready_streams", {"fresh_for": FRESH_FOR})
    ]


def claim_jobs(
    *,
    kind: str,
    streams: Sequence[Stream],
    share: int,
    lease: dt.timedelta,
    by: UUID | None,
) -> list[dict[str, Any]]:
    """Claim up to `share` jobs from each stream, under one new lease; return the claimed rows, in order of arrival."""
    parameters = claim_parameters(kind=kind, streams=streams, share=share, lease=lease, by=by)
    return _fetch_rows("claim_jobs", parameters)


def claim_parameters(
    *, kind: str, streams: Sequence[Stream], share: int, lease: dt.timedelta, by: UUID | None
) -> dict[str, Any]:
    """Return the parameters of `claim_jobs.sql`, with a new lease."""
    return {
        "kind": kind,
        "lanes": [stream.lane for stream in streams],
        "group_ids": [stream.group_id for stream in streams],
        "priorities": [stream.priority for stream in streams],
        "after_run_ats": [stream.after_run_at for stream in streams],
        "after_job_ids": [stream.after_job_id for stream in streams],
        "share": share,
        "lease_id": uuid4(),
        "lease": lease,
        "leased_by": by,
    }


def claim_suspects(
    *, kind: str, losses: int, at_most: int, lease: dt.timedelta, by: UUID | None
) -> list[dict[str, Any]]:
    """Claim a few jobs that have lost so many leases before (those that lost 2 or more: `losses=2`), under a lease of their own.

    So the company of a job that kills its worker shrinks from a batch to a few and then to none before its third death.
    """
    parameters = {"kind": kind, "losses": losses, "at_most": at_most, "lease": lease, "leased_by": by}
    return _fetch_rows("claim_suspects", parameters | {"lease_id": uuid4()})


def _fetch_rows(statement: str, parameters: dict[str, Any]) -> list[dict[str, Any]]:
    with connection.cursor() as cursor:
        cursor.execute(load_sql("outbox", statement), parameters)
        names = [column.name for column in cursor.description]
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


def _as_claim(rows: Sequence[dict[str, Any]]) -> Claim | None:
    """Return the rows, which are in order of arrival, as a batch."""
    if not rows:
        return None
    jobs = tuple(ClaimedJob(*values) for values in map(FIELDS_OF_A_JOB, rows))
    return Claim(lease_id=jobs[0].lease_id, kind=jobs[0].kind, jobs=jobs)
