"""One form for a moment and one for a day, wherever they are shown."""

import datetime as dt
import re
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from django.utils import timezone, translation
from django.utils.formats import date_format

from gradebook.moments import read_moment, write_moment
from gradebook.templatetags.moments import day, moment, plain_moment
from tests.serving import ROOT

HELSINKI = ZoneInfo("Europe/Helsinki")
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


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("2026-11-29T18:00", WINTER),
        ("2026-11-29T18:00:00+02:00", WINTER),
        ("2026-10-25T03:30", dt.datetime(2026, 10, 25, 0, 30, tzinfo=dt.UTC)),  # comes twice: the first
        ("2026-11-29T18:00+23:59:59.999999", dt.datetime(2026, 11, 28, 18, 0, 0, 1, tzinfo=dt.UTC)),
        ("9999-12-31T23:59-12:00", None),
        ("0001-01-01T00:00", None),
        ("1899-12-31T23:59", None),
        ("2200-01-01T00:00", None),
        ("2026-02-30T10:00", None),
        ("tomorrow", None),
        ("", None),
    ],
)
def test_a_moment_is_read_in_utc_where_it_can_be_stored_and_read_again(
    text: str, meant: dt.datetime | None
) -> None:
    assert read_moment(text, HELSINKI) == meant
    assert read_moment(text) == (meant if "+" in text else None)


def test_a_moment_is_in_english_whatever_the_browser_asks_for() -> None:
    with translation.override("fi"), timezone.override(dt.UTC):
        assert "Sun 29 Nov 2026" in moment(WINTER)


def test_a_moment_in_a_mail_is_the_same_as_text() -> None:
    with timezone.override(HELSINKI):
        assert plain_moment(SUMMER) == "Wed 1 Jul 2026, 19:00:05 UTC+03:00"


def test_a_moment_may_be_told_on_another_schools_clock() -> None:
    with timezone.override(dt.UTC):
        assert str(write_moment(WINTER, HELSINKI)) == "Sun 29 Nov 2026, 18:00 UTC+02:00"


@pytest.mark.parametrize("value", [dt.date(2026, 12, 11), dt.datetime(2026, 12, 10, 22, 30, tzinfo=dt.UTC)])
def test_a_day_is_no_riddle_in_any_language_and_of_a_moment_the_one_of_the_school(value: dt.date) -> None:
    with translation.override("de"), timezone.override(HELSINKI):
        assert day(value) == '<time datetime="2026-12-11">11 Dec 2026</time>'


@pytest.mark.parametrize("language", ["en", "en-gb"])
def test_administration_writes_moments_nearly_so(language: str) -> None:
    with translation.override(language), timezone.override(HELSINKI):
        written = [
            date_format(timezone.localtime(WINTER), form) for form in ("DATETIME_FORMAT", "DATE_FORMAT")
        ]
    assert written == ["Sun 29 Nov 2026, 18:00 UTC+0200", "29 Nov 2026"]


def test_no_template_writes_a_date_in_a_form_of_its_own() -> None:
    """Left are times for machines: attributes, the values of inputs, and hours in a table whose column names the zone."""
    found = [
        f"{path.name}: {form}"
        for app in ("config", "exams", "gradebook", "projections")
        for path in sorted(Path(ROOT, app, "templates").rglob("*.html"))
        for form in re.findall(r"\|date:[\"']([^\"']+)", path.read_text())
        if form not in {"c", r"Y-m-d\TH:i:s"}
    ]
    assert found == ["live.html: H:i"]
