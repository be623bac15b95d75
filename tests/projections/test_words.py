"""What pages say about figures: how late they may be, in the unit that suits it, and what is worth knowing of a question."""

from decimal import Decimal
from fractions import Fraction

import pytest

from projections.analytics.queries import ItemFigures
from projections.analytics.words import judge_item
from projections.templatetags.figures import at_most, correlation, fact, figure


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (1, "1 s"),
        (120, "120 s"),
        (121, "3 min"),
        (7_200, "120 min"),
        (7_201, "3 h"),
        (172_800, "48 h"),
        (172_801, "3 days"),
    ],
)
def test_time_that_is_not_exceeded_is_rounded_up_in_a_unit_that_suits_it(seconds: int, said: str) -> None:
    assert at_most(seconds) == said


@pytest.mark.parametrize(
    ("number", "as_figure", "as_fact"),
    [
        ("12.125", "12.13", "12.125"),
        ("999999.999", "1000000", "999999.999"),
        ("10", "10", "10"),
        ("0", "0", "0"),
        ("7.50", "7.5", "7.5"),
    ],
)
def test_marks_and_maxima_are_shown_exactly_and_what_is_worked_out_rounded(
    number: str, as_figure: str, as_fact: str
) -> None:
    assert (figure(Fraction(number)), fact(Fraction(number))) == (as_figure, as_fact)


@pytest.mark.parametrize(
    ("found", "shown", "said"),
    [
        ("-0.0050", "\N{MINUS SIGN}0.01", "look at it again: those who did well in the rest did worse here"),
        ("-0.0049", "+0.00", "tells little apart"),
        ("0.1949", "+0.19", "tells little apart"),
        ("0.1950", "+0.20", ""),
    ],
)
def test_words_about_a_question_go_by_the_figure_as_it_is_shown(found: str, shown: str, said: str) -> None:
    half = Fraction(1, 2)
    item = ItemFigures(1, 1, Fraction(1), 30, half, half, Decimal(found))
    assert (correlation(Decimal(found)), judge_item(item)) == (shown, said)
