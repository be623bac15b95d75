"""The gate's one statement, prepared once a connection and run with nothing of psycopg in between but its waiting.

A cursor's way, made for any statement, cost the committer's thread 100 us a group and 8 us a hand-in (ADR 0003): it reads the
text anew for its parameters, copies its adapters, walks lists element by element. Here the parameters are arrays in
PostgreSQL's binary form, made in one piece: one dimension, a flag for nulls, the type of the elements, their number, lower
bound 1, then each element behind its length.
"""

import re
import struct
from collections.abc import Callable, Iterable, Sequence
from typing import Any
from uuid import UUID

from psycopg import Connection
from psycopg.adapt import Transformer
from psycopg.errors import error_from_result
from psycopg.generators import execute
from psycopg.postgres import types
from psycopg.pq import ExecStatus, Format
from psycopg.pq.abc import PGresult

_HEAD = struct.Struct("!iiIii").pack
_LENGTH = struct.Struct("!i").pack
_FLOAT8 = struct.Struct("!id").pack
_UUID_BEGIN = _LENGTH(16)


_NAME = b"accept_submissions"


class Statement:
    """A statement with `%(name)b` for its parameters, on one connection; `Row` is what it returns, column by column."""

    def __init__(
        self, connection: Connection, text: str, names: Sequence[str], row: Callable[[Sequence[Any]], Any]
    ) -> None:
        self._connection = connection
        self._formats = [Format.BINARY] * len(names)
        self._row = row
        connection.pgconn.send_prepare(_NAME, number_parameters(text, names))
        self._wait_for(ExecStatus.COMMAND_OK)

    def run(self, parameters: Sequence[bytes]) -> list[Any]:
        """Run it, in a transaction of its own, and return its rows; raises `psycopg.Error` as a cursor would."""
        pgconn = self._connection.pgconn
        pgconn.send_query_prepared(_NAME, parameters, self._formats, result_format=Format.BINARY)
        result = self._wait_for(ExecStatus.TUPLES_OK)
        reader = Transformer(self._connection)
        reader.set_pgresult(result)
        return reader.load_rows(0, result.ntuples, self._row)

    def _wait_for(self, status: ExecStatus) -> PGresult:
        result: PGresult
        [result] = self._connection.wait(execute(self._connection.pgconn))
        if result.status != status:
            raise error_from_result(result)
        return result


def number_parameters(statement: str, names: Sequence[str]) -> bytes:
    """Return a statement with `%(name)b` written as `$1`, `$2`, …: the place of the name among `names`."""
    return re.sub(r"%\((\w+)\)b", lambda found: f"${names.index(found[1]) + 1}", statement).encode()


def uuid_array(values: Sequence[UUID]) -> bytes:
    """Return `uuid[]`."""
    return _head("uuid", values) + b"".join([_UUID_BEGIN + value.bytes for value in values])


def text_array(values: Sequence[str]) -> bytes:
    """Return `text[]`, in UTF-8."""
    return _head("text", values) + b"".join(_with_lengths(values))


def float8_array(values: Sequence[float]) -> bytes:
    """Return `float8[]`."""
    return _head("float8", values) + b"".join([_FLOAT8(8, value) for value in values])


def _head(element: str, values: Sequence[object]) -> bytes:
    return _HEAD(1, 0, types[element].oid, len(values), 1)


def _with_lengths(values: Iterable[str]) -> Iterable[bytes]:
    for value in values:
        data = value.encode()
        yield _LENGTH(len(data))
        yield data
