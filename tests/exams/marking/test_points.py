"""What a teacher may type for points: the mark sheet's rule, in this page's words."""

from decimal import Decimal

import pytest
from uuid_utils.compat import uuid7

from exams.web.points import Typed, read_points, read_posted
from gradebook.entries import DecimalSign

NUMBERS: list[tuple[str, DecimalSign, Decimal | str | None]] = [
    ("2.5", ".", Decimal("2.5")),
    ("2,5", ".", Decimal("2.5")),
    ("2,5", ",", Decimal("2.5")),
    (" \u0662\u066b\u0665 ", ".", Decimal("2.5")),
    ("0", ".", Decimal(0)),
    ("4.000", ".", Decimal(4)),
    ("", ".", None),
    ("  ", ".", None),
    ("1,234", ".", "“1,234” can be read two ways. Write 1234 or 1.234."),
    ("1.234", ",", "“1.234” can be read two ways. Write 1234 or 1,234."),
    ("1,234", ",", Decimal("1.234")),
    ("a", ".", "Points are a number, for example 2.5."),
    ("excused", ",", "Points are a number, for example 2,5."),
    ("1e1", ".", "Points are a number, for example 2.5."),
    ("½", ".", "Points are a number, for example 2.5."),
    ("9" * 10_000, ".", "Points are a number, for example 2.5."),
    ("2\0", ".", "Points are a number, for example 2.5."),
    ("-1", ".", "Points are not below 0."),
    ("4.001", ",", "“4.001” can be read two ways. Write 4001 or 4,001."),
    ("4.01", ".", "This question gives at most 4."),
    ("1.2345", ".", "At most three decimals; nothing is rounded for you."),
]


@pytest.mark.parametrize(("text", "sign", "points"), NUMBERS)
def test_what_is_typed_is_read_by_the_rule_of_the_mark_sheet(
    text: str, sign: DecimalSign, points: Decimal | str | None
) -> None:
    assert read_points(text, max_points=Decimal(4), decimal_sign=sign) == points


def test_the_maximum_is_named_in_the_readers_decimals() -> None:
    assert (
        read_points("3", max_points=Decimal("2.500"), decimal_sign=",") == "This question gives at most 2,5."
    )


@pytest.mark.parametrize("version", ["", "-1", "x", "1" * 10, "\u0661", "9" * 5_000])
def test_a_version_that_is_none_counts_as_the_oldest(version: str) -> None:
    id_ = uuid7()
    form = {f"points-{id_}": "2", f"version-{id_}": version}
    assert read_posted(form) == {id_: Typed("2", "", 0)}


def test_fields_that_are_none_of_ours_are_passed_over() -> None:
    id_ = uuid7()
    form = {"points-": "1", "points-x": "2", "points": "3", f"shown-{id_}": "4", f"version-{id_}": "5"}
    assert read_posted(form) == {}
