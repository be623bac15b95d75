"""The picture of the path: nothing lies on anything else, everything is inside, and it can be read without being seen."""

from itertools import combinations

import pytest

from config.console.picture import (
    HEIGHT,
    WIDTH,
    Arrow,
    Drawing,
    Path,
    PlacedStation,
    Station,
    draw_lying,
    draw_standing,
)
from config.console.words import say_age

PATH = Path(
    line=(Station("Gate", "open"), Station("Queue", "3 ready", "late"), Station("Log", "9 events")),
    ways=(Arrow("at once"), Arrow("4 s", "late")),
    branches=(
        (Arrow("1 s"), Station("Consumers", "2 in time")),
        (Arrow("2 h"), Station("Relay", "silent", "away")),
    ),
)


def overlap(one: PlacedStation, other: PlacedStation) -> bool:
    return abs(one.x - other.x) < WIDTH and abs(one.y - other.y) < HEIGHT


@pytest.mark.parametrize("drawing", [draw_lying(PATH), draw_standing(PATH)], ids=lambda drawing: drawing.name)
def test_picture_has_everything_in_its_place(drawing: Drawing) -> None:
    assert [each.station.title for each in drawing.stations] == ["Gate", "Queue", "Log", "Consumers", "Relay"]
    assert [each.arrow.label for each in drawing.arrows] == ["at once", "4 s", "1 s", "2 h"]
    assert [pair for pair in combinations(drawing.stations, 2) if overlap(*pair)] == []
    for each in drawing.stations:
        assert 0 <= each.x <= drawing.width - WIDTH
        assert 0 <= each.y <= drawing.height - HEIGHT
    for arrow in drawing.arrows:
        assert max(arrow.x1, arrow.x2, arrow.label_x) <= drawing.width
        assert max(arrow.y1, arrow.y2, arrow.label_y) <= drawing.height


def test_picture_marks_what_is_wrong_by_a_sign() -> None:
    assert [each.sign for each in draw_lying(PATH).stations] == ["", "⚠ ", "", "", "⚠ "]


def test_picture_is_said_in_words() -> None:
    assert PATH.words == (
        "Gate: open. at once; Queue (late): 3 ready. 4 s; Log: 9 events. "
        "1 s; Consumers: 2 in time. 2 h; Relay (away): silent."
    )


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "0 s"),
        (0.04, "0 s"),
        (0.34, "0.3 s"),
        (9.94, "9.9 s"),
        (12.4, "12 s"),
        (59.9, "60 s"),
        (90, "2 min"),
        (3599, "60 min"),
        (7200, "2 h"),
        (172_799, "48 h"),
        (400_000, "5 days"),
    ],
)
def test_age_is_said_in_the_unit_that_suits_it(seconds: float, words: str) -> None:
    assert say_age(seconds) == words
