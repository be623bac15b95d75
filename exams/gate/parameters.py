"""The parameters of the gate's statement in the form PostgreSQL reads them, made in one piece.

psycopg's own way, the names in a statement of this length read anew for each run and every list walked element by element,
cost the committer's thread more than everything else it does (ADR 0003). A binary array is: one dimension, a flag for nulls,
the type of the elements, their number, lower bound 1, then each element behind its length.
"""

import re
import struct
from collections.abc import Iterable, Sequence
from uuid import UUID

from psycopg import Connection
from psycopg.adapt import Dumper
from psycopg.postgres import types
from psycopg.pq import Format

_HEAD = struct.Struct("!iiIii").pack
_LENGTH = struct.Struct("!i").pack
_FLOAT8 = struct.Struct("!id").pack
_UUID_BEGIN = _LENGTH(16)


class UuidArray(bytes):
    """`uuid[]`."""

    @classmethod
    def of(cls, values: Sequence[UUID]) -> "UuidArray":
        """Return the array of these."""
        return cls(_head("uuid", values) + b"".join([_UUID_BEGIN + value.bytes for value in values]))


class TextArray(bytes):
    """`text[]`, UTF-8."""

    @classmethod
    def of(cls, values: Sequence[str]) -> "TextArray":
        """Return the array of these."""
        return cls(_head("text", values) + b"".join(_with_lengths(values)))


class Float8Array(bytes):
    """`float8[]`."""

    @classmethod
    def of(cls, values: Sequence[float]) -> "Float8Array":
        """Return the array of these."""
        return cls(_head("float8", values) + b"".join([_FLOAT8(8, value) for value in values]))


def number_parameters(statement: str, names: Sequence[str]) -> bytes:
    """Return a statement with `%(name)b` written as `$1`, `$2`, …: the place of the name among `names`."""
    return re.sub(r"%\((\w+)\)b", lambda found: f"${names.index(found[1]) + 1}", statement).encode()


def register_arrays(connection: Connection) -> None:
    """Let statements on this connection take these arrays as parameters."""
    for array, element in ((UuidArray, "uuid"), (TextArray, "text"), (Float8Array, "float8")):
        dumper = type(f"{array.__name__}Dumper", (_ArrayDumper,), {"oid": types[element].array_oid})
        connection.adapters.register_dumper(array, dumper)


class _ArrayDumper(Dumper):
    format = Format.BINARY

    def dump(self, obj: bytes) -> bytes:
        """Give it as it is."""
        return obj


def _head(element: str, values: Sequence[object]) -> bytes:
    return _HEAD(1, 0, types[element].oid, len(values), 1)


def _with_lengths(values: Iterable[str]) -> Iterable[bytes]:
    for value in values:
        data = value.encode()
        yield _LENGTH(len(data))
        yield data
