"""Line charts as SVG: axes with round numbers, a legend, and a line a series. Nothing is loaded from anywhere."""

import math
from collections.abc import Sequence
from typing import NamedTuple

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from config.rehearsal.curves import Points

WIDTH, HEIGHT = 720, 260
LEFT, RIGHT, TOP, BOTTOM = 64, 12, 12, 36
TICKS = 5


class Series(NamedTuple):
    """A line; `style` is its class in the page's style sheet (`one` to `four`)."""

    name: str
    style: str
    points: Points


class Chart(NamedTuple):
    """A plot with its words; `ends_at` is where the deadline is marked."""

    title: str
    unit: str
    series: Sequence[Series]
    ends_at: float

    @property
    def svg(self) -> SafeString:
        """The drawing."""
        scale = _Scale.of(self)
        return format_html(
            '<svg viewBox="0 0 {} {}" role="img" aria-label="{}, {}">{}{}{}{}</svg>',
            *(WIDTH, HEIGHT, self.title, self.unit),
            _draw_rows(scale),
            _draw_columns(scale),
            _draw_deadline(scale, self.ends_at),
            format_html_join(
                "",
                '<polyline class="{}" points="{}"/>',
                ((one.style, scale.place(one.points)) for one in self.series),
            ),
        )


class _Scale(NamedTuple):
    """From values to places on the drawing."""

    right: float
    top: float

    @classmethod
    def of(cls, chart: Chart) -> "_Scale":
        points = [point for one in chart.series for point in one.points]
        right = max([chart.ends_at, *(x for x, _ in points)])
        return cls(right, _round_up(max((y for _, y in points), default=0.0)))

    def x(self, value: float) -> float:
        return round(LEFT + value / self.right * (WIDTH - LEFT - RIGHT), 1)

    def y(self, value: float) -> float:
        return round(HEIGHT - BOTTOM - value / self.top * (HEIGHT - TOP - BOTTOM), 1)

    def place(self, points: Points) -> str:
        return " ".join(f"{self.x(x)},{self.y(y)}" for x, y in points)


def tick_step(most: float) -> float:
    """Return the distance of round numbers (1, 2 or 5 times a power of ten) of which at most five reach so far."""
    if most <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(most / TICKS))
    return next(factor * power for factor in (1, 2, 5, 10) if factor * power * TICKS >= most * (1 - 1e-9))


def _round_up(most: float) -> float:
    step = tick_step(most)
    return max(1, math.ceil(most / step - 1e-9)) * step


def _ticks(most: float) -> list[float]:
    step = tick_step(most)
    return [step * number for number in range(int(most / step + 1e-9) + 1)]


def _draw_rows(scale: _Scale) -> SafeString:
    return format_html_join(
        "",
        '<line class="grid" x1="{}" x2="{}" y1="{}" y2="{}"/><text x="{}" y="{}" text-anchor="end">{}</text>',
        (
            (
                LEFT,
                WIDTH - RIGHT,
                scale.y(value),
                scale.y(value),
                LEFT - 8,
                scale.y(value) + 4,
                f"{value:,.6g}",
            )
            for value in _ticks(scale.top)
        ),
    )


def _draw_columns(scale: _Scale) -> SafeString:
    return format_html_join(
        "",
        '<text x="{}" y="{}" text-anchor="middle">{} s</text>',
        ((scale.x(value), HEIGHT - 12, f"{value:,.6g}") for value in _ticks(scale.right)),
    )


def _draw_deadline(scale: _Scale, at: float) -> SafeString:
    return format_html(
        '<line class="deadline" x1="{}" x2="{}" y1="{}" y2="{}"/>',
        scale.x(at),
        scale.x(at),
        TOP,
        HEIGHT - BOTTOM,
    )
