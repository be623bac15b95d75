"""A line of history says in words what the cell showed before and after, in the reader's number format."""

from decimal import Decimal
from typing import get_args

import pytest
from django.utils import translation

from gradebook.events import Reason
from projections.history.lines import FROM_COPY, NO_MARK, REASONS, explain, show_mark


def test_every_reason_of_a_change_has_words() -> None:
    assert set(REASONS) == {*get_args(Reason), FROM_COPY}


@pytest.mark.parametrize(
    ("value", "code", "shown"),
    [
        (Decimal("8.500"), "", "8.5"),
        (Decimal("10.000"), "", "10"),
        (Decimal("0.000"), "", "0"),
        (None, "absent", "absent"),
        (None, "", NO_MARK),
    ],
)
def test_mark_is_shown_as_a_person_writes_it(value: Decimal | None, code: str, shown: str) -> None:
    assert show_mark(value, code) == shown


def test_mark_is_shown_with_a_decimal_comma_where_people_write_one() -> None:
    with translation.override("de"):
        assert show_mark(Decimal("8.500"), "") == "8,5"


def test_reason_is_told_with_the_file_and_line_where_there_is_one() -> None:
    assert explain("typed", "") == "typed in the sheet"
    assert explain("imported", "marks.csv, line 7") == "imported from a file: marks.csv, line 7"
    assert explain("of_a_later_version", "") == "of_a_later_version"
