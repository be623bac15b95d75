"""`manage.py verify_receipt FILE`: is this receipt genuine? Needs no database and no network."""

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from django.core.exceptions import ImproperlyConfigured
from django.core.management.base import CommandError, CommandParser

from exams import strict_json
from exams.canonical import canonical_answers, digest
from exams.errors import Malformed
from exams.receipt_keys import get_key_ring, read_key_set
from exams.receipts import SIGNED_MEMBERS, ReceiptInvalid, verify_receipt
from outbox.management.teaching import TeachingCommand

NOT_GENUINE, NOT_READABLE = 1, 2
MEANINGS = {
    "on_time": "before the deadline",
    "grace": "after the deadline, within the grace that counts as on time",
    "late": "after the deadline, while late work was taken",
    "closed_by_server": "by the server, from the last saved draft, when the time was over",
}


class Command(TeachingCommand):
    """Arguments, files and words; the check is `exams.receipts.verify_receipt`."""

    help = """\
Checks a receipt's signature, offline: it says whether this very text was issued by the holder of the key it names.

  on this machine      manage.py verify_receipt receipt.json             (with the keys of this installation)
  anywhere else        manage.py verify_receipt receipt.json --keys keys.json
                       (keys.json is a copy of /api/v1/receipt-keys)
  with the answers     manage.py verify_receipt receipt.json --answers answers.json
                       (also says whether these are the answers the receipt was given for: the body that was sent,
                       {"answers": {…}}, or the object inside it)

FILE is the receipt as the API gave it; - reads it from the standard input. What is *not* signed, position and tick, is not
checked here: manage.py verify_log does that.
Exit code 0: genuine. 1: not genuine, or not the answers. 2: a file cannot be read as what it should be."""

    def add_arguments(self, parser: CommandParser) -> None:
        """Say which files."""
        parser.add_argument("file", metavar="FILE", help="the receipt, JSON")
        parser.add_argument(
            "--keys", metavar="FILE", help="the published keys (default: this installation's own)"
        )
        parser.add_argument(
            "--answers",
            metavar="FILE",
            help="the answers, JSON: the body that was sent, or its `answers` alone",
        )

    def handle(self, *, file: str, keys: str | None, answers: str | None, **_: Any) -> None:
        """Check and say what was checked."""
        receipt = _read_object(file)
        try:
            verify_receipt(receipt, _read_keys(keys))
        except ReceiptInvalid as error:
            raise CommandError(f"NOT GENUINE. {error}", returncode=NOT_GENUINE) from None
        for line in _describe(receipt):
            self.stdout.write(line)
        if answers is not None:
            self.stdout.write(_compare(receipt, answers))


def _read_keys(file: str | None) -> Mapping[str, Ed25519PublicKey]:
    try:
        return get_key_ring().public_keys() if file is None else read_key_set(_read_object(file))
    except (ValueError, ImproperlyConfigured) as error:
        raise CommandError(f"No keys to check with: {error}", returncode=NOT_READABLE) from None


def _read_object(file: str) -> dict[str, Any]:
    """Return the JSON object in a file; read strictly, so that one name cannot hide behind another of the same spelling."""
    try:
        document = strict_json.load(sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes())
    except (OSError, Malformed) as error:
        raise CommandError(f"Cannot read {file}: {error}", returncode=NOT_READABLE) from None
    if not isinstance(document, dict):
        raise CommandError(f"Cannot read {file}: it holds no JSON object.", returncode=NOT_READABLE)
    return document


def _describe(receipt: Mapping[str, Any]) -> list[str]:
    decision = MEANINGS.get(receipt["decision"], receipt["decision"])
    unsigned = sorted(receipt.keys() - {*SIGNED_MEMBERS, "signature"})
    lines = [
        f"GENUINE. Signed with the key {receipt['key_id']} (Ed25519); nothing of this was changed since:",
        f"  receipt      {receipt['id']}",
        f"  attempt      {receipt['attempt_key']} (exam : student : number), {receipt['attempt_id']}",
        f"  exam         {receipt['exam_id']}, revision {receipt['exam_revision']}",
        f"  accepted at  {receipt['accepted_at']}: {decision}",
        f"  deadline     {receipt['deadline']}",
        f"  answers      SHA-256 {receipt['payload_sha256']}",
    ]
    return (
        [*lines, f"Not signed and not checked: {', '.join(map(json.dumps, unsigned))}."]
        if unsigned
        else lines
    )


def _find_answers(document: dict[str, Any]) -> dict[str, Any]:
    """Return the answers of a body that was sent, or the document itself. No question has the id "answers": ids are UUIDs."""
    inside = document.get("answers")
    return inside if document.keys() == {"answers"} and isinstance(inside, dict) else document


def _compare(receipt: Mapping[str, Any], file: str) -> str:
    try:
        found = digest(canonical_answers(_find_answers(_read_object(file))))
    except Malformed as error:
        raise CommandError(f"Cannot read {file}: {error}", returncode=NOT_READABLE) from None
    if found != receipt["payload_sha256"]:
        raise CommandError(
            f"OTHER ANSWERS. The receipt is genuine, but {file} has the SHA-256 {found}.",
            returncode=NOT_GENUINE,
        )
    return f"The answers in {file} are the ones it was given for (equal canonical JSON, see docs/answers.md)."
