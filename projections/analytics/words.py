"""What the figures of a question say, in a teacher's words. Pure."""

from projections.analytics.figures import EASY, FEWEST, HARD, WEAK, round_discrimination
from projections.analytics.queries import ItemFigures


def judge_item(item: ItemFigures) -> str:
    """Return what is worth knowing about a question; empty where there is nothing to say."""
    return "; ".join(filter(None, (_judge_difficulty(item), _judge_discrimination(item))))


def _judge_difficulty(item: ItemFigures) -> str:
    if item.number < FEWEST:
        return ""
    if item.difficulty <= HARD:
        return "hard"
    return "easy" if item.difficulty >= EASY else ""


def _judge_discrimination(item: ItemFigures) -> str:
    found = item.discrimination
    if found is None:
        return (
            f"fewer than {FEWEST} attempts"
            if item.number < FEWEST
            else "no difference between students to go by"
        )
    shown = round_discrimination(found)
    if shown < 0:
        return "look at it again: those who did well in the rest did worse here"
    return "tells little apart" if shown < WEAK else ""
