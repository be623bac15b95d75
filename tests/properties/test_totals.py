"""Totals against a slow plain reference: fractions, one column at a time, dropping one mark after the other."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from gradebook.entries import BLANK, Entry
from gradebook.models import MarkCode, TotalState, Treatment
from gradebook.totals import Group, Item, Rules, find_total, round_percent

CODES = ["", *MarkCode.values]
CATEGORIES = [UUID(int=number) for number in range(1, 4)]
numbers = st.decimals(min_value=0, max_value=100, places=3)
entries = st.one_of(
    numbers.map(lambda value: Entry(value=value)), st.sampled_from(CODES).map(lambda code: Entry(code=code))
)
treatments = st.sampled_from(Treatment)


@st.composite
def worlds(draw: st.DrawFn) -> tuple[list[Item], dict[UUID, Entry], Rules]:
    groups = draw(
        st.lists(
            st.builds(
                Group,
                st.sampled_from(CATEGORIES),
                st.decimals(min_value=0, max_value=100, places=4),
                st.integers(0, 3),
            ),
            unique_by=lambda group: group.id,
            max_size=3,
        )
    )
    items = [
        Item(
            UUID(int=100 + number),
            draw(st.decimals(min_value=Decimal("0.5"), max_value=100, places=1)),
            draw(st.sampled_from([None, *CATEGORIES])),
            draw(st.booleans()),
        )
        for number in range(draw(st.integers(0, 7)))
    ]
    marks = {item.id: draw(entries) for item in items if draw(st.booleans())}
    return items, marks, Rules(tuple(groups), draw(treatments), draw(treatments), draw(treatments))


def _plain_total(items: Sequence[Item], marks: Mapping[UUID, Entry], rules: Rules) -> Fraction | str | None:
    """The rule read aloud; None for nothing to count."""
    zero = {
        MarkCode.ABSENT: rules.absent == Treatment.ZERO,
        MarkCode.MISSING: rules.missing == Treatment.ZERO,
        "": rules.blank == Treatment.ZERO,
    }
    baskets: list[tuple[Fraction, list[Item], int]] = [
        (Fraction(group.weight), [item for item in items if item.category_id == group.id], group.drop_lowest)
        for group in rules.groups
    ] or [(Fraction(1), list(items), 0)]
    shares = []
    for weight, basket, drops in baskets:
        rows: list[tuple[Item, Fraction]] = []
        for item in basket:
            entry = marks.get(item.id, BLANK)
            if entry.code == MarkCode.WITHHELD:
                return "withheld"
            if entry.value is not None:
                rows.append((item, Fraction(entry.value)))
            elif zero.get(entry.code, False) and not item.is_bonus:
                rows.append((item, Fraction(0)))
        for _ in range(drops):
            ordinary = [row for row in rows if not row[0].is_bonus]
            if len(ordinary) > 1:
                lowest = min(row[1] / Fraction(row[0].max_points) for row in ordinary)
                candidates = [row for row in ordinary if row[1] / Fraction(row[0].max_points) == lowest]
                largest = max(row[0].max_points for row in candidates)
                rows.remove([row for row in candidates if row[0].max_points == largest][-1])
        out_of = sum(Fraction(item.max_points) for item, _ in rows if not item.is_bonus)
        if out_of:
            shares.append((weight, sum(points for _, points in rows) / Fraction(out_of)))
    total_weight = sum(weight for weight, _ in shares)
    return sum(weight * share for weight, share in shares) / total_weight if total_weight else None


@given(worlds())
def test_total_is_what_the_rule_read_aloud_says(
    world: tuple[list[Item], dict[UUID, Entry], Rules],
) -> None:
    total, expected = find_total(*world), _plain_total(*world)
    if expected == "withheld":
        assert (total.state, total.percent) == (TotalState.WITHHELD, None)
    elif expected is None:
        assert (total.state, total.percent) == (TotalState.NONE, None)
    else:
        assert isinstance(expected, Fraction)
        assert (total.state, total.percent) == (TotalState.RESULT, round_percent(expected * 100))


@given(st.fractions(min_value=0, max_value=10_000))
def test_rounding_is_half_away_from_zero_from_the_exact_value(exact: Fraction) -> None:
    rounded = round_percent(exact)
    assert abs(Fraction(rounded) - exact) <= Fraction(1, 200)
    assert rounded.as_tuple().exponent == -2
    if Fraction(rounded) < exact:
        assert exact - Fraction(rounded) < Fraction(1, 200)
