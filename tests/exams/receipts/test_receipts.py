"""What a receipt says, that it cannot be changed, and that it is made again to the letter."""

import base64
import json
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from django.core.exceptions import ImproperlyConfigured
from hypothesis import given
from hypothesis import strategies as st

from config.keys import add_key, ensure_keys, read_keys
from exams.receipt_keys import KeyRing, read_key_set, write_key_set
from exams.receipts import (
    SIGNED_MEMBERS,
    Receipt,
    ReceiptInvalid,
    canonical_facts,
    sign_receipt,
    verify_receipt,
    write_receipt,
)

ATTEMPT = "01a22890-0000-7000-8000-000000000001"


@pytest.fixture
def keys_folder(tmp_path: Path) -> Path:
    """A folder with one key of each kind."""
    ensure_keys(tmp_path)
    return tmp_path


@pytest.fixture
def ring(keys_folder: Path) -> KeyRing:
    """The ring of that folder."""
    return read_ring(keys_folder)


def read_ring(folder: Path) -> KeyRing:
    return KeyRing(read_keys(folder, "receipts"), folder / "receipts")


def make_receipt(key_id: str, **fields: Any) -> Receipt:
    defaults: dict[str, Any] = {
        "id": "01a22890-0000-7000-8000-0000000000aa",
        "attempt_id": ATTEMPT,
        "attempt_key": "exam:student:1",
        "exam_id": "01a22890-0000-7000-8000-0000000000ee",
        "exam_revision": 3,
        "payload_sha256": "ab" * 32,
        "accepted_at": "2026-11-29T14:30:00.000000+00:00",
        "deadline": "2026-11-29T15:00:00.123456+00:00",
        "decision": "on_time",
    }
    return Receipt(**defaults | {"key_id": key_id} | fields)


def test_receipt_states_its_facts_with_times_that_show_their_utc_offset(ring: KeyRing) -> None:
    document = sign_receipt(make_receipt(ring.signing_id), ring)

    signature = document.pop("signature")
    assert document == {
        "id": "01a22890-0000-7000-8000-0000000000aa",
        "attempt_id": ATTEMPT,
        "attempt_key": "exam:student:1",
        "exam_id": "01a22890-0000-7000-8000-0000000000ee",
        "exam_revision": 3,
        "payload_sha256": "ab" * 32,
        "accepted_at": "2026-11-29T14:30:00.000000+00:00",
        "deadline": "2026-11-29T15:00:00.123456+00:00",
        "decision": "on_time",
        "key_id": ring.signing_id,
    }
    assert isinstance(signature, str)
    assert len(signature) == 86  # 64 bytes in base64url without padding


def test_signature_is_over_the_sorted_facts_and_nothing_else(ring: KeyRing) -> None:
    """Checked here by hand, as somebody without our code would."""
    document = sign_receipt(make_receipt(ring.signing_id), ring)
    signature = base64.urlsafe_b64decode(f"{document['signature']}==")
    signed = json.dumps(
        {name: value for name, value in sorted(document.items()) if name != "signature"},
        separators=(",", ":"),
    )

    ring.public_keys()[ring.signing_id].verify(signature, signed.encode())


def test_written_receipt_is_the_signed_text_with_the_signature_as_its_last_member(ring: KeyRing) -> None:
    receipt = make_receipt(ring.signing_id)
    document = sign_receipt(receipt, ring)

    written = write_receipt(receipt, ring)

    assert json.loads(written) == document
    facts = {name: value for name, value in document.items() if name != "signature"}
    assert written.startswith(canonical_facts(facts)[:-1])


def test_receipt_is_made_again_to_the_letter(ring: KeyRing) -> None:
    receipt = make_receipt(ring.signing_id)

    assert sign_receipt(receipt, ring) == sign_receipt(receipt, ring)


@pytest.mark.parametrize("name", SIGNED_MEMBERS)
def test_changed_member_is_found_out(ring: KeyRing, name: str) -> None:
    document = sign_receipt(make_receipt(ring.signing_id), ring)
    changed = document | {name: 4 if name == "exam_revision" else f"{document[name]}x"}

    with pytest.raises(ReceiptInvalid):
        verify_receipt(changed, ring.public_keys())


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"signature": None}, "It has no signature."),
        ({"signature": 5}, "It has no signature."),
        ({"signature": "a"}, "Its signature is not base64url."),
        ({"signature": "!!!"}, "The signature does not fit"),
        ({"signature": "A" * 86}, "The signature does not fit"),
        ({"decision": None}, "Its member 'decision' is missing or of the wrong type."),
        ({"exam_revision": "3"}, "Its member 'exam_revision' is missing or of the wrong type."),
        ({"exam_revision": True}, "Its member 'exam_revision' is missing or of the wrong type."),
        ({"key_id": "20990101T000000-ffffff"}, "It names the key '20990101T000000-ffffff'"),
    ],
)
def test_broken_receipt_is_refused_with_its_reason(
    ring: KeyRing, change: dict[str, Any], reason: str
) -> None:
    document = sign_receipt(make_receipt(ring.signing_id), ring) | change

    with pytest.raises(ReceiptInvalid) as raised:
        verify_receipt(document, ring.public_keys())

    assert str(raised.value).startswith(reason)


@given(
    st.dictionaries(st.sampled_from([*SIGNED_MEMBERS, "signature"]), st.text() | st.integers() | st.none())
)
def test_anything_else_is_never_genuine_and_never_a_crash(document: dict[str, Any]) -> None:
    key = Ed25519PrivateKey.generate().public_key()

    with pytest.raises(ReceiptInvalid):
        verify_receipt({"key_id": "k", **document}, {"k": key})


def test_members_added_later_do_not_touch_the_signature(ring: KeyRing) -> None:
    document = sign_receipt(make_receipt(ring.signing_id), ring)

    verify_receipt(
        {**document, "position": {"epoch": 0, "shard": 0, "pos": 7}, "tick": {}}, ring.public_keys()
    )


def test_rotation_signs_with_the_new_key_and_keeps_the_old_receipts_true(keys_folder: Path) -> None:
    before = read_ring(keys_folder)
    old = make_receipt(before.signing_id)
    old_document = sign_receipt(old, before)
    new_id = add_key(keys_folder, "receipts")

    after = read_ring(keys_folder)

    assert after.signing_id == new_id != before.signing_id
    assert sign_receipt(old, after) == old_document
    verify_receipt(old_document, after.public_keys())


def test_process_older_than_a_rotation_makes_receipts_of_the_new_key(keys_folder: Path) -> None:
    """Two web processes, one of them restarted since: the receipts of both must be equal everywhere."""
    ring = read_ring(keys_folder)
    new_id = add_key(keys_folder, "receipts")
    receipt = make_receipt(new_id)

    document = sign_receipt(receipt, ring)

    assert document == sign_receipt(receipt, read_ring(keys_folder))
    assert document["key_id"] == new_id
    assert ring.public_keys().keys() == read_ring(keys_folder).public_keys().keys()


def test_lost_key_is_replaced_by_the_current_one_and_the_receipt_says_so(ring: KeyRing) -> None:
    document = sign_receipt(make_receipt("20200101T000000-lost00"), ring)

    assert document["key_id"] == ring.signing_id
    verify_receipt(document, ring.public_keys())


def test_ring_without_a_key_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ImproperlyConfigured, match="no key to sign receipts"):
        KeyRing({}, tmp_path)


def test_key_set_reads_back_what_was_written(ring: KeyRing) -> None:
    written = write_key_set(ring.public_keys())

    [key] = written["keys"]
    assert {name: key[name] for name in ("kty", "crv", "use", "alg", "kid")} == {
        "kty": "OKP",
        "crv": "Ed25519",
        "use": "sig",
        "alg": "EdDSA",
        "kid": ring.signing_id,
    }
    assert read_key_set(json.loads(json.dumps(written))) == ring.public_keys()


@pytest.mark.parametrize(
    "document",
    [
        {},
        {"keys": 5},
        {"keys": [5]},
        {"keys": [{"kty": "OKP", "crv": "Ed25519", "kid": "a"}]},
        {"keys": [{"kty": "OKP", "crv": "Ed25519", "kid": "a", "x": "AA"}]},
    ],
)
def test_what_is_no_key_set_is_refused(document: dict[str, Any]) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - the words are the library's in one case
        read_key_set(document)


def test_keys_of_other_kinds_in_a_key_set_are_passed_over(ring: KeyRing) -> None:
    keys = write_key_set(ring.public_keys())["keys"]

    assert read_key_set({"keys": [{"kty": "RSA", "crv": "", "kid": "r"}, *keys]}) == ring.public_keys()


def test_canonical_facts_are_sorted_without_blanks() -> None:
    assert canonical_facts({"b": 1, "a": "é"}) == '{"a":"é","b":1}'.encode()
