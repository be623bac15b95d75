"""Bearer tokens: who is asking, read from the token alone.

`verify` touches no database: the signature says who, the expiry says until when, and `revocations` (a list every serving
process refreshes each few seconds) says who may no longer. The gate and the REST API call the same function.
"""

from exams.tokens.claims import Claims
from exams.tokens.revocations import REVOCATION_SECONDS, Revocations, revocations
from exams.tokens.signing import IssuedToken, issue, read_claims

__all__ = ["REVOCATION_SECONDS", "Claims", "IssuedToken", "Revocations", "issue", "revocations", "verify"]


def verify(token: str) -> Claims:
    """Return what a bearer token says, or raise `InvalidToken`: forged, expired or revoked. Reads memory only."""
    claims = read_claims(token)
    revocations.check(claims)
    return claims
