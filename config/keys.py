"""The secrets a running Handover needs, made on first use and kept in files nobody else can read.

`keys/secret_key`, `keys/tokens/<id>.key` (HMAC secrets of the bearer tokens) and `keys/receipts/<id>.pem` (Ed25519 keys of the
receipts). An id begins with its date, so the newest key is the last by name: it signs, and all that are still there verify.
Rotation is a new file; revoking a key is deleting its file. Every process reads the files when it starts.
"""

import contextlib
import os
import secrets
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from django.core.exceptions import ImproperlyConfigured


def ensure_keys(folder: Path) -> None:
    """Make every key that is not there yet. Safe to call at each start; never changes a key that exists."""
    for place in (folder, *(folder / kind for kind in KINDS)):
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not (folder / "secret_key").exists():
        _write_new(folder / "secret_key", secrets.token_urlsafe(50).encode())
    for kind in KINDS:
        if not read_keys(folder, kind):
            add_key(folder, kind)


def add_key(folder: Path, kind: str) -> str:
    """Make a new key of this kind, which signs from the next start on; return its id."""
    make, suffix = KINDS[kind]
    key_id = f"{datetime.now(UTC):%Y%m%dT%H%M%S%f}-{secrets.token_hex(3)}"
    _write_new(folder / kind / f"{key_id}{suffix}", make())
    return key_id


def read_keys(folder: Path, kind: str) -> dict[str, bytes]:
    """Return the keys of this kind by id, the one that signs first. Empty when none were made yet."""
    _, suffix = KINDS[kind]
    with _within_reach(folder):
        files = sorted((folder / kind).glob(f"*{suffix}"), reverse=True)
        return {file.stem: file.read_bytes() for file in files}


def read_secret_key(folder: Path) -> str:
    """Return Django's secret key, or an empty string (which Django refuses to sign with) when none was made yet."""
    file = folder / "secret_key"
    with _within_reach(folder):
        return file.read_text().strip() if file.exists() else ""


@contextlib.contextmanager
def _within_reach(folder: Path) -> Iterator[None]:
    """Say whose keys they are not, where the system only says that it was denied."""
    try:
        yield
    except PermissionError as error:
        raise ImproperlyConfigured(
            f"HANDOVER_KEYS: the keys in {folder} belong to another user than this one (id {os.geteuid()}). "
            "Run this as the user who started Handover, or name other folders"
        ) from error


def _make_token_secret() -> bytes:
    return secrets.token_urlsafe(48).encode()


def _make_receipt_key() -> bytes:
    return Ed25519PrivateKey.generate().private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


def _write_new(path: Path, content: bytes) -> None:
    """Write a file that only its owner may read, complete or not at all; keep the one of whoever was faster."""
    unfinished = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    with os.fdopen(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    try:
        os.link(unfinished, path)
    except FileExistsError:
        pass
    finally:
        unfinished.unlink()


KINDS: dict[str, tuple[Callable[[], bytes], str]] = {
    "tokens": (_make_token_secret, ".key"),
    "receipts": (_make_receipt_key, ".pem"),
}
