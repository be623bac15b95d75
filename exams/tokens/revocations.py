"""Who may no longer use a token they still hold: a list in memory, refreshed by a thread of each serving process.

A person is revoked by `tokens_valid_after`; the database itself moves it when an account is switched off, changes
role or school, or gets a new password (migration `revoke_tokens`), so no door can forget to. It takes effect within
`REVOCATION_SECONDS`. While the database cannot be asked the last list stands: a student's submission is worth more
than five minutes of a revoked token, which could do nothing without the database anyway.
"""

import logging
import threading
from collections.abc import Mapping
from uuid import UUID

from django.db import Error as DatabaseError
from django.db import connection
from django.db.models.functions import Now

from exams.errors import InvalidToken
from exams.tokens.claims import LONGEST_LIFE, Claims
from gradebook.models import User

REVOCATION_SECONDS = 10  # the promise
_REFRESH_SECONDS = 5.0
_START_SECONDS = 5.0  # how long a process that begins to serve waits for its first list

log = logging.getLogger(__name__)


class Revocations:
    """Tokens of a listed person issued before the listed time are refused."""

    def __init__(self, refresh_seconds: float = _REFRESH_SECONDS) -> None:
        self._refresh_seconds = refresh_seconds
        self._valid_after: Mapping[UUID, float] = {}
        self._loaded = threading.Event()
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None

    def check(self, claims: Claims) -> None:
        """Raise `InvalidToken` if this token was revoked. One dictionary lookup."""
        if claims.issued_at <= self._valid_after.get(claims.user_id, 0.0):
            raise InvalidToken("This token has been revoked; sign in again.")

    def refresh(self) -> None:
        """Read the list anew, in this thread."""
        revoked = User.objects.filter(tokens_valid_after__gt=Now() - LONGEST_LIFE)
        self._valid_after = {
            user_id: valid_after.timestamp()
            for user_id, valid_after in revoked.values_list("id", "tokens_valid_after")
            if valid_after is not None
        }
        self._loaded.set()

    def start(self) -> None:
        """Start refreshing in this process. Called where a process begins to serve; a second call changes nothing."""
        if self._thread is None or not self._thread.is_alive():
            self._stopping.clear()
            self._thread = threading.Thread(target=self._follow, name="token-revocations", daemon=True)
            self._thread.start()

    def wait_until_loaded(self, timeout: float = _START_SECONDS) -> bool:
        """Wait for the first list; False when it did not come in time."""
        return self._loaded.wait(timeout)

    def stop(self) -> None:
        """Stop refreshing and wait for the thread."""
        self._stopping.set()
        if self._thread is not None:
            self._thread.join()

    def _follow(self) -> None:
        while not self._stopping.is_set():
            try:
                self.refresh()
            except DatabaseError:
                log.exception("Could not refresh the list of revoked tokens; the last one stands.")
            finally:
                connection.close()  # this thread's own; an idle one would only be one connection less for others
            self._stopping.wait(self._refresh_seconds)


revocations = Revocations()
