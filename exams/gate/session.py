"""The committer's own database session: one connection that runs one statement, set up for that statement alone.

The statement is its own transaction (autocommit): one round trip, and nothing of ours can come between it and its commit.
That is also why a connection lost under way leaves the hand-ins in doubt, never "failed".
"""

import json
import time
from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

import psycopg

from exams.gate.durability import Durability, NotDurable
from exams.gate.handin import UNKNOWN, HandIn, Outcome, Verdict
from exams.gate.statement import Statement, float8_array, text_array, uuid_array
from exams.jobs import GRADE
from exams.receipts import Receipt
from outbox.db import connection_arguments, load_sql
from outbox.faults import fault_point
from outbox.queue.jobs import job_id_for

# The plan must not depend on what the tables looked like when the session began (nearly empty at night): one generic plan,
# index by index. A hash join over the attempts would read all of them for each group.
_SESSION_SETTINGS = {
    "application_name": "handover-gate",
    "plan_cache_mode": "force_generic_plan",
    "enable_seqscan": "off",
    "enable_hashjoin": "off",
    "enable_mergejoin": "off",
    "enable_material": "off",
    "enable_memoize": "off",
    "jit": "off",
    "TimeZone": "UTC",
    "work_mem": "16MB",
    "lock_timeout": "1s",  # only DDL can make us wait: rows are skipped when locked
    "statement_timeout": "5s",
}

_PARAMETERS = (
    *("attempt_ids", "student_ids", "submission_ids", "event_ids", "job_ids", "correlation_ids"),
    *("digests", "answers", "waits", "key_id"),
)
_OUTCOMES = {outcome.value: outcome for outcome in Outcome}


class _Row(NamedTuple):
    """What the statement says of one hand-in, in the order it says it. Without an `id` there is no receipt to speak of."""

    ordinal: int
    verdict: str
    exam_id: str
    id: str | None
    attempt_key: str
    exam_revision: int
    payload_sha256: str
    accepted_at: str
    deadline: str
    decision: str
    key_id: str
    closed_at: datetime | None
    rule: str | None


class Lost(Exception):
    """There is no connection to the database, or it broke under way."""


class Session:
    """Runs `accept_submissions.sql` for one group after another. Used by one thread only."""

    def __init__(self, *, durability: Durability, key_id: str, using: str = "default") -> None:
        self.durability = durability
        self._key_id = key_id
        self._arguments = _connection_arguments(using)
        self._settings = json.dumps({**_SESSION_SETTINGS, **durability.session_settings})
        self._text = load_sql("exams", "accept_submissions")
        self._connection: psycopg.Connection | None = None
        self._statement: Statement

    def connect(self) -> None:
        """Make sure that there is a connection; raises `Lost`, or `NotDurable` when the server would lose our work."""
        if self._connection is not None and not self._connection.closed:
            return
        try:
            self._connection = psycopg.connect(**self._arguments, autocommit=True, prepare_threshold=0)
            self._connection.execute(load_sql("exams", "set_session"), {"settings": self._settings})
            self.durability.check_server(self._connection)
            self._statement = Statement(self._connection, self._text, _PARAMETERS, _Row._make)
        except psycopg.Error as error:
            self.close()
            raise Lost from error
        except NotDurable:
            self.close()
            raise

    def accept(self, group: Sequence[HandIn]) -> list[Verdict]:
        """Decide and store these hand-ins in one transaction; return their verdicts, in the same order.

        Raises `Lost` when it is unknown whether that happened, any other `psycopg.Error` when it did not.
        """
        assert self._connection is not None
        try:
            fault_point("gate_sending")
            with self.durability.bound(self._connection):
                rows: list[_Row] = self._statement.run(self._bind(group))
                fault_point("gate_committed")
                is_durable = self.durability.verify(self._connection)
        except psycopg.Error as error:
            if self._connection.closed:
                raise Lost from error
            raise
        if not is_durable:
            return [UNKNOWN] * len(group)
        verdicts = {row.ordinal: _read_verdict(group[row.ordinal - 1], row) for row in rows}
        return [verdicts[ordinal] for ordinal in range(1, len(group) + 1)]

    def close(self) -> None:
        """Close the connection, if there is one."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _bind(self, group: Sequence[HandIn]) -> list[bytes]:
        """Return the values of `_PARAMETERS`."""
        now = time.monotonic()
        return [
            uuid_array([handin.attempt_id for handin in group]),
            uuid_array([handin.student_id for handin in group]),
            uuid_array([handin.submission_id for handin in group]),
            uuid_array([handin.event_id for handin in group]),
            uuid_array([job_id_for(GRADE, handin.submission_id) for handin in group]),
            uuid_array([handin.request_id or handin.submission_id for handin in group]),
            text_array([handin.digest for handin in group]),
            text_array([handin.answers for handin in group]),
            float8_array([now - handin.arrived_at for handin in group]),
            self._key_id.encode(),
        ]


def _connection_arguments(using: str) -> dict[str, Any]:
    """Return Django's arguments for this database, with our own bounds on a connection that hangs."""
    return {
        **connection_arguments(using),
        "target_session_attrs": "read-write",
        "connect_timeout": 3,
        "keepalives_idle": 5,
        "keepalives_interval": 2,
        "keepalives_count": 3,
        "tcp_user_timeout": 10_000,
    }


def _read_verdict(handin: HandIn, row: _Row) -> Verdict:
    outcome = _OUTCOMES[row.verdict]
    if outcome is Outcome.REPLAYED and row.id == str(handin.submission_id):
        outcome = Outcome.ACCEPTED  # our own earlier try, whose answer was lost on the way back
    receipt = None
    if row.id is not None:
        receipt = Receipt(
            id=row.id,
            attempt_id=str(handin.attempt_id),
            attempt_key=row.attempt_key,
            exam_id=row.exam_id,
            exam_revision=row.exam_revision,
            payload_sha256=row.payload_sha256,
            accepted_at=row.accepted_at,
            deadline=row.deadline,
            decision=row.decision,
            key_id=row.key_id,
        )
    return Verdict(outcome, receipt, row.closed_at, row.rule or "")
