"""Ending a try: effects, events and the job's removal in one transaction, or the job given back, or given up.

The fence is `lock_held_jobs`: the first statement of every settling transaction locks the jobs still held under the lease, and only
those are written. A worker that was merely slow finds none and changes nothing. Locks are taken in this order: job, then the
handler's subjects by key, then events.
"""

import dataclasses
import json
import logging
import random
from collections import Counter
from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import Any
from uuid import UUID

from django.db import InterfaceError, OperationalError, connection, transaction

from outbox.correlation import correlated
from outbox.db import find_sqlstate, load_sql
from outbox.faults import fault_point
from outbox.patience import limit_patience
from outbox.queue.claim import Claim, name_held_jobs
from outbox.queue.handlers import ClaimedJob, Handler, Outcome, Transient, Verdict
from outbox.queue.retry import SNOOZE, GiveUp, TryAgain, decide_retry, may_pass

logger = logging.getLogger(__name__)

# Shutdown, crash, starting up, and our own limit on idling in a transaction: each ends the session (PostgreSQL, appendix A).
CLOSED_BY_SERVER = frozenset({"57P01", "57P02", "57P03", "25P03"})
DISK_FULL = "53100"
LONGEST_DETAIL = 2000  # characters of an error kept in a job's history


class Settled(StrEnum):
    """How one try ended. LOST is the expected end of a race: somebody else has the job by now."""

    FINISHED = "finished"
    RETRIED = "retried"
    SNOOZED = "snoozed"
    RELEASED = "released"
    BURIED = "buried"
    LOST = "lost"


@dataclasses.dataclass(frozen=True, slots=True)
class Failure:
    """A try that ended in an error, which may go away by itself or not."""

    job: ClaimedJob
    error: Exception
    transient: bool


def prepare(handler: Handler, jobs: Sequence[ClaimedJob]) -> list[Verdict | Failure]:
    """Have the handler work out every job; when it fails over a batch, job by job, so that one cannot spoil the others."""
    try:
        return [_as_verdict(outcome) for outcome in _match(jobs, handler.prepare(jobs))]
    except Exception as error:  # noqa: BLE001 - the worker's outermost handler: the error is recorded on the job
        raise_if_disconnected(error)
        if len(jobs) == 1:
            return [Failure(jobs[0], error, may_pass(error))]
    return [outcome for job in jobs for outcome in prepare(handler, [job])]


def _match(jobs: Sequence[ClaimedJob], outcomes: Sequence[Outcome]) -> Sequence[Outcome]:
    """Return the outcomes if there is exactly one for each job."""
    if sorted(outcome.job.job_id for outcome in outcomes) != sorted(job.job_id for job in jobs):
        raise ValueError("A handler must return one outcome for each job it is given.")
    return outcomes


def _as_verdict(outcome: Outcome) -> Verdict | Failure:
    return Failure(outcome.job, outcome.error, transient=True) if isinstance(outcome, Transient) else outcome


def settle(handler: Handler, outcomes: Sequence[Verdict | Failure]) -> Counter[Settled]:
    """End the tries of these jobs; return how many ended how. Needs a connection without a transaction."""
    failures = [outcome for outcome in outcomes if isinstance(outcome, Failure)]
    verdicts = [outcome for outcome in outcomes if not isinstance(outcome, Failure)]
    return (_finish(handler, verdicts) if verdicts else Counter()) + give_back(failures)


def _finish(handler: Handler, verdicts: Sequence[Verdict]) -> Counter[Settled]:
    """Write all verdicts in one transaction; when that fails, one by one."""
    try:
        finished = _finish_together(handler, verdicts)
    except Exception as error:  # noqa: BLE001 - as in prepare()
        raise_if_disconnected(error)
        if len(verdicts) == 1:
            return give_back([Failure(verdicts[0].job, error, may_pass(error))])
    else:
        return +Counter({Settled.FINISHED: finished, Settled.LOST: len(verdicts) - finished})
    return sum((_finish(handler, [verdict]) for verdict in verdicts), Counter[Settled]())


def _finish_together(handler: Handler, verdicts: Sequence[Verdict]) -> int:
    """Write the verdicts of the jobs still held, and move those jobs out; return how many there were."""
    with transaction.atomic(durable=True):
        limit_patience()
        held = lock_held_jobs([verdict.job for verdict in verdicts])
        ours = [verdict for verdict in verdicts if verdict.job.job_id in held]
        if ours:
            handler.write(ours)
            fault_point("in_settle")
            finish_jobs([verdict.job for verdict in ours])
    return len(ours)


def lock_held_jobs(jobs: Sequence[ClaimedJob]) -> set[UUID]:
    """Lock those of the jobs (of one claim) that are still held under their lease, in key order; return their ids."""
    with connection.cursor() as cursor:
        cursor.execute(load_sql("outbox", "lock_held_jobs"), name_held_jobs(jobs))
        return {job_id for (job_id,) in cursor.fetchall()}


def finish_jobs(jobs: Sequence[ClaimedJob]) -> None:
    """Move jobs (of one claim, locked before) to the finished ones."""
    moved = _run("finish_jobs", name_held_jobs(jobs))
    assert moved == len(jobs), "Locked jobs cannot have vanished."


def give_back(failures: Sequence[Failure]) -> Counter[Settled]:
    """Retry or give up each job whose try failed; those that are no longer ours are left alone.

    On a full disk no try can go well, whosever it is: it is put off uncounted, or an outage would fill the dead letters.
    """
    blameless = [failure.job for failure in failures if find_sqlstate(failure.error) == DISK_FULL]
    judged = [failure for failure in failures if find_sqlstate(failure.error) != DISK_FULL]
    return _judge(judged) + snooze(blameless, [random.uniform(*SNOOZE) for _ in blameless])  # noqa: S311 - jitter


def _judge(failures: Sequence[Failure]) -> Counter[Settled]:
    again, never = [], []
    for failure in failures:
        _say(failure)
        match decide_retry(failure.job, transient=failure.transient):
            case TryAgain(delay):
                again.append(_describe(failure) | {"delay": delay})
            case GiveUp(cause):
                never.append(_describe(failure) | {"cause": cause})
    retried = _run("retry_jobs", {"failures": json.dumps(again)}) if again else 0
    buried = _run("bury_jobs", {"failures": json.dumps(never)}) if never else 0
    return +Counter(
        {
            Settled.RETRIED: retried,
            Settled.BURIED: buried,
            Settled.LOST: len(failures) - retried - buried,
        }
    )


def _say(failure: Failure) -> None:
    """Write a failed try to the log, joined to what the job is about. The error's words stay on the job: they may quote anything."""
    job = failure.job
    with correlated(job.subject_id):
        logger.warning(
            "Try %d of %s %s: %s", job.tries, job.kind, job.subject_id, type(failure.error).__name__
        )


def snooze(jobs: Sequence[ClaimedJob], delays: Iterable[float]) -> Counter[Settled]:
    """Put jobs off by these many seconds, without counting the try."""
    rows = [_identify(job) | {"delay": delay} for job, delay in zip(jobs, delays, strict=True)]
    snoozed = _run("snooze_jobs", {"jobs": json.dumps(rows)}) if rows else 0
    return +Counter({Settled.SNOOZED: snoozed, Settled.LOST: len(jobs) - snoozed})


def release(claim: Claim) -> Counter[Settled]:
    """Give a batch back unstarted, as if it had not been claimed."""
    released = _run("release_jobs", name_held_jobs(claim.jobs))
    return +Counter({Settled.RELEASED: released, Settled.LOST: len(claim.jobs) - released})


def expire(claim: Claim) -> None:
    """Let go of a batch of which nobody knows how far it came; the sweeper takes it back as lost."""
    _run("expire_leases", name_held_jobs(claim.jobs))


def raise_if_disconnected(error: BaseException) -> None:
    """Raise `OperationalError` if this error tells of a lost connection: nothing is known then, about any job of the batch.

    The error tells, not the connection: Django opens a new one while it leaves the broken transaction.
    """
    cause: BaseException | None = error
    while cause:
        if tells_of_lost_connection(cause):
            raise OperationalError("The connection was lost in the middle of a batch.") from error
        cause = cause.__cause__ or cause.__context__


def tells_of_lost_connection(error: BaseException) -> bool:
    """Say whether a database error ended its connection: no SQLSTATE at all, class 08, or the server closed it."""
    if not isinstance(error, OperationalError | InterfaceError):
        return False
    state = find_sqlstate(error)
    return state is None or state[:2] == "08" or state in CLOSED_BY_SERVER


def _identify(job: ClaimedJob) -> dict[str, Any]:
    return {
        "group_id": str(job.group_id),
        "subject_id": str(job.subject_id),
        "kind": job.kind,
        "lease_id": str(job.lease_id),
    }


def _describe(failure: Failure) -> dict[str, Any]:
    """Return the failure as stored. An error may quote what a student wrote: no NUL and no lone surrogate may get into jsonb."""
    detail = str(failure.error).encode(errors="replace").decode().replace("\0", "\N{REPLACEMENT CHARACTER}")
    return _identify(failure.job) | {
        "error_class": type(failure.error).__qualname__[:80],
        "error_detail": detail[:LONGEST_DETAIL],
    }


def _run(statement: str, parameters: dict[str, Any]) -> int:
    with connection.cursor() as cursor:
        cursor.execute(load_sql("outbox", statement), parameters)
        return int(cursor.rowcount)
