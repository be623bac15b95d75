"""The checker itself: it names each kind of fault, or a green run would mean nothing."""

from uuid import UUID

import pytest

from tests.quorum.history import History, Stored, Try, find_faults

ATTEMPT = UUID(int=1)
RECEIPT = {"id": "s1", "payload_sha256": "d1"}


def heard(status: int, receipt: dict[str, str]) -> Try:
    return Try(ATTEMPT, status, "" if receipt else "outcome_unknown", receipt, 0.0, 1.0)


@pytest.mark.parametrize(
    ("tries", "stored", "faults"),
    [
        ([heard(202, RECEIPT), heard(200, RECEIPT)], [Stored("s1", ATTEMPT, "d1")], []),
        ([heard(503, {}), heard(0, {})], [], []),
        ([heard(202, RECEIPT)], [], [f"lost: {ATTEMPT} was acknowledged 1 times and is not there"]),
        (
            [heard(202, RECEIPT)],
            [Stored("s1", ATTEMPT, "d1"), Stored("s2", ATTEMPT, "d1")],
            [f"double: {ATTEMPT} has 2 submissions"],
        ),
        (
            [heard(202, RECEIPT), heard(200, {**RECEIPT, "decision": "late"})],
            [Stored("s1", ATTEMPT, "d1")],
            [f"changed: {ATTEMPT} got different receipts"],
        ),
        (
            [heard(202, RECEIPT)],
            [Stored("s1", ATTEMPT, "d2")],
            [f"other: {ATTEMPT} holds a receipt for something else than what is stored"],
        ),
    ],
    ids=["kept", "nothing promised", "lost", "double", "changed", "other"],
)
def test_history_names_what_must_not_be(tries: list[Try], stored: list[Stored], faults: list[str]) -> None:
    history = History()
    history.tries = tries

    assert find_faults(history, stored) == faults
