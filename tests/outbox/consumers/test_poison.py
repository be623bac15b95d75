"""Finding the poison by halving, without a database where none is needed."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outbox.consumers.poison import Poison, apply_until_poison, count_tries

pytestmark = pytest.mark.django_db


def run(positions: Sequence[int], poisoned: set[int]) -> tuple[int | None, list[int], int]:
    """Apply with a handler that chokes on some positions; return the poison found, what was kept, and the calls made."""
    kept: list[int] = []
    calls = 0

    def apply(some: Sequence[int]) -> None:
        nonlocal calls
        calls += 1
        if poisoned & set(some):
            raise ValueError
        kept.extend(some)

    found = apply_until_poison(apply, positions)
    return (found.pos if found else None), kept, calls


def test_healthy_batch_is_applied_in_one_call() -> None:
    assert run(range(1, 501), set()) == (None, list(range(1, 501)), 1)


def test_empty_batch_calls_nobody() -> None:
    assert run([], set()) == (None, [], 0)


def test_one_poison_in_a_full_batch_costs_about_ten_calls_more() -> None:
    found, kept, calls = run(range(1, 501), {333})

    assert (found, kept) == (333, list(range(1, 333)))
    assert calls <= 20


@given(
    st.lists(st.integers(1, 1000), min_size=1, max_size=60, unique=True).map(sorted),
    st.sets(st.integers(1, 1000), max_size=5),
)
def test_everything_before_the_first_poison_is_applied_once_and_in_order(
    positions: list[int], poisoned: set[int]
) -> None:
    found, kept, _ = run(positions, poisoned)

    first = min(poisoned & set(positions), default=None)
    assert found == first
    assert kept == [pos for pos in positions if first is None or pos < first]


@pytest.mark.parametrize(
    ("failing_pos", "failing_tries", "tries"), [(None, 0, 1), (7, 1, 2), (7, 2, 3), (6, 2, 1)]
)
def test_tries_are_counted_per_event(failing_pos: int | None, failing_tries: int, tries: int) -> None:
    poison = Poison(7, ValueError())

    assert count_tries(poison, failing_pos=failing_pos, failing_tries=failing_tries) == tries
