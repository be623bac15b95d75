"""Whose turn it is: pure decisions about lanes, groups and shares."""

import datetime as dt
import uuid
from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outbox.models.jobs import Lane
from outbox.queue.streams import (
    BACKLOG_AGE_BUDGET,
    FRESH_AGE_BUDGET,
    Allowance,
    Roster,
    Stream,
    order_lanes,
    share_out,
)

NOON = dt.datetime(2026, 6, 1, 12, tzinfo=dt.UTC)
A, B, C = (uuid.UUID(int=number) for number in (1, 2, 3))


def make_stream(
    group: uuid.UUID,
    *,
    priority: int = 0,
    lane: Lane = Lane.FRESH,
    served_in: Lane | None = None,
    age: float = 0.0,
) -> Stream:
    return Stream(
        "note", lane if served_in is None else served_in, lane, group, priority, after_run_at=NOON, age=age
    )


def make_roster(*streams: Stream) -> Roster:
    roster = Roster()
    roster.fill(streams)
    return roster


@pytest.mark.parametrize(
    ("groups", "expected"),
    [(1, (1, 50)), (3, (3, 16)), (9, (8, 6)), (26, (25, 2)), (50, (50, 1)), (51, (50, 1)), (1000, (50, 1))],
)
def test_share_out_takes_the_same_from_each_group_and_fills_the_batch_well(
    groups: int, expected: tuple[int, int]
) -> None:
    assert share_out(50, groups, 50) == expected


def test_share_out_keeps_to_the_cap_of_a_group() -> None:
    assert share_out(50, 3, 5) == (3, 5)


@given(batch=st.integers(1, 50), groups=st.integers(1, 200), cap=st.integers(1, 50))
def test_shares_never_exceed_the_batch_and_waste_little_of_it(batch: int, groups: int, cap: int) -> None:
    chosen, share = share_out(batch, groups, cap)
    assert 1 <= chosen <= groups
    assert 1 <= share <= cap
    assert chosen * share <= batch
    if cap >= batch:
        assert chosen * share >= batch * 0.66


def test_order_lanes_favours_fresh_work_in_four_turns_of_five() -> None:
    firsts = [order_lanes(turn, {})[0] for turn in range(10)]
    assert firsts == ([Lane.FRESH] * 4 + [Lane.BACKLOG]) * 2


def test_order_lanes_always_names_both_lanes() -> None:
    assert {frozenset(order_lanes(turn, {})) for turn in range(5)} == {frozenset(Lane)}


def test_order_lanes_swaps_while_the_backlog_is_too_old() -> None:
    ages = {Lane.FRESH: FRESH_AGE_BUDGET, Lane.BACKLOG: BACKLOG_AGE_BUDGET + 1}
    assert [order_lanes(turn, ages)[0] for turn in range(5)] == [Lane.BACKLOG] * 4 + [Lane.FRESH]


def test_order_lanes_keeps_fresh_work_first_when_both_lanes_are_too_old() -> None:
    ages = {Lane.FRESH: FRESH_AGE_BUDGET + 1, Lane.BACKLOG: BACKLOG_AGE_BUDGET + 1}
    assert [order_lanes(turn, ages)[0] for turn in range(5)] == [Lane.FRESH] * 4 + [Lane.BACKLOG]


def test_roster_gives_every_group_its_turn_when_there_are_more_groups_than_places() -> None:
    roster = make_roster(make_stream(A), make_stream(B), make_stream(C))
    taken = [[stream.group_id for stream in roster.take_turns("note", Lane.FRESH, 2)] for _ in range(3)]
    assert taken == [[A, B], [C, A], [B, C]]


def test_roster_goes_on_with_the_next_group_after_a_new_look() -> None:
    roster = make_roster(make_stream(A), make_stream(B), make_stream(C))
    roster.take_turns("note", Lane.FRESH, 1)
    roster.fill([make_stream(A), make_stream(B), make_stream(C)])
    assert [stream.group_id for stream in roster.take_turns("note", Lane.FRESH, 3)] == [B, C, A]


def test_roster_takes_the_most_urgent_stream_of_a_group_until_it_is_struck_off() -> None:
    urgent, ordinary = make_stream(A, priority=-1), make_stream(A)
    roster = make_roster(urgent, ordinary)
    assert roster.take_turns("note", Lane.FRESH, 5) == [urgent]
    roster.strike_off(urgent)
    assert roster.take_turns("note", Lane.FRESH, 5) == [ordinary]
    assert roster.count_groups("note", Lane.FRESH) == 1
    roster.strike_off(ordinary)
    assert roster.count_groups("note", Lane.FRESH) == 0


def test_roster_remembers_how_far_into_a_stream_it_has_come() -> None:
    roster = make_roster(make_stream(A))
    (stream,) = roster.take_turns("note", Lane.FRESH, 1)
    roster.advance(stream, NOON + dt.timedelta(seconds=1), C)
    (again,) = roster.take_turns("note", Lane.FRESH, 1)
    assert (again.after_run_at, again.after_job_id) == (NOON + dt.timedelta(seconds=1), C)


def test_roster_keeps_the_oldest_wait_of_each_lane() -> None:
    streams = [make_stream(A, age=3), make_stream(B, age=9), make_stream(A, lane=Lane.BACKLOG, age=70)]
    assert make_roster(*streams).ages == {Lane.FRESH: 9, Lane.BACKLOG: 70}


@given(st.lists(st.sampled_from([A, B, C]), min_size=1, unique=True), st.integers(1, 3))
def test_no_group_waits_longer_than_one_round(groups: list[uuid.UUID], places: int) -> None:
    roster = make_roster(*(make_stream(group) for group in sorted(groups)))
    rounds = -(-len(groups) // places)
    served = [
        stream.group_id for _ in range(rounds) for stream in roster.take_turns("note", Lane.FRESH, places)
    ]
    assert set(islice(served, len(groups))) == set(groups)


def test_roster_serves_old_fresh_work_with_the_backlog_and_young_work_of_the_same_exam_fresh() -> None:
    young = make_stream(A, age=3)
    old = make_stream(A, served_in=Lane.BACKLOG, age=900)
    roster = make_roster(young, old)
    assert roster.ages == {Lane.FRESH: 3, Lane.BACKLOG: 900}
    assert roster.take_turns("note", Lane.FRESH, 5) == [young]
    assert roster.take_turns("note", Lane.BACKLOG, 5) == [old]
    roster.strike_off(old)
    assert (roster.count_groups("note", Lane.FRESH), roster.count_groups("note", Lane.BACKLOG)) == (1, 0)


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def test_an_overdrawn_allowance_is_closed_until_it_is_made_up() -> None:
    clock = Clock()
    allowance = Allowance(100, clock=clock)
    allowance.spend(150)
    assert not allowance.is_open
    clock.now += 0.5
    assert not allowance.is_open
    clock.now += 0.01
    assert allowance.is_open


@given(
    per_second=st.floats(1, 2000),
    turns=st.lists(st.tuples(st.floats(0, 2), st.integers(1, 50)), max_size=50),
)
def test_an_allowance_never_lets_through_more_than_its_rate_and_one_second_and_one_batch(
    per_second: float, turns: list[tuple[float, int]]
) -> None:
    clock = Clock()
    allowance = Allowance(per_second, clock=clock)
    spent = 0
    for pause, batch in turns:
        clock.now += pause
        if allowance.is_open:
            allowance.spend(batch)
            spent += batch
    assert spent <= per_second * (clock.now - 1000.0 + 1) + 50 + 1e-6
