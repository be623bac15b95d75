"""What clients hold against what the tables say, attempt by attempt. Pure.

Receipts = submissions = results = events = marks: each difference is named with its attempt, so that somebody can go and look.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from config.rehearsal.behaviour import Outcome
from exams.receipts import ReceiptInvalid, verify_receipt


class Record(NamedTuple):
    """What the tables hold of one attempt: counts, and of the submission what its receipt must name."""

    attempt_id: str
    submissions: int
    submission_id: str
    payload_sha256: str
    results: int
    accepted_events: int
    graded_events: int
    unnumbered_events: int
    marks: int


class Difference(NamedTuple):
    """Something that must not be."""

    attempt_id: str
    kind: str
    detail: str


class Totals(NamedTuple):
    """How many there are of each; all but the last are the same number when all is well."""

    students: int
    receipts: int
    submissions: int
    results: int
    accepted_events: int
    graded_events: int
    marks: int


Keys = Mapping[str, Ed25519PublicKey]


def count(outcomes: Sequence[Outcome], records: Iterable[Record]) -> Totals:
    """Add everything up."""
    rows = list(records)
    return Totals(
        students=len(outcomes),
        receipts=sum(bool(outcome.receipts) for outcome in outcomes),
        submissions=sum(row.submissions for row in rows),
        results=sum(row.results for row in rows),
        accepted_events=sum(row.accepted_events for row in rows),
        graded_events=sum(row.graded_events for row in rows),
        marks=sum(row.marks for row in rows),
    )


def find_differences(
    outcomes: Iterable[Outcome], records: Iterable[Record], *, sent: Mapping[str, str], keys: Keys
) -> list[Difference]:
    """Return everything that must not be; empty when every promise was kept.

    `sent` are the digests of the answers that were sent, by attempt; `keys` the published ones.
    """
    by_attempt = {record.attempt_id: record for record in records}
    found: list[Difference] = []
    for outcome in outcomes:
        name = outcome.attempt_id
        record = by_attempt.pop(name, None) or Record(name, 0, "", "", 0, 0, 0, 0, 0)
        found += _compare(outcome, record, sent[name], keys)
    found += [
        Difference(left, "stranger", "an attempt at this exam that nobody here sat") for left in by_attempt
    ]
    return found


def _compare(outcome: Outcome, record: Record, sent: str, keys: Keys) -> Iterator[Difference]:
    name = outcome.attempt_id
    if not outcome.receipts:
        last = outcome.tries[-1].status if outcome.tries else 0
        stored = ", but a submission is stored" if record.submissions else ""
        yield Difference(
            name, "no receipt", f"after {len(outcome.tries)} tries, the last answered {last or 'not'}{stored}"
        )
    elif not record.submissions:
        yield Difference(name, "lost", "a receipt is held, and no submission is there")
    if len(set(outcome.receipts)) > 1:
        yield Difference(
            name, "changed receipt", f"{len(set(outcome.receipts))} different receipts for one attempt"
        )
    for text in sorted(set(outcome.receipts)):
        yield from _check_receipt(text, record, sent, keys)
    if record.submissions and record.payload_sha256 != sent:
        yield Difference(name, "other answers", "what is stored is not what was sent")
    yield from _check_counts(name, record)


def _check_receipt(text: bytes, record: Record, sent: str, keys: Keys) -> Iterator[Difference]:
    name = record.attempt_id
    try:
        receipt = json.loads(text)
        verify_receipt(receipt, keys)
    except (ReceiptInvalid, ValueError, AttributeError) as error:
        yield Difference(name, "forged receipt", str(error))
        return
    if (receipt["attempt_id"], receipt["payload_sha256"]) != (name, sent):
        yield Difference(name, "wrong receipt", "it is for another attempt or other answers than were sent")
    elif record.submissions and receipt["id"] != record.submission_id:
        yield Difference(name, "wrong receipt", "it names another submission than is stored")


def _check_counts(name: str, record: Record) -> Iterator[Difference]:
    """Say of what there is not exactly one, given whether there is a submission."""
    wanted = 1 if record.submissions else 0
    found = {
        "submissions": record.submissions,
        "results": record.results,
        "SubmissionAccepted events": record.accepted_events,
        "SubmissionGraded events": record.graded_events,
        "marks": record.marks,
    }
    for what, number in found.items():
        if number != wanted:
            kind = "missing" if number < wanted else "too many"
            yield Difference(name, kind, f"{number} {what} instead of {wanted}")
    if record.unnumbered_events:
        yield Difference(name, "missing", f"{record.unnumbered_events} events without a position in the log")
