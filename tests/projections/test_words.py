"""How late something may be is said in the unit that suits it, and never as less than it is."""

import pytest

from projections.templatetags.figures import at_most


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
