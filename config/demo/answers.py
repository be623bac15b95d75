"""What a demo student answers: right with the chance of their skill, otherwise a mistake people really make."""

import random
from collections.abc import Mapping, Sequence
from typing import Any

CHANCE_TO_SKIP = 0.05
ESSAY = (
    "I would hang a spiral of paper over a candle. The warm air rises and turns the spiral. Without the candle it "
    "must stay still; if it turns all the same, a draught moved it and I have shown nothing."
)


def answer_paper(
    *, paper: Sequence[Mapping[str, Any]], key: Mapping[str, Any], skill: float, dice: random.Random
) -> dict[str, Any]:
    """Return answers to a published paper; `skill` (0 to 1) is the chance to know one."""
    return {
        question["id"]: _know(key[question["id"]]) if dice.random() < skill else _guess(question, dice)
        for question in paper
        if dice.random() >= CHANCE_TO_SKIP
    }


def _know(entry: Mapping[str, Any]) -> Any:
    match entry:
        case {"kind": "multiple_choice", "fractions": worths}:
            return [choice for choice, worth in worths.items() if float(worth) > 0]
        case {"kind": "true_false", "fractions": worths}:
            return float(worths["true"]) > 0
        case {"fractions": worths}:
            return max(worths, key=lambda choice: float(worths[choice]))
        case {"ranges": accepted} | {"patterns": accepted}:
            return max(accepted, key=lambda row: float(row[-1]))[0]
        case {"pairs": pairs}:
            return pairs
    return ESSAY


def _guess(question: Mapping[str, Any], dice: random.Random) -> Any:
    match question:
        case {"kind": "multiple_choice", "choices": choices}:
            return [choice["id"] for choice in dice.sample(choices, k=2)]
        case {"kind": "matching", "prompts": prompts, "choices": choices}:
            return {prompt["id"]: dice.choice(choices)["id"] for prompt in prompts}
        case {"choices": choices}:
            return dice.choice(choices)["id"]
        case {"kind": "true_false"}:
            return dice.random() < 0.5  # noqa: PLR2004 - a coin
        case {"kind": "numeric"}:
            return str(dice.randint(1, 100))
    return dice.choice(["I am not sure.", "We did this in March, I think.", "energy"])
