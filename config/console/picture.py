"""The path as a picture: stations, and arrows with the age of the oldest thing on its way. Pure; the template writes the SVG.

Drawn twice, lying for a desk and standing for a phone; the style sheet shows one of them. A state is a word and a sign, never a colour alone.
"""

import dataclasses
from typing import Final, Literal

State = Literal["well", "late", "away"]

WIDTH, HEIGHT = 148, 76  # of a station
_GAP: Final = 66
_FORK: Final = 24  # what the branches stand further away, so that their labels have room
_DROP: Final = 48  # between stations that stand below each other
_LIFT: Final = 9  # of a label above its arrow


@dataclasses.dataclass(frozen=True, slots=True)
class Station:
    """Where work is: what it is called, what to know about it now."""

    title: str
    detail: str
    state: State = "well"


@dataclasses.dataclass(frozen=True, slots=True)
class Arrow:
    """The way to a station: what is on it, and whether that is too old."""

    label: str
    state: State = "well"


@dataclasses.dataclass(frozen=True, slots=True)
class Path:
    """The line of stations up to the log, with the arrows between them; then the branches that read the log."""

    line: tuple[Station, ...]
    ways: tuple[Arrow, ...]
    branches: tuple[tuple[Arrow, Station], ...]

    @property
    def words(self) -> str:
        """The picture for whoever does not see it."""
        parts = [_say(self.line[0])]
        parts += [
            f"{arrow.label}; {_say(station)}" for arrow, station in zip(self.ways, self.line[1:], strict=True)
        ]
        parts += [f"{arrow.label}; {_say(station)}" for arrow, station in self.branches]
        return ". ".join(parts) + "."


@dataclasses.dataclass(frozen=True, slots=True)
class PlacedStation:
    """A station with its corner."""

    station: Station
    x: int
    y: int

    width: int = WIDTH
    height: int = HEIGHT

    @property
    def middle(self) -> int:
        """Where its words are centred."""
        return self.x + WIDTH // 2

    @property
    def title_y(self) -> int:
        """The base line of its name."""
        return self.y + 32

    @property
    def detail_y(self) -> int:
        """The base line of what there is to know."""
        return self.y + 56

    @property
    def sign(self) -> str:
        """What says without colour that something is wrong."""
        return "" if self.station.state == "well" else "⚠ "


@dataclasses.dataclass(frozen=True, slots=True)
class PlacedArrow:
    """An arrow with its ends and the place of its label."""

    arrow: Arrow
    x1: int
    y1: int
    x2: int
    y2: int
    label_x: int
    label_y: int
    anchor: str


@dataclasses.dataclass(frozen=True, slots=True)
class Drawing:
    """A picture ready to be written."""

    name: str
    width: int
    height: int
    stations: tuple[PlacedStation, ...]
    arrows: tuple[PlacedArrow, ...]


def draw_lying(path: Path) -> Drawing:
    """Return the picture from left to right, its branches above each other at the end."""
    step, middle = WIDTH + _GAP, HEIGHT + 12
    row = middle - HEIGHT // 2
    stations = [PlacedStation(station, place * step, row) for place, station in enumerate(path.line)]
    arrows = [_across(arrow, place * step + WIDTH, middle) for place, arrow in enumerate(path.ways)]
    end = len(path.line) * step + _FORK
    for place, (arrow, station) in enumerate(path.branches):
        y = place * (HEIGHT + 24)
        stations.append(PlacedStation(station, end, y))
        arrows.append(_slanting(arrow, end - _GAP - _FORK, middle, y + HEIGHT // 2))
    height = max(2 * middle, len(path.branches) * (HEIGHT + 24))
    return Drawing("lying", end + WIDTH, height, tuple(stations), tuple(arrows))


def draw_standing(path: Path) -> Drawing:
    """Return the picture from top to bottom, its branches side by side at the end."""
    step, width = HEIGHT + _DROP, 2 * WIDTH + 16
    left = (width - WIDTH) // 2
    stations = [PlacedStation(station, left, place * step) for place, station in enumerate(path.line)]
    arrows = [
        _down(arrow, width // 2, width // 2, place * step + HEIGHT) for place, arrow in enumerate(path.ways)
    ]
    end = len(path.line) * step
    for place, (arrow, station) in enumerate(path.branches):
        x = place * (WIDTH + 16)
        stations.append(PlacedStation(station, x, end))
        arrows.append(_down(arrow, width // 2, x + WIDTH // 2, end - step + HEIGHT))
    return Drawing("standing", width, end + HEIGHT, tuple(stations), tuple(arrows))


def _across(arrow: Arrow, x: int, y: int) -> PlacedArrow:
    return PlacedArrow(arrow, x + 4, y, x + _GAP - 4, y, x + _GAP // 2, y - _LIFT, "middle")


def _slanting(arrow: Arrow, x: int, y1: int, y2: int) -> PlacedArrow:
    """Its label is on the outer side, where the other branch is not, and past the station it comes from: it may be wider than the gap."""
    length = _GAP + _FORK
    label_y = y1 + (HEIGHT // 2 + _LIFT * 2 if y2 > y1 else -HEIGHT // 2 - _LIFT)
    return PlacedArrow(arrow, x + 4, y1, x + length - 4, y2, x + length // 2 + 8, label_y, "end")


def _down(arrow: Arrow, x1: int, x2: int, y: int) -> PlacedArrow:
    anchor, aside = ("end", -10) if x2 < x1 else ("start", 10)
    return PlacedArrow(
        arrow, x1, y + 4, x2, y + _DROP - 4, (x1 + x2) // 2 + aside, y + _DROP // 2 + 4, anchor
    )


def _say(station: Station) -> str:
    wrong = {"well": "", "late": " (late)", "away": " (away)"}[station.state]
    return f"{station.title}{wrong}: {station.detail}"
