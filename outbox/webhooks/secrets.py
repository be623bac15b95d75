"""The secret an endpoint and we share: 32 random bytes, written as the specification asks."""

import base64
import secrets

PREFIX = "whsec_"
BYTES = 32  # the specification asks for 24 to 64


def make_secret() -> str:
    """Return a new secret."""
    return PREFIX + base64.b64encode(secrets.token_bytes(BYTES)).decode()
