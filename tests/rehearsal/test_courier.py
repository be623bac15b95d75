"""What a student does with each answer: over real sockets, against a server whose answers are written down."""

import asyncio
import random
import time
from typing import Any

import pytest

from config.rehearsal.behaviour import LONGEST_GAP, Manner, Outcome, Student, wait_before_retry
from config.rehearsal.courier import SLOW_PIECES, Courier
from config.rehearsal.crew import Crew
from config.rehearsal.wire import Address
from tests.rehearsal.scripted import Script, answer, scripted

BODY = b'{"answers":{"q":"a"}}'


def a_student(manner: Manner = Manner.PLAIN, *, due_at: float = 0.0, attempt_id: str = "a1") -> Student:
    return Student(attempt_id, "a.b.c", BODY, due_at, manner)


def deliver(address: Address, *students: Student, **options: Any) -> list[Outcome]:
    chosen = {"patience": 20.0, "connections": 8} | options
    courier = Courier(address, start_at=time.monotonic(), seed=1, **chosen)
    told: list[None] = []
    outcomes = asyncio.run(courier.deliver(students, tell=lambda: told.append(None)))
    assert len(told) == len(students)
    return outcomes


def in_turn(*answers: bytes | None) -> Script:
    return lambda _, place: answers[min(place, len(answers) - 1)]


def test_receipt_ends_it_and_is_kept_letter_for_letter() -> None:
    with scripted(in_turn(answer(202, '{"id": 1}'))) as server:
        [outcome] = deliver(server.address, a_student())
    assert (outcome.receipts, [made.status for made in outcome.tries]) == ([b'{"id": 1}'], [202])
    [request] = server.requests
    assert request.startswith(b"POST /api/v1/attempts/a1/submission HTTP/1.1\r\n")
    assert (b"Authorization: Bearer a.b.c\r\n" in request, request.endswith(b"\r\n\r\n" + BODY)) == (
        True,
        True,
    )


def test_shed_student_sends_the_same_again_not_before_retry_after() -> None:
    with scripted(in_turn(answer(503, Retry_After="2"), answer(202))) as server:
        [outcome] = deliver(server.address, a_student())
    assert [made.status for made in outcome.tries] == [503, 202]
    assert outcome.tries[1].sent_at - outcome.tries[0].heard_at >= 2
    assert server.requests[0] == server.requests[1]


def test_student_whose_connection_is_cut_tries_again_on_another() -> None:
    with scripted(in_turn(None, answer(202))) as server:
        [outcome] = deliver(server.address, a_student())
    assert ([made.status for made in outcome.tries], server.connections) == ([0, 202], 2)


@pytest.mark.parametrize("status", [400, 401, 403, 404, 409, 413, 422])
def test_refusal_that_no_repetition_changes_is_final(status: int) -> None:
    with scripted(in_turn(answer(status))) as server:
        [outcome] = deliver(server.address, a_student())
    assert (outcome.receipts, [made.status for made in outcome.tries]) == ([], [status])


def test_student_gives_up_when_the_next_try_would_be_beyond_patience() -> None:
    with scripted(in_turn(answer(503, Retry_After="9"))) as server:
        [outcome] = deliver(server.address, a_student(), patience=3.0)
    assert ([made.status for made in outcome.tries], outcome.acknowledged_at) == ([503], None)


def test_twice_at_once_keeps_both_receipts() -> None:
    with scripted(in_turn(answer(202, '"one"'), answer(200, '"two"'))) as server:
        [outcome] = deliver(server.address, a_student(Manner.TWICE))
    assert (sorted(outcome.receipts), server.connections) == ([b'"one"', b'"two"'], 2)


def test_again_after_the_receipt_asks_once_more_over_the_same_connection() -> None:
    with scripted(in_turn(answer(202), answer(200))) as server:
        [outcome] = deliver(server.address, a_student(Manner.AGAIN))
    assert ([made.status for made in outcome.tries], server.connections) == ([202, 200], 1)


def test_who_hangs_up_has_sent_everything_and_comes_back() -> None:
    with scripted(in_turn(answer(202), answer(200))) as server:
        [outcome] = deliver(server.address, a_student(Manner.HANGS_UP))
    assert [made.status for made in outcome.tries] == [0, 200]
    assert server.requests[0] == server.requests[1]


def test_slow_line_sends_the_whole_body_in_pieces() -> None:
    with scripted(in_turn(answer(202))) as server:
        [outcome] = deliver(server.address, a_student(Manner.SLOW))
    assert server.requests[0].endswith(BODY)
    assert outcome.tries[0].heard_at - outcome.tries[0].sent_at >= 3.0 * (SLOW_PIECES - 2) / SLOW_PIECES


def test_nobody_waits_for_an_answer_to_somebody_else() -> None:
    """An open loop: the first is never answered within the window, all others are sent at their moments."""

    def script(_: bytes, place: int) -> bytes:
        return answer(202) if place else b""

    crowd = [a_student(due_at=place / 50, attempt_id=f"a{place}") for place in range(20)]
    with scripted(script) as server:
        outcomes = deliver(server.address, *crowd, patience=0.1, answer_seconds=2.0)
    first, *others = outcomes
    assert first.tries[0].status == 0
    assert [[made.status for made in one.tries] for one in others] == [[202]] * 19


def test_connections_are_kept_and_bounded() -> None:
    crowd = [a_student(attempt_id=f"a{place}") for place in range(50)]
    with scripted(in_turn(answer(202))) as server:
        outcomes = deliver(server.address, *crowd, connections=3)
    assert (len(outcomes), len(server.requests), server.connections) == (50, 50, 3)


def test_processes_share_the_students_and_report_all_of_them() -> None:
    crowd = [a_student(attempt_id=f"a{place}", due_at=place / 100) for place in range(11)]
    with scripted(in_turn(answer(202))) as server:
        crew = Crew(server.address, crowd, start_at=time.monotonic() + 1, patience=20, processes=2)
        with crew.sending():
            while (outcomes := crew.find_outcomes()) is None:
                assert crew.count_done() <= 11
    assert sorted(one.attempt_id for one in outcomes) == sorted(one.attempt_id for one in crowd)
    assert crew.count_done() == 11


def test_waits_grow_to_a_bound_and_never_undercut_retry_after() -> None:
    dice = random.Random(1)
    waits = [wait_before_retry(tries, 0.0, dice) for tries in range(1, 12)]
    assert [0.5 * 2**step <= wait <= 2**step for step, wait in enumerate(waits[:4])] == [True] * 4
    assert min(waits[5:]) >= LONGEST_GAP / 2
    assert max(waits) <= LONGEST_GAP
    assert wait_before_retry(1, 5.0, dice) == 5.0


@pytest.mark.parametrize(
    "text", ["", "localhost:8000", "ftp://x", "http://", "http://x/path", "http://x:port"]
)
def test_address_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"is not http|port"):
        Address.parse(text)


def test_address_is_read() -> None:
    assert Address.parse("https://exams.example.org/") == Address(
        "exams.example.org", 443, True, "exams.example.org"
    )
    assert Address.parse("http://[::1]:8000") == Address("::1", 8000, False, "[::1]:8000")
