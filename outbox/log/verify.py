"""Verifying the log: is every event still what it was when it was numbered, and is none missing, added or moved?

Each position holds the digest of its event, each tick the digest of the tick before it and of its positions. So whoever changes the
past has to change every tick after it, and then the last digest is not the one on the receipts that were handed out.
"""

import dataclasses
from collections.abc import Callable
from typing import Any, Final

from django.db import connection

from outbox.db import find_row, load_sql

POSITIONS_AT_ONCE: Final = 20_000

Report = Callable[[int, int], object]  # (positions verified, positions in all), after every chunk


@dataclasses.dataclass(frozen=True, slots=True)
class Fault:
    """The first thing that is wrong, in words; `pos` is where readers meet it, if they do."""

    pos: int | None
    description: str
    upto: int = 0  # the last position it speaks of


@dataclasses.dataclass(frozen=True, slots=True)
class Verdict:
    """What a verification found: how much is sound, up to which tick, its digest, and the first fault if there is one."""

    ticks: int
    positions: int
    last_tick: int
    digest: bytes = b""
    fault: Fault | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class _Chunk:
    first_tick: int
    last_tick: int
    first_pos: int
    last_pos: int
    ticks: int


def verify_log(*, report: Report, from_tick: int = 1) -> Verdict:
    """Verify ticks in order from `from_tick` (what stands before it is believed), up to the first fault.

    Takes no snapshot for the whole of it, so that it holds back nobody's vacuum: the log only grows, and the sequencer may go on.
    """
    total = _count_positions(from_tick)
    verdict = Verdict(ticks=0, positions=0, last_tick=from_tick - 1)
    while chunk := _find_chunk(verdict.last_tick):
        fault = _find_fault(chunk)
        if fault:
            return dataclasses.replace(verdict, fault=fault)
        verdict = _extend(verdict, chunk)
        report(verdict.positions, max(total, verdict.positions))
    return dataclasses.replace(verdict, digest=_get_digest(verdict.last_tick), fault=_find_stray())


def _extend(verdict: Verdict, chunk: _Chunk) -> Verdict:
    return Verdict(
        ticks=verdict.ticks + chunk.ticks,
        positions=verdict.positions + chunk.last_pos - chunk.first_pos + 1,
        last_tick=chunk.last_tick,
    )


def _find_fault(chunk: _Chunk) -> Fault | None:
    """Return the first fault of a chunk: an event where one can be named, else the tick that no longer adds up."""
    event, tick = _find_false_event(chunk), _find_false_tick(chunk)
    if event and tick and tick.upto < event.upto:
        return tick
    return event or tick


def _find_chunk(after_tick: int) -> _Chunk | None:
    with connection.cursor() as cursor:
        cursor.execute(
            load_sql("outbox", "list_ticks"), {"after": after_tick, "positions": POSITIONS_AT_ONCE}
        )
        ticks = cursor.fetchall()
    if not ticks:
        return None
    return _Chunk(ticks[0][0], ticks[-1][0], ticks[0][1], ticks[-1][2], len(ticks))


def _find_false_event(chunk: _Chunk) -> Fault | None:
    row = _find("find_false_event", {"first": chunk.first_pos, "last": chunk.last_pos})
    if row is None:
        return None
    pos, seq, event_id, kind, subject, fault = row
    name = f"{kind} {event_id} of {subject}" if event_id else f"sequence number {seq}" if seq else "no event"
    return Fault(pos, f"{fault} at position {pos}: {name}", upto=pos)


def _find_false_tick(chunk: _Chunk) -> Fault | None:
    row = _find("find_false_tick", {"first": chunk.first_tick, "last": chunk.last_tick})
    if row is None:
        return None
    tick_id, first, last, fault = row
    return Fault(first, f"tick {tick_id} (positions {first} to {last}) is false: {fault}", upto=last)


def _find_stray() -> Fault | None:
    """Find what no tick knows of: an event slipped in with an old transaction id, or a position beyond the last tick."""
    row = _find("find_unnumbered_event", {})
    if row:
        seq, event_id, kind, subject = row
        return Fault(
            None,
            f"event slipped in, without a position: {kind} {event_id} of {subject} (sequence number {seq})",
        )
    row = _find("find_stray_position", {})
    return (
        Fault(row[0], f"position {row[0]} was given by no tick (sequence number {row[1]})") if row else None
    )


def get_last_tick_id() -> int:
    """Return the number of the log's last tick, 0 when it is empty."""
    row = _find("get_last_tick", {})
    return int(row[0]) if row else 0


def _count_positions(from_tick: int) -> int:
    row = _find("count_positions", {"from_tick": from_tick})
    return int(row[0]) if row else 0


def _get_digest(tick_id: int) -> bytes:
    row = _find("get_tick_digest", {"tick_id": tick_id})
    return bytes(row[0]) if row else b""


def _find(statement: str, parameters: dict[str, Any]) -> tuple[Any, ...] | None:
    with connection.cursor() as cursor:
        return find_row(cursor, "outbox", statement, parameters)
