"""The desk: what the event loop does with a group's verdicts, with a real committer behind it."""

import asyncio
from collections import Counter
from uuid import uuid4

from exams.canonical import digest
from exams.gate.admission import Limits
from exams.gate.desk import Desk
from exams.gate.durability import LocalDurability
from exams.gate.handin import HandIn, Outcome
from exams.gate.session import Session
from exams.receipt_keys import get_key_ring

CROWD = 200
MOST_AT_ONCE = 64  # two deliveries may meet in one turn


async def tell_crowd() -> list[tuple[int, Outcome]]:
    """Ask for a crowd at once; return in which turn of the loop each was told what."""
    loop = asyncio.get_running_loop()
    desk = Desk(Session(durability=LocalDurability(), key_id=get_key_ring().signing_id), Limits())
    told: list[tuple[int, Outcome]] = []
    all_told = asyncio.Event()
    turn = 0

    def count_turn() -> None:
        nonlocal turn
        turn += 1
        if len(told) < CROWD:
            loop.call_soon(count_turn)
        else:
            all_told.set()

    for _ in range(CROWD):
        handin = HandIn(uuid4(), uuid4(), "{}", digest("{}"))
        desk.ask(handin, lambda verdict: told.append((turn, verdict.outcome)))
    count_turn()
    await all_told.wait()
    await desk.close()
    return told


def test_verdicts_of_a_large_group_leave_the_loop_to_others_in_between(transactional_db: None) -> None:
    """Or who is turned away meanwhile would wait until everybody's receipt is signed."""
    told = asyncio.run(tell_crowd())

    assert Counter(outcome for _, outcome in told) == {Outcome.NOT_FOUND: CROWD}
    assert max(Counter(turn for turn, _ in told).values()) <= MOST_AT_ONCE
