"""Token buckets: how many tries one holds, how it fills, whom it forgets."""

import pytest

from exams.limits.buckets import Buckets


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """A clock that stands still until a test moves it: `clock[0] += seconds`."""
    now = [1000.0]
    monkeypatch.setattr("exams.limits.buckets.time.monotonic", lambda: now[0])
    return now


def test_a_bucket_gives_what_it_holds_and_then_says_how_long_to_wait(clock: list[float]) -> None:
    buckets = Buckets(capacity=3, per_second=0.1)
    assert [buckets.take("a") for _ in range(5)] == [0, 0, 0, 10, 10]


def test_a_bucket_fills_with_time_but_not_beyond_its_size(clock: list[float]) -> None:
    buckets = Buckets(capacity=2, per_second=0.5)
    assert [buckets.take("a") for _ in range(3)] == [0, 0, 2]
    clock[0] += 2
    assert [buckets.take("a") for _ in range(2)] == [0, 2]
    clock[0] += 1000
    assert [buckets.take("a") for _ in range(3)] == [0, 0, 2]


def test_everybody_has_a_bucket_of_their_own(clock: list[float]) -> None:
    buckets = Buckets(capacity=1, per_second=1)
    assert [buckets.take(key) for key in ("a", "b", "a")] == [0, 0, 1]


def test_a_try_given_back_can_be_taken_again(clock: list[float]) -> None:
    buckets = Buckets(capacity=1, per_second=0.01)
    buckets.take("a")
    buckets.give_back("a")
    buckets.give_back("a")
    assert [buckets.take("a") for _ in range(2)] == [0, 100]


def test_the_least_recently_used_is_forgotten_first(
    clock: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("exams.limits.buckets._MOST_KEYS", 2)
    buckets = Buckets(capacity=2, per_second=0.01)
    for key in ("a", "b", "a", "c"):
        buckets.take(key)
    assert [buckets.take(key) for key in ("a", "c")] == [100, 0]
