"""How typed text is read. The same table is put to the browser's module in `tests/journeys/test_marksheet_modules.py`."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradebook.entries import BLANK, DecimalSign, Entry, Refused, check_entry, plain, read_entry
from tests.gradebook.entry_cases import CASES, describe


@pytest.mark.parametrize(("sign", "text", "expected"), CASES)
def test_entry_is_read_by_the_written_rule(sign: DecimalSign, text: str, expected: str) -> None:
    assert describe(read_entry(text, decimal_sign=sign)) == expected


def test_ambiguous_number_is_refused_with_both_readings_named() -> None:
    assert read_entry("1,234", decimal_sign=".") == Refused(
        "ambiguous", "“1,234” can be read two ways. Write 1234 or 1.234."
    )


@given(st.text(), st.sampled_from([".", ","]))
def test_entry_of_any_text_is_an_entry_or_a_refusal(text: str, sign: DecimalSign) -> None:
    assert isinstance(read_entry(text, decimal_sign=sign), Entry | Refused)


@given(st.decimals(min_value=0, max_value=999_999, places=3, allow_nan=False), st.sampled_from([".", ","]))
def test_shown_mark_is_read_back_as_itself(value: Decimal, sign: DecimalSign) -> None:
    assert read_entry(plain(value).replace(".", sign), decimal_sign=sign) == Entry(value)


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ("0", None),
        ("20", None),
        ("20.000", None),
        ("7.5000", None),
        ("20.001", "above_max"),
        ("1E+30", "above_max"),
        ("-0.001", "below_zero"),
        ("7.1234", "too_many_decimals"),
        ("0.0000000000000000000000000000000000001", "too_many_decimals"),
        ("NaN", "not_a_mark"),
        ("Infinity", "not_a_mark"),
    ],
)
def test_number_is_checked_against_the_column_and_never_rounded(value: str, problem: str | None) -> None:
    refused = check_entry(Entry(Decimal(value)), max_points=Decimal(20))
    assert (refused and refused.problem) == problem


@pytest.mark.parametrize("entry", [BLANK, Entry(code="absent")])
def test_blank_and_codes_fit_every_column(entry: Entry) -> None:
    assert check_entry(entry, max_points=Decimal("0.001")) is None


@pytest.mark.parametrize(
    ("value", "text"), [("7.500", "7.5"), ("10", "10"), ("1E+1", "10"), ("0.000", "0"), ("100.00", "100")]
)
def test_number_is_written_as_the_shortest_plain_text(value: str, text: str) -> None:
    assert plain(Decimal(value)) == text
