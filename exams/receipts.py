"""The receipt: what a student holds in hand after Submit, signed so that anybody can check it without us (ADR 0006).

The one thing to know: a receipt is a pure function of the submission's row and the key named there. Ed25519 is
deterministic, so the same receipt is made again for every replay, and the signature is stored nowhere.
"""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from exams.local_time import write_utc
from exams.receipt_keys import KeyRing

if TYPE_CHECKING:
    from exams.models import Submission


class Receipt(NamedTuple):
    """The facts a receipt states, as they are written. Times are in UTC with their offset and six digits of a second."""

    id: str
    attempt_id: str
    attempt_key: str
    exam_id: str
    exam_revision: int
    payload_sha256: str
    accepted_at: str
    deadline: str
    decision: str
    key_id: str

    @classmethod
    def of(cls, submission: "Submission") -> "Receipt":
        """Return the receipt of a stored submission."""
        return cls(
            id=str(submission.id),
            attempt_id=str(submission.attempt_id),
            attempt_key=submission.attempt_key,
            exam_id=str(submission.exam_id),
            exam_revision=submission.exam_revision,
            payload_sha256=submission.payload_sha256,
            accepted_at=write_utc(submission.accepted_at),
            deadline=write_utc(submission.deadline),
            decision=str(submission.decision),  # a fresh row holds the enumeration's member
            key_id=submission.receipt_key_id,
        )


SIGNED_MEMBERS = Receipt._fields


class ReceiptInvalid(ValueError):
    """This is not a receipt of ours, or it was changed."""


def sign_receipt(receipt: Receipt, ring: KeyRing) -> dict[str, str | int]:
    """Return the receipt as JSON, with its signature: base64url over the canonical JSON of every other member.

    Should the key that first signed it be lost, the current one signs, and says so in `key_id`.
    """
    facts, _, signature = _sign(receipt, ring)
    return facts | {"signature": signature}


def write_receipt(receipt: Receipt, ring: KeyRing) -> bytes:
    """Return the same as a text: what was signed, letter for letter, with the signature added as its last member."""
    _, text, signature = _sign(receipt, ring)
    return b'%s,"signature":"%s"}' % (text[:-1], signature.encode())


def _sign(receipt: Receipt, ring: KeyRing) -> tuple[dict[str, str | int], bytes, str]:
    key_id, sign = ring.find_signer(receipt.key_id)
    facts: dict[str, str | int] = dict(zip(SIGNED_MEMBERS, receipt, strict=True))
    facts["key_id"] = key_id
    text = canonical_facts(facts)
    return facts, text, _encode(sign(text))


def verify_receipt(document: Mapping[str, Any], keys: Mapping[str, Ed25519PublicKey]) -> None:
    """Check a receipt's signature with the published keys, or raise `ReceiptInvalid`. Reads nothing but its arguments.

    Members that a receipt gains later (`position`, `tick`) are not signed and not looked at.
    """
    facts = _read_facts(document)
    key = keys.get(str(facts["key_id"]))
    if key is None:
        raise ReceiptInvalid(f"It names the key {facts['key_id']!r}, which is not among the keys given.")
    try:
        key.verify(_decode(document.get("signature")), canonical_facts(facts))
    except (InvalidSignature, orjson.JSONEncodeError):  # a text or number that no receipt of ours can hold
        raise ReceiptInvalid(
            "The signature does not fit: the receipt was changed, or another key made it."
        ) from None


def canonical_facts(facts: Mapping[str, str | int]) -> bytes:
    """Return the bytes that are signed: the members sorted by name, no blanks, UTF-8 (as RFC 8785 writes such an object)."""
    return orjson.dumps(facts, option=orjson.OPT_SORT_KEYS)


def _read_facts(document: Mapping[str, Any]) -> dict[str, str | int]:
    facts = {name: document.get(name) for name in SIGNED_MEMBERS}
    for name, value in facts.items():
        wanted = int if name == "exam_revision" else str
        if type(value) is not wanted:
            raise ReceiptInvalid(f"Its member {name!r} is missing or of the wrong type.")
    return facts  # type: ignore[return-value]  # the loop has looked at every value


def _encode(signature: bytes) -> str:
    return urlsafe_b64encode(signature).rstrip(b"=").decode()


def _decode(text: object) -> bytes:
    if not isinstance(text, str):
        raise ReceiptInvalid("It has no signature.")
    try:
        return urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except ValueError:
        raise ReceiptInvalid("Its signature is not base64url.") from None
