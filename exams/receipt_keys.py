"""The Ed25519 keys that sign receipts: which one signs now, and the public halves that everybody may have.

Keys are files (`settings.KEYS_DIR/receipts/<id>.pem`, made by `config.keys`); the newest signs, none is ever taken away.
A process reads them at its start and again when a receipt names a key it does not know: another process, started after
a rotation, may have signed with it.
"""

import functools
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from nacl.bindings import crypto_sign, crypto_sign_BYTES

Sign = Callable[[bytes], bytes]


class KeyRing:
    """The keys by id, the signing one first."""

    def __init__(self, pems: Mapping[str, bytes], folder: Path) -> None:
        if not pems:
            raise ImproperlyConfigured(
                f"There is no key to sign receipts with below {folder}; `make run` makes one."
            )
        self._folder = folder
        self._keys: dict[str, Ed25519PrivateKey] = {}
        self._signers: dict[str, Sign] = {}
        for key_id, pem in pems.items():
            self._add(key_id, pem)
        self.signing_id = next(iter(pems))

    def find_signer(self, key_id: str) -> tuple[str, Sign]:
        """Return what signs with this key, and its id; or the current one when this one is lost."""
        if key_id not in self._keys:
            self._read_new_files()
        found = key_id if key_id in self._keys else self.signing_id
        return found, self._signers[found]

    def public_keys(self) -> dict[str, Ed25519PublicKey]:
        """Return the public half of every key there is now, by id."""
        self._read_new_files()
        return {key_id: key.public_key() for key_id, key in self._keys.items()}

    def _read_new_files(self) -> None:
        for file in self._folder.glob("*.pem"):
            if file.stem not in self._keys:
                self._add(file.stem, file.read_bytes())

    def _add(self, key_id: str, pem: bytes) -> None:
        key = _load(pem)
        self._keys[key_id] = key
        self._signers[key_id] = _signer(key)


@functools.cache
def get_key_ring() -> KeyRing:
    """Return this process's key ring."""
    return KeyRing(settings.RECEIPT_KEYS, settings.KEYS_DIR / "receipts")


def write_key_set(keys: Mapping[str, Ed25519PublicKey]) -> dict[str, list[dict[str, str]]]:
    """Return public keys as a JSON Web Key Set (RFC 8037)."""
    return {
        "keys": [
            {
                "kty": "OKP",
                "crv": "Ed25519",
                "use": "sig",
                "alg": "EdDSA",
                "kid": key_id,
                "x": urlsafe_b64encode(key.public_bytes_raw()).rstrip(b"=").decode(),
            }
            for key_id, key in sorted(keys.items())
        ]
    }


def read_key_set(document: Mapping[str, Any]) -> dict[str, Ed25519PublicKey]:
    """Return the Ed25519 keys of a JSON Web Key Set by id; raises ValueError when it is none."""
    try:
        return {
            key["kid"]: Ed25519PublicKey.from_public_bytes(
                urlsafe_b64decode(key["x"] + "=" * (-len(key["x"]) % 4))
            )
            for key in document["keys"]
            if (key["kty"], key["crv"]) == ("OKP", "Ed25519")
        }
    except (KeyError, TypeError) as error:
        raise ValueError("This is not a JSON Web Key Set with Ed25519 keys.") from error


def _signer(key: Ed25519PrivateKey) -> Sign:
    """Return what signs with this key, by libsodium: the same signature as OpenSSL's in three quarters of the time (ADR 0003)."""
    secret = key.private_bytes_raw() + key.public_key().public_bytes_raw()
    return lambda message: crypto_sign(message, secret)[:crypto_sign_BYTES]


def _load(pem: bytes) -> Ed25519PrivateKey:
    key = load_pem_private_key(pem, password=None)
    if not isinstance(key, Ed25519PrivateKey):
        raise ImproperlyConfigured("A receipt key must be an Ed25519 key.")
    return key
