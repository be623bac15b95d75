"""`manage.py verify_receipt`: offline, in plain words, with an exit code."""

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from exams.canonical import canonical_answers, digest
from exams.receipt_keys import get_key_ring, write_key_set
from exams.receipts import sign_receipt
from tests.exams.receipts.test_receipts import make_receipt
from tests.serving import ROOT

ANSWERS = {"q1": "a", "q2": ["x", "y"]}


@pytest.fixture
def receipt(tmp_path: Path) -> Path:
    """A genuine receipt for ANSWERS, as a file."""
    ring = get_key_ring()
    made = make_receipt(ring.signing_id, payload_sha256=digest(canonical_answers(ANSWERS)))
    return write(tmp_path / "receipt.json", sign_receipt(made, ring) | {"position": {"pos": 5}})


def write(path: Path, document: object) -> Path:
    path.write_text(json.dumps(document))
    return path


def verify(*arguments: object) -> str:
    out = io.StringIO()
    call_command("verify_receipt", *map(str, arguments), stdout=out)
    return out.getvalue()


def test_genuine_receipt_is_told_in_plain_words(receipt: Path) -> None:
    said = verify(receipt)

    assert said.startswith(f"GENUINE. Signed with the key {get_key_ring().signing_id} (Ed25519)")
    assert "accepted at  2026-11-29T14:30:00.000000+00:00: before the deadline" in said
    assert 'Not signed and not checked: "position".' in said


def test_receipt_is_verified_in_a_process_without_any_database(receipt: Path, tmp_path: Path) -> None:
    keys = write(tmp_path / "keys.json", write_key_set(get_key_ring().public_keys()))
    environment = {
        **os.environ,
        "DATABASE_URL": "postgres://nobody@127.0.0.1:1/nowhere",
        "HANDOVER_KEYS": str(tmp_path),
    }

    done = subprocess.run(
        [sys.executable, "manage.py", "verify_receipt", str(receipt), "--keys", str(keys)],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("GENUINE.")


def test_changed_receipt_is_not_genuine(receipt: Path) -> None:
    changed = json.loads(receipt.read_text()) | {"decision": "late"}

    with pytest.raises(CommandError, match=r"^NOT GENUINE\. The signature does not fit") as raised:
        verify(write(receipt, changed))

    assert raised.value.returncode == 1


def test_receipt_with_a_second_member_of_one_name_is_refused(receipt: Path) -> None:
    receipt.write_text('{"decision": "late", ' + receipt.read_text().removeprefix("{"))

    with pytest.raises(CommandError, match="used twice") as raised:
        verify(receipt)

    assert raised.value.returncode == 2


def test_answers_are_compared_in_canonical_form(receipt: Path, tmp_path: Path) -> None:
    same = write(tmp_path / "same.json", {"q2": ["y", "x"], "q1": "a", "q3": ""})
    other = write(tmp_path / "other.json", {"q1": "b"})

    assert "are the ones it was given for" in verify(receipt, "--answers", same)
    with pytest.raises(CommandError, match=r"^OTHER ANSWERS\.") as raised:
        verify(receipt, "--answers", other)
    assert raised.value.returncode == 1


def test_answers_may_be_the_very_body_that_was_sent(receipt: Path, tmp_path: Path) -> None:
    body = write(tmp_path / "body.json", {"answers": ANSWERS})
    other = write(tmp_path / "other.json", {"answers": {"q1": "b"}})

    assert "are the ones it was given for" in verify(receipt, "--answers", body)
    with pytest.raises(CommandError, match=r"^OTHER ANSWERS\."):
        verify(receipt, "--answers", other)


@pytest.mark.parametrize("content", ["", "[]", "{", "5"])
def test_unreadable_files_are_named(receipt: Path, tmp_path: Path, content: str) -> None:
    bad = tmp_path / "bad.json"
    bad.write_text(content)

    for arguments in ([bad], [receipt, "--keys", bad], [receipt, "--answers", bad]):
        with pytest.raises(CommandError, match=r"bad\.json") as raised:
            verify(*arguments)
        assert raised.value.returncode == 2


def test_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match=r"Cannot read .*none\.json"):
        verify(tmp_path / "none.json")
