"""Limits over several processes through a real Redis: shared while it is there, and no burden while it is not."""

from collections import Counter
from collections.abc import Iterator

import pytest

from exams.limits import Limit, make_limit, shared
from exams.models import Attempt
from tests import factories
from tests.brokers import Redis
from tests.posting import Poster, sitting_of
from tests.serving import serving
from tests.waiting import wait_until


@pytest.fixture
def redis() -> Iterator[Redis]:
    """A Redis of the test's own, to be frozen, killed and started again."""
    with Redis() as server:
        yield server


@pytest.fixture(autouse=True)
def soon_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """After a failure Redis is left alone for a moment only."""
    monkeypatch.setattr(shared, "_QUIET_SECONDS", 0.1)


def limit(url: str, *, name: str = "test") -> Limit:
    return make_limit(url, name=name, capacity=3, per_second=0.001)


def take(some: Limit, key: str, number: int) -> list[bool]:
    return [some.take(key) == 0 for _ in range(number)]


def test_limit_without_redis_is_this_processs_own() -> None:
    one, other = limit(""), limit("")

    assert take(one, "a", 4) == [True, True, True, False]
    assert take(other, "a", 4) == [True, True, True, False]


def test_what_one_process_lets_in_counts_in_the_others_and_for_nobody_else(redis: Redis) -> None:
    one, other, elsewhere = limit(redis.url), limit(redis.url), limit(redis.url, name="other")

    assert take(one, "a", 3) == [True, True, True]
    assert other.take("a") == 0  # it has not heard yet; and its question is what tells it
    wait_until(lambda: other.take("a") > 900)

    assert (other.take("b"), elsewhere.take("a")) == (0, 0)


def test_try_given_back_in_one_process_is_given_back_everywhere(redis: Redis) -> None:
    one = limit(redis.url)
    ledger = shared.Ledger(redis.url, name="test", capacity=3, per_second=0.001)

    def is_over() -> bool:
        return bool(ledger.take(Counter({"a": 0})))

    assert take(one, "a", 3) == [True, True, True]
    wait_until(is_over)
    one.give_back("a")
    wait_until(lambda: not is_over())

    wait_until(lambda: one.take("a") == 0)  # it may have heard of the third try after that was given back
    assert take(one, "a", 1) == [False]


def test_bucket_in_redis_never_holds_more_than_it_can(redis: Redis) -> None:
    ledger = shared.Ledger(redis.url, name="test", capacity=3, per_second=0.001)

    given_back = ledger.take(Counter({"a": -9}))

    assert (given_back, ledger.take(Counter({"a": 2}))) == ({}, {})
    assert ledger.take(Counter({"a": 1})) == {"a": pytest.approx(1000, abs=5)}


def test_bucket_in_redis_fills_again_and_is_forgotten_when_full(redis: Redis) -> None:
    fast = make_limit(redis.url, name="fast", capacity=2, per_second=20)
    other = make_limit(redis.url, name="fast", capacity=2, per_second=20)
    assert take(fast, "a", 2) == [True, True]
    wait_until(lambda: other.take("a") == 0)

    ledger = shared.Ledger(redis.url, name="fast", capacity=2, per_second=20)
    wait_until(lambda: ledger._redis.keys("*") == [])


@pytest.mark.parametrize("trouble", ["kill", "freeze"])
def test_redis_that_is_away_or_slow_lets_everybody_through_and_is_used_again_when_it_is_back(
    redis: Redis, trouble: str
) -> None:
    one, other = limit(redis.url), limit(redis.url)
    getattr(redis, trouble)()

    assert take(one, "a", 4) == [True, True, True, False]  # each counts for itself
    assert take(other, "a", 4) == [True, True, True, False]
    wait_until(lambda: one._quiet_until > 0)  # type: ignore[attr-defined]

    redis.start() if trouble == "kill" else redis.thaw()
    keys = iter(range(10_000))

    def is_shared() -> bool:
        key = str(next(keys))
        take(one, key, 3)
        other.take(key)
        wait_until(lambda: not one._taken and not other._taken)  # type: ignore[attr-defined]
        return other.take(key) > 0

    wait_until(is_shared, look=0.05)


@pytest.mark.process
def test_gates_of_two_machines_share_a_persons_limit(
    transactional_db: None, redis: Redis, process_environment: dict[str, str]
) -> None:
    attempt: Attempt = factories.attempt()
    environment = {**process_environment, "REDIS_URL": redis.url}
    sitting = sitting_of(attempt)
    with serving(environment) as here, serving(environment) as there:
        with Poster(here.port) as poster:
            first = [poster.hand_in(sitting, {"q1": "a"}).status for _ in range(30)]
        with Poster(there.port) as poster:
            wait_until(lambda: poster.hand_in(sitting, {"q1": "a"}).status == 429)
            refused = poster.hand_in(sitting, {"q1": "a"})

    assert first == [202] + [200] * 29
    assert (refused.status, refused.code) == (429, "rate_limited")
    assert int(refused.headers["retry-after"]) == 1


@pytest.mark.process
def test_gate_takes_submissions_while_redis_is_away(
    transactional_db: None, redis: Redis, process_environment: dict[str, str]
) -> None:
    attempts = [factories.attempt() for _ in range(5)]
    with serving({**process_environment, "REDIS_URL": redis.url}) as server, Poster(server.port) as poster:
        statuses = [poster.hand_in(sitting_of(attempts[0]), {}).status]
        redis.freeze()
        statuses += [poster.hand_in(sitting_of(attempt), {}).status for attempt in attempts[1:3]]
        redis.thaw()
        redis.kill()
        statuses += [poster.hand_in(sitting_of(attempt), {}).status for attempt in attempts[3:]]

    assert statuses == [202] * 5
