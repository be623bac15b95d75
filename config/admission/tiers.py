"""How much a request matters in the last minutes of an exam: the less it does, the sooner it is turned away (ADR 0015).

Decided from method and path alone, before anything of the request is looked at. `_RULES` is the policy, from top to bottom; a test holds
it against every address there is, so that a new one is placed on purpose.
"""

import enum
import re


class Tier(enum.StrEnum):
    """What a request is for, the most important first."""

    SUBMIT = "submit"  # handing in; the gate bounds it by itself
    WORK = "work"  # signing in, starting, the paper, drafts, photos: without them there is nothing to hand in
    STATUS = "status"  # how an attempt stands, receipts, notifications
    TEACHING = "teaching"  # mark sheets and marking
    REST = "rest"  # history, administration, exports, documentation, and whatever nobody has placed
    BASICS = "basics"  # probes and static files: cheap, and asked for by everything else


STUDENTS = (Tier.WORK, Tier.STATUS)
STAFF = (Tier.TEACHING, Tier.REST)

SAFE_METHODS = {"GET", "HEAD", "OPTIONS"}
_ANY = r"[^/]+"
_RULES = [
    (tier, is_safe, re.compile(pattern))
    for tier, is_safe, pattern in (
        (Tier.BASICS, None, r"/(healthz|readyz|metrics|favicon\.ico|static/.*)"),
        (Tier.SUBMIT, False, rf"/api/v1/attempts/{_ANY}/submission"),
        (Tier.WORK, None, r"/(accounts/login/)?"),
        (Tier.WORK, None, r"/api/v1/(tokens|exams)"),
        (Tier.WORK, False, rf"/api/v1/exams/{_ANY}/attempts"),
        (Tier.WORK, None, rf"/api/v1/attempts/{_ANY}(/draft|/attachments(/{_ANY})?)?"),
        (
            Tier.STATUS,
            None,
            r"/api/v1/(exams|attempts|attachments|receipts|receipt-keys|notifications)(/.*)?",
        ),
        (Tier.TEACHING, None, r"/exams/marking/.*"),
        (Tier.STATUS, None, r"/exams/receipts/.*"),
        (Tier.WORK, None, rf"/exams/((attempts/)?{_ANY}/(attempts/)?)?"),
        (Tier.STATUS, None, r"/(notifications/.*|accounts/(logout|password)/)"),
        (
            Tier.REST,
            None,
            rf"/(marksheets/{_ANY}/(history/.*|analytics/|as-of/|marks\.(csv|xlsx))|exams/{_ANY}/analytics/)",
        ),
        (Tier.REST, None, rf"/(verify/|cards/.*|terms/{_ANY}/cards/.*)"),
        (Tier.TEACHING, None, r"/(marksheets|amendments|terms)/.*"),
    )
]


def classify(method: str, path: str) -> Tier:
    """Return what a request with this method and (decoded) path is for."""
    is_safe = method in SAFE_METHODS
    for tier, needs_safe, pattern in _RULES:
        if needs_safe in {None, is_safe} and pattern.fullmatch(path):
            return tier
    return Tier.REST
