"""How the next group is taken from the line."""

import threading
from uuid import UUID, uuid4

from exams.gate import line as rules
from exams.gate.handin import HandIn
from exams.gate.line import Line


def handin(attempt_id: UUID | None = None, answers: str = "{}", losses: int = 0) -> HandIn:
    return HandIn(attempt_id or uuid4(), uuid4(), answers, "digest", losses=losses)


def test_line_gives_whatever_has_come_in_order_of_arrival() -> None:
    line, first, second, third = Line(), handin(), handin(), handin()
    line.join([first])
    line.join([second, third])

    assert line.take() == [first, second, third]


def test_line_waits_for_the_first_arrival() -> None:
    line, late = Line(), handin()
    taken: list[HandIn] = []
    thread = threading.Thread(target=lambda: taken.extend(line.take()))
    thread.start()

    line.join([late])
    thread.join(timeout=20)

    assert taken == [late]


def test_line_keeps_a_second_hand_in_of_an_attempt_for_the_next_group() -> None:
    line, attempt_id = Line(), uuid4()
    first, second, other = handin(attempt_id), handin(attempt_id), handin()
    line.join([first, second, other])

    assert [line.take(), line.take()] == [[first, other], [second]]


def test_line_bounds_a_group_by_number() -> None:
    line = Line()
    crowd = [handin() for _ in range(rules.GROUP_SIZE + 3)]
    line.join(crowd)

    assert [line.take(), line.take()] == [crowd[: rules.GROUP_SIZE], crowd[rules.GROUP_SIZE :]]


def test_line_bounds_a_group_by_size_but_lets_a_large_one_go_alone() -> None:
    line = Line()
    large = [handin(answers="x" * (rules.GROUP_CHARACTERS - 10)) for _ in range(2)]
    small = handin()
    line.join([*large, small])

    assert [line.take(), line.take()] == [[large[0], small], [large[1]]]


def test_line_lets_a_hand_in_that_may_have_broken_the_connection_go_alone() -> None:
    line = Line()
    suspect, innocent, suspect_too = handin(losses=1), handin(), handin(losses=2)
    line.join([suspect, innocent, suspect_too])

    assert [line.take(), line.take(), line.take()] == [[suspect], [innocent], [suspect_too]]


def test_line_gives_one_that_was_sent_back_once_it_is_due() -> None:
    line, busy, other = Line(), handin(), handin()
    line.send_back(busy, seconds=0.05)
    line.join([other])

    assert [line.take(), line.take()] == [[other], [busy]]


def test_closed_line_runs_dry_and_then_gives_nothing() -> None:
    line, waiting, busy = Line(), handin(), handin()
    line.send_back(busy, seconds=0.05)
    line.join([waiting])
    line.close()

    assert [line.take(), line.take(), line.take()] == [[waiting], [busy], []]
