"""Every difference is found and named with its attempt; nothing is found where there is none."""

import json
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from config.rehearsal.behaviour import Manner, Outcome, Try
from config.rehearsal.reconcile import Difference, Record, Totals, count, find_differences
from exams.receipt_keys import get_key_ring
from exams.receipts import Receipt, write_receipt

ATTEMPT, SHA = "0190aaaa-0000-7000-8000-000000000001", "ab" * 32
GOOD = Record(ATTEMPT, 1, "s1", SHA, 1, 1, 1, 0, 1)
MISSING = Record(ATTEMPT, 0, "", "", 0, 0, 0, 0, 0)


def receipt(**fields: Any) -> bytes:
    ring = get_key_ring()
    facts: dict[str, Any] = {
        "id": "s1",
        "attempt_id": ATTEMPT,
        "attempt_key": "e:s:1",
        "exam_id": "e",
        "exam_revision": 1,
        "payload_sha256": SHA,
        "accepted_at": "2026-11-29T12:00:00.000000+00:00",
        "deadline": "2026-11-29T12:00:00.000000+00:00",
        "decision": "on_time",
        "key_id": ring.signing_id,
    }
    return write_receipt(Receipt(**facts | fields), ring)


def outcome(*receipts: bytes, status: int = 202) -> Outcome:
    return Outcome(ATTEMPT, 0.0, Manner.PLAIN, list(receipts), [Try(0.0, 0.1, status)])


def differences(held: Outcome, *records: Record) -> list[tuple[str, str]]:
    found = find_differences([held], records, sent={ATTEMPT: SHA}, keys=get_key_ring().public_keys())
    return [(one.kind, one.detail) for one in found]


def test_nothing_is_found_when_there_is_one_of_each() -> None:
    assert differences(outcome(receipt(), receipt()), GOOD) == []


@pytest.mark.parametrize(
    ("field", "number", "kind", "detail"),
    [
        ("submissions", 2, "too many", "2 submissions instead of 1"),
        ("results", 0, "missing", "0 results instead of 1"),
        ("accepted_events", 0, "missing", "0 SubmissionAccepted events instead of 1"),
        ("graded_events", 2, "too many", "2 SubmissionGraded events instead of 1"),
        ("marks", 0, "missing", "0 marks instead of 1"),
        ("unnumbered_events", 1, "missing", "1 events without a position in the log"),
    ],
)
def test_wrong_count_is_named(field: str, number: int, kind: str, detail: str) -> None:
    wrong: dict[str, Any] = {field: number}
    assert differences(outcome(receipt()), GOOD._replace(**wrong)) == [(kind, detail)]


@pytest.mark.parametrize("records", [(), (MISSING,)])
def test_receipt_without_a_submission_is_a_loss(records: tuple[Record, ...]) -> None:
    assert differences(outcome(receipt()), *records) == [
        ("lost", "a receipt is held, and no submission is there")
    ]


def test_student_without_a_receipt_is_named_and_so_is_what_is_stored_all_the_same() -> None:
    assert differences(outcome(status=503), MISSING) == [
        ("no receipt", "after 1 tries, the last answered 503")
    ]
    assert differences(outcome(status=0), GOOD) == [
        ("no receipt", "after 1 tries, the last answered not, but a submission is stored")
    ]


def test_receipts_that_differ_are_one_too_many() -> None:
    found = differences(outcome(receipt(), receipt(id="s2")), GOOD)
    assert ("changed receipt", "2 different receipts for one attempt") in found
    assert ("wrong receipt", "it names another submission than is stored") in found


@pytest.mark.parametrize("fields", [{"attempt_id": "another"}, {"payload_sha256": "cd" * 32}])
def test_receipt_for_something_else_is_wrong(fields: dict[str, str]) -> None:
    assert differences(outcome(receipt(**fields)), GOOD) == [
        ("wrong receipt", "it is for another attempt or other answers than were sent")
    ]


def test_answers_that_were_stored_otherwise_than_sent_are_found_where_the_receipt_hides_it() -> None:
    assert differences(outcome(receipt()), GOOD._replace(payload_sha256="cd" * 32)) == [
        ("other answers", "what is stored is not what was sent")
    ]


def test_changed_receipt_does_not_pass_for_ours() -> None:
    forged = json.dumps(json.loads(receipt()) | {"decision": "late"}).encode()
    [(kind, _)] = differences(outcome(forged), GOOD)
    assert kind == "forged receipt"


@pytest.mark.parametrize("text", [b"", b"[]", b"{}", b'{"id"', b"\xff"])
def test_what_is_no_receipt_is_forged(text: bytes) -> None:
    assert [kind for kind, _ in differences(outcome(text), GOOD)] == ["forged receipt"]


def test_receipt_of_a_key_that_is_not_published_is_forged() -> None:
    found = find_differences(
        [outcome(receipt())],
        [GOOD],
        sent={ATTEMPT: SHA},
        keys={"x": Ed25519PrivateKey.generate().public_key()},
    )
    assert [one.kind for one in found] == ["forged receipt"]


def test_attempt_of_nobody_is_a_stranger() -> None:
    found = find_differences([], [GOOD], sent={}, keys={})
    assert found == [Difference(ATTEMPT, "stranger", "an attempt at this exam that nobody here sat")]


def test_totals_add_up() -> None:
    assert count([outcome(receipt()), outcome()], [GOOD, MISSING]) == Totals(2, 1, 1, 1, 1, 1, 1)
