"""The formulas against what others have published, and against each other."""

import math

import pytest

from config.capacity.queueing import erlang_b, erlang_c, in_system, mean_wait, wait_exceeded_by


@pytest.mark.parametrize(
    ("load", "servers", "share"),
    [
        # For one server the share that waits is the load; for two it is 2r²/(1 + r), r the load of each (Kleinrock I, 3.5).
        (0.5, 1, 0.5),
        (1.0, 2, 1 / 3),
        (1.6, 2, 2 * 0.8**2 / 1.8),
        # The worked example that call centres teach: 10 erlangs, 14 agents, 17.4 % wait.
        (10.0, 14, 0.174),
    ],
)
def test_erlang_c_is_what_was_published(load: float, servers: int, share: float) -> None:
    assert erlang_c(load, servers) == pytest.approx(share, abs=5e-4)


def test_wait_is_what_was_published_for_the_same_example() -> None:
    # 200 calls in an hour of 3 minutes each, 14 agents: an average of 7.8 s, and 88.8 % are answered within 20 s.
    assert mean_wait(200 / 3600, 1 / 180, 14) == pytest.approx(7.8, abs=0.05)
    assert wait_exceeded_by(1 - 0.888, 200 / 3600, 1 / 180, 14) == pytest.approx(20, abs=0.2)


@pytest.mark.parametrize(("load", "servers"), [(0.3, 1), (10.0, 18), (150.0, 170)])
def test_erlang_b_recursion_is_the_sum_it_stands_for(load: float, servers: int) -> None:
    terms = [math.exp(number * math.log(load) - math.lgamma(number + 1)) for number in range(servers + 1)]
    assert erlang_b(load, servers) == pytest.approx(terms[-1] / sum(terms), rel=1e-9)


def test_line_grows_without_end_when_the_servers_cannot_keep_up() -> None:
    assert (erlang_c(3, 3), mean_wait(30, 10, 3), wait_exceeded_by(0.01, 31, 10, 3)) == (
        1.0,
        math.inf,
        math.inf,
    )


def test_nobody_waits_when_fewer_than_the_share_have_to() -> None:
    assert wait_exceeded_by(0.5, 1, 10, 4) == 0


def test_number_inside_is_arrivals_times_stay() -> None:
    assert in_system(800, 0.25) == 200
