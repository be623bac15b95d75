"""Codes on report cards: 128 random bits in letters and digits that are not mistaken for each other, in groups of five."""

import base64
import secrets

_BYTES = 16
_GROUP = 5
LONGEST = 60
# Crockford's alphabet has no I, L, O and U; what somebody types instead is read as what it looks like.
_TO_CROCKFORD = str.maketrans("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", "0123456789ABCDEFGHJKMNPQRSTVWXYZ")
_LOOKS_LIKE = str.maketrans("ILO", "110")


def make_code() -> str:
    """Return a new code as it is stored: 26 characters."""
    return base64.b32encode(secrets.token_bytes(_BYTES)).decode().rstrip("=").translate(_TO_CROCKFORD)


def show_code(code: str) -> str:
    """Return a code as it is printed."""
    return "-".join(code[place : place + _GROUP] for place in range(0, len(code), _GROUP))


def read_code(text: str) -> str:
    """Return what somebody typed as a code would be stored, whatever its case, spaces and dashes."""
    letters = (character for character in text[:LONGEST].upper() if character.isalnum())
    return "".join(letters).translate(_LOOKS_LIKE)
