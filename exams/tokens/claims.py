"""What a token says about its bearer."""

from datetime import timedelta
from typing import NamedTuple
from uuid import UUID

LONGEST_LIFE = timedelta(hours=24)  # of any token: revocations older than this are moot and not remembered


class Claims(NamedTuple):
    """A signed statement: this person, of this school, in this role. Times are seconds since 1970, by the database's clock."""

    user_id: UUID
    school_id: UUID | None
    role: str
    issued_at: float
    expires_at: float
    token_id: str
