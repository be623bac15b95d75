import datetime as dt
from decimal import Decimal
from zoneinfo import ZoneInfo

import pytest
from django.utils import timezone, translation

from exams.templatetags.reading import duration, moment, points, time_left

WINTER = dt.datetime(2026, 11, 29, 16, 0, tzinfo=dt.UTC)
SUMMER = dt.datetime(2026, 7, 1, 16, 0, 5, tzinfo=dt.UTC)


@pytest.mark.parametrize(
    ("zone", "value", "shown"),
    [
        ("Europe/Helsinki", WINTER, 'Sun 29 Nov 2026, 18:00 <span class="utc-offset">UTC+02:00</span>'),
        ("Europe/Helsinki", SUMMER, 'Wed 1 Jul 2026, 19:00:05 <span class="utc-offset">UTC+03:00</span>'),
        ("America/St_Johns", WINTER, 'Sun 29 Nov 2026, 12:30 <span class="utc-offset">UTC-03:30</span>'),
        ("UTC", WINTER, 'Sun 29 Nov 2026, 16:00 <span class="utc-offset">UTC</span>'),
    ],
)
def test_a_moment_is_shown_on_the_schools_clock_with_its_offset(
    zone: str, value: dt.datetime, shown: str
) -> None:
    with timezone.override(ZoneInfo(zone)):
        assert moment(value) == f'<time datetime="{value.isoformat()}">{shown}</time>'


def test_a_moment_is_in_english_whatever_the_browser_asks_for() -> None:
    with translation.override("fi"), timezone.override(dt.UTC):
        assert "Sun 29 Nov 2026" in moment(WINTER)


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
