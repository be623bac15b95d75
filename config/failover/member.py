"""One server of the cluster as its operator reaches it: a superuser's connection, and the few things that are done over it."""

import dataclasses
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import psycopg
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from config.failover.decision import CannotFailOver, Standing
from outbox.db import load_sql

CONNECT_SECONDS = 5
SECONDS_TO_STOP = 15.0
SECONDS_TO_PROMOTE = 60
SECONDS_TO_STREAM = 30.0
# A new primary would wait for a standby that is only about to come.
_ALONE = {"options": "-c synchronous_commit=local -c statement_timeout=90s"}
_POLL_SECONDS = 0.1
_LOOKS = 3  # in a row: a receiver may just be starting


@dataclasses.dataclass(frozen=True)
class Member:
    """A server and the address of its superuser. Every call is a connection of its own: it may die at any moment."""

    name: str
    address: str

    @property
    def place(self) -> dict[str, str]:
        """Its host and port, as libpq knows them."""
        parts = conninfo_to_dict(self.address)
        return {name: str(parts[name]) for name in ("host", "port") if parts.get(name)}

    def check_is_standby(self) -> str:
        """Return where it streams from. Raises `CannotFailOver` when it cannot be asked or is no standby."""
        with self._asking("be asked") as connection:
            row = connection.execute(load_sql("config", "look_at_standby").encode()).fetchone()
        assert row is not None
        is_standby, own_name, upstream, _ = row
        if not is_standby:
            raise CannotFailOver(f"The server {self.name} is no standby: it takes writes itself.")
        if own_name and own_name != self.name:
            raise CannotFailOver(f"The server at the address of {self.name} calls itself {own_name}.")
        return str(upstream)

    def read_standby_names(self) -> str:
        """Return the `synchronous_standby_names` it would have as a primary."""
        with self._asking("be asked") as connection:
            row = connection.execute(load_sql("config", "look_at_standby").encode()).fetchone()
        assert row is not None
        return str(row[3])

    def set(self, setting: str, value: str) -> None:
        """Change one of its settings and let it read them again."""
        statement = sql.SQL("ALTER SYSTEM SET {} = {}").format(sql.Identifier(setting), sql.Literal(value))
        with self._asking(f"be given {setting}") as connection:
            connection.execute(statement)
            connection.execute("SELECT pg_reload_conf()")

    def stop_receiving(self) -> None:
        """Fence: clear where it streams from, and wait until it has replayed what it has."""
        self.set("primary_conninfo", "")
        looks = 0

        def has_stopped() -> bool:
            nonlocal looks
            looks = looks + 1 if self._ask("has_stopped_receiving") else 0
            return looks >= _LOOKS

        _wait_until(
            has_stopped,
            SECONDS_TO_STOP,
            f"The standby {self.name} does not stop receiving: it may be frozen.",
        )

    def read_standing(self) -> Standing:
        """Return how far its disk is (IDENTIFY_SYSTEM, which a standby answers with what it has flushed)."""
        with self._asking("say how far it is", replication="true") as connection:
            answer = connection.pgconn.exec_(b"IDENTIFY_SYSTEM")
            system, timeline, position = (bytes(answer.get_value(0, at) or b"").decode() for at in range(3))
        high, low = position.split("/")
        return Standing(int(timeline), (int(high, 16) << 32) + int(low, 16), self.name, system)

    def promote(self) -> None:
        """Make it the primary, on a timeline of its own that is on its disk when this returns."""
        with self._asking("be promoted") as connection:
            row = connection.execute("SELECT pg_promote(true, %s)", [SECONDS_TO_PROMOTE]).fetchone()
            if row != (True,):
                raise CannotFailOver(
                    f"The server {self.name} did not become the primary within {SECONDS_TO_PROMOTE} s."
                )
            connection.execute("CHECKPOINT")  # pg_rewind looks for the new timeline in the control file

    def follow(self, primary: "Member", *, like: str) -> None:
        """Let it stream from the new primary, in every other respect `like` it, or a sister, did from the old one."""
        conninfo = make_conninfo(like or primary.address, **primary.place, application_name=self.name)
        self.set("primary_conninfo", conninfo)

    def wait_until_streams(self, standby: "Member") -> None:
        """Wait until this standby streams from here."""
        _wait_until(
            lambda: bool(self._ask("count_streaming", name=standby.name)),
            SECONDS_TO_STREAM,
            f"{self.name} is the primary now, but {standby.name} does not stream from it: nothing is acknowledged until it does. "
            f"Its log says why.",
        )

    def _ask(self, statement: str, **parameters: object) -> object:
        with self._asking("be asked") as connection:
            row = connection.execute(load_sql("config", statement).encode(), parameters or None).fetchone()
        assert row is not None
        return row[0]

    @contextmanager
    def _asking(self, deed: str, **chosen: str) -> Iterator[psycopg.Connection]:
        conninfo = make_conninfo(self.address, connect_timeout=CONNECT_SECONDS, **(chosen or _ALONE))
        try:
            with psycopg.connect(conninfo, autocommit=True) as connection:
                yield connection
        except psycopg.Error as error:
            reason = str(error).strip().partition("\n")[0]
            raise CannotFailOver(f"The server {self.name} cannot {deed}: {reason}") from error


def _wait_until(condition: Callable[[], bool], seconds: float, otherwise: str) -> None:
    until = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > until:
            raise CannotFailOver(otherwise)
        time.sleep(_POLL_SECONDS)
