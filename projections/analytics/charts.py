"""The figures as pictures: where bars, axes and labels stand in an SVG that the template writes. Pure.

Drawn as wide as a phone, so that the letters keep their size there; a wide screen shows several beside each other. What a picture says
stands in the table beside it too, so none of it is said by a picture alone.
"""

import dataclasses
from collections.abc import Sequence
from fractions import Fraction

from projections.analytics.bins import Bin
from projections.analytics.figures import round_discrimination
from projections.analytics.queries import ItemFigures

WIDTH = 340
_BASE, _TOP, _LEFT, _RIGHT = 150, 18, 10, 326
_GAP = 2
_MOST_LABELS = 8
ROW = 22
_ROWS_TOP = 34
_EASE_LEFT, _EASE_WIDTH = 40, 140
_APART_LEFT, _APART_WIDTH = 200, 128


@dataclasses.dataclass(frozen=True, slots=True)
class Bar:
    """One bar, with how many it stands for."""

    x: float
    y: float
    width: float
    height: float
    number: int

    @property
    def middle(self) -> float:
        """Where its number stands."""
        return round(self.x + self.width / 2, 1)


@dataclasses.dataclass(frozen=True, slots=True)
class Label:
    """A value under the axis."""

    x: float
    value: Fraction


@dataclasses.dataclass(frozen=True, slots=True)
class BarChart:
    """A distribution: bars from left to right, and values under them."""

    bars: list[Bar]
    labels: list[Label]
    height: int = _BASE + 24
    base: int = _BASE
    width: int = WIDTH


@dataclasses.dataclass(frozen=True, slots=True)
class ItemRow:
    """One question's line: a bar for the share of points got, a dot for how well it tells apart (none where that is unknown)."""

    item: ItemFigures
    y: int
    ease: float
    dot: float | None

    @property
    def middle(self) -> float:
        """The height its dot and its letters stand at."""
        return self.y + ROW / 2

    @property
    def is_weak(self) -> bool:
        """Whether the question works against the rest of the paper."""
        found = self.item.discrimination
        return found is not None and round_discrimination(found) < 0


@dataclasses.dataclass(frozen=True, slots=True)
class ItemChart:
    """All questions, one below the other. `zero` is where a question tells nothing apart."""

    rows: list[ItemRow]
    height: int
    width: int = WIDTH
    ease_left: int = _EASE_LEFT
    ease_right: int = _EASE_LEFT + _EASE_WIDTH
    apart_left: int = _APART_LEFT
    apart_right: int = _APART_LEFT + _APART_WIDTH
    zero: int = _APART_LEFT + _APART_WIDTH // 2


def draw_bars(bins: Sequence[Bin]) -> BarChart:
    """Place a distribution's bars: the tallest reaches the top, and an empty one has no height."""
    step = (_RIGHT - _LEFT) / len(bins)
    most = max((each.number for each in bins), default=0) or 1
    bars = [_place_bar(each, _LEFT + place * step, step, most) for place, each in enumerate(bins)]
    return BarChart(bars, _place_labels(bins, step))


def draw_items(items: Sequence[ItemFigures]) -> ItemChart:
    """Place the questions of one revision in paper order."""
    rows = [_place_item(item, _ROWS_TOP + place * ROW) for place, item in enumerate(items)]
    return ItemChart(rows, height=_ROWS_TOP + len(rows) * ROW + 6)


def _place_bar(bar: Bin, x: float, step: float, most: int) -> Bar:
    height = round((_BASE - _TOP) * bar.number / most, 1)
    return Bar(
        x=round(x + _GAP / 2, 1),
        y=round(_BASE - height, 1),
        width=round(step - _GAP, 1),
        height=height,
        number=bar.number,
    )


def _place_labels(bins: Sequence[Bin], step: float) -> list[Label]:
    """Put a value under the middle of a bar that stands for it, or under the edges between bars; not more than there is room for."""
    if all(each.is_single for each in bins):
        places = [(each.low, (place + 0.5) * step) for place, each in enumerate(bins)]
    else:
        places = [(each.low, place * step) for place, each in enumerate(bins)]
        places.append((bins[-1].high, len(bins) * step))
    every = -(-len(places) // _MOST_LABELS)
    return [Label(round(_LEFT + x, 1), value) for value, x in places[::every]]


def _place_item(item: ItemFigures, y: int) -> ItemRow:
    dot = None
    if item.discrimination is not None:
        dot = round(_APART_LEFT + _APART_WIDTH * (float(item.discrimination) + 1) / 2, 1)
    return ItemRow(item, y, ease=round(_EASE_WIDTH * float(item.difficulty), 1), dot=dot)
