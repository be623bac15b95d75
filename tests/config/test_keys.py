"""The secrets: made once, private, rotated by adding."""

import stat
import subprocess
import sys
import threading
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from config.keys import add_key, ensure_keys, read_keys, read_secret_key
from tests.serving import ROOT


def read_all(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_keys_are_made_once(tmp_path: Path) -> None:
    ensure_keys(tmp_path / "keys")
    first = read_all(tmp_path / "keys")
    ensure_keys(tmp_path / "keys")
    assert read_all(tmp_path / "keys") == first
    assert sorted(name.partition("/")[0] for name in first) == ["receipts", "secret_key", "tokens"]


def test_keys_can_be_read_by_their_owner_only(tmp_path: Path) -> None:
    ensure_keys(tmp_path / "keys")
    modes = {
        (path.is_dir(), stat.S_IMODE(path.stat().st_mode))
        for path in [tmp_path / "keys", *(tmp_path / "keys").rglob("*")]
    }
    assert modes == {(True, 0o700), (False, 0o600)}


def test_keys_are_the_same_for_everybody_when_many_start_at_once(tmp_path: Path) -> None:
    barrier = threading.Barrier(8)
    seen: list[str] = []

    def start() -> None:
        barrier.wait()
        ensure_keys(tmp_path / "keys")
        seen.append(read_secret_key(tmp_path / "keys"))

    threads = [threading.Thread(target=start) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(seen)) == 1
    assert seen[0] != ""


def test_new_key_signs_and_the_old_one_still_verifies(tmp_path: Path) -> None:
    ensure_keys(tmp_path)
    (before,) = read_keys(tmp_path, "tokens").items()
    (tmp_path / "tokens" / f"{before[0]}.key").rename(tmp_path / "tokens" / "20200101T000000-aaaaaa.key")
    added = add_key(tmp_path, "tokens")
    assert list(read_keys(tmp_path, "tokens")) == [added, "20200101T000000-aaaaaa"]
    assert read_keys(tmp_path, "tokens")["20200101T000000-aaaaaa"] == before[1]


def test_receipt_keys_are_ed25519(tmp_path: Path) -> None:
    ensure_keys(tmp_path)
    (pem,) = read_keys(tmp_path, "receipts").values()
    assert isinstance(load_pem_private_key(pem, password=None), Ed25519PrivateKey)


STRANGER = """
import os, sys
from pathlib import Path
from config.keys import read_secret_key
if os.geteuid() == 0:
    os.setresuid(65534, 65534, 65534)
try:
    read_secret_key(Path(sys.argv[1]))
except Exception as error:
    print(type(error).__name__, error)
"""


def test_keys_of_another_user_are_named_as_such(tmp_path: Path) -> None:
    ensure_keys(tmp_path / "keys")
    (tmp_path / "keys").chmod(0)  # what it is to everybody but its owner, and here to its owner too
    try:
        run = subprocess.run(
            [sys.executable, "-c", STRANGER, str(tmp_path / "keys")],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        )
    finally:
        (tmp_path / "keys").chmod(0o700)
    assert run.stdout.startswith(
        f"ImproperlyConfigured HANDOVER_KEYS: the keys in {tmp_path / 'keys'} belong to another user than this one (id "
    )


def test_secret_key_is_empty_when_none_was_made(tmp_path: Path) -> None:
    assert read_secret_key(tmp_path) == ""
    assert read_keys(tmp_path, "tokens") == {}
