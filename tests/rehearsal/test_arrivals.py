"""The curve is the documented one."""

import math
import random

import pytest

from config.rehearsal.arrivals import arrival_time, backlog_at_deadline, draw_arrivals, peak_rate


def test_curve_begins_with_the_window_and_ends_at_the_deadline() -> None:
    assert arrival_time(0, 120) == 0
    assert arrival_time(1, 120) == pytest.approx(120)


@pytest.mark.parametrize("share", [0.01, 0.3, 0.5, 0.99])
def test_curve_is_the_inverse_of_its_formula(share: float) -> None:
    moment = arrival_time(share, 10)
    assert math.expm1(4 * moment / 10) / math.expm1(4) == pytest.approx(share)


def test_peak_is_the_slope_at_the_deadline() -> None:
    step = 1e-6
    slope = step / (arrival_time(1, 10) - arrival_time(1 - step, 10))
    assert peak_rate(2_000, 10) == pytest.approx(2_000 * slope, rel=1e-4)


def test_third_of_the_students_comes_in_the_last_tenth() -> None:
    moments = draw_arrivals(20_000, 100, random.Random(1))
    assert moments == sorted(moments)
    assert sum(moment > 90 for moment in moments) / 20_000 == pytest.approx(0.336, abs=0.01)


def test_same_seed_draws_the_same_arrivals() -> None:
    assert draw_arrivals(50, 10, random.Random(7)) == draw_arrivals(50, 10, random.Random(7))


@pytest.mark.parametrize("capacity", [0.0001, 100, 300, 900])
def test_backlog_is_what_a_simulated_queue_holds_at_the_deadline(capacity: float) -> None:
    students, window, steps = 2_000, 10.0, 20_000
    waiting = 0.0
    for step in range(steps):
        moments = (window * step / steps, window * (step + 1) / steps)
        came = [students * math.expm1(4 * moment / window) / math.expm1(4) for moment in moments]
        waiting = max(0.0, waiting + came[1] - came[0] - capacity * window / steps)
    assert backlog_at_deadline(students, window, capacity) == pytest.approx(waiting, abs=0.1)
