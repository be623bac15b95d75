"""Durations and points as a person reads them."""

import datetime as dt
from decimal import Decimal

import pytest
from django.utils import translation

from exams.templatetags.reading import duration, points, time_left


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [(0, "0 s"), (45, "45 s"), (90, "1 min 30 s"), (5_400, "90 min"), (86_400, "1440 min")],
)
def test_a_duration_is_exact(seconds: int, shown: str) -> None:
    assert duration(dt.timedelta(seconds=seconds)) == shown


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (-5, "0 s"),
        (45, "45 s"),
        (1_199, "19 min"),
        (7_199, "1 h 59 min"),
        (7_200, "2 h"),
        (86_400 + 59, "1 day"),
        (6 * 86_400 + 23 * 3_600 + 3_599, "6 days 23 h"),
    ],
)
def test_the_time_left_is_never_overstated(seconds: int, shown: str) -> None:
    assert time_left(dt.timedelta(seconds=seconds)) == shown


@pytest.mark.parametrize(
    ("value", "language", "shown"),
    [
        ("10.000", "en", "10"),
        ("7.500", "en", "7.5"),
        ("7.500", "fi", "7,5"),
        ("0.000", "en", "0"),
        ("0.125", "de", "0,125"),
    ],
)
def test_points_are_written_as_the_locale_does_without_needless_zeros(
    value: str, language: str, shown: str
) -> None:
    with translation.override(language):
        assert points(Decimal(value)) == shown
