"""The tables of docs/answers.md that call themselves tested."""

import dataclasses
import re
from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from exams import strict_json
from exams.canonical import canonical_answers
from exams.deadlines import Window, personal_deadline
from exams.grading.numerals import read_numeral

DOCS = (Path(__file__).parents[3] / "docs" / "answers.md").read_text(encoding="utf-8")
HELSINKI = ZoneInfo("Europe/Helsinki")


def rows(header: str) -> list[list[str]]:
    """Return the cells of the table with this header."""
    after = DOCS.split(f"| {header} |\n", 1)[1].splitlines()[1:]
    table = after[: next(index for index, line in enumerate(after) if not line.startswith("|"))]
    return [[cell.strip().strip("`") for cell in line.strip("|").split("|")] for line in table]


@pytest.mark.parametrize(("sent", "canonical"), rows("sent | canonical"))
def test_canonical_texts_are_as_written(sent: str, canonical: str) -> None:
    assert canonical_answers(strict_json.load(sent.encode())) == canonical


@pytest.mark.parametrize(("typed", "read"), rows("typed | read as"))
def test_numbers_are_read_as_written(typed: str, read: str) -> None:
    assert read_numeral(typed) == (None if read == "not a number" else Decimal(read))


@dataclasses.dataclass(frozen=True)
class Granted:
    kind: str
    amount: int


@pytest.mark.parametrize(
    ("exam", "start", "more", "deadline"), rows("exam | start | factor, grants | personal deadline")
)
def test_deadlines_are_as_written(exam: str, start: str, more: str, deadline: str) -> None:
    opens, closes = (at(clock) for clock in re.findall(r"\d\d:\d\d", exam))
    limit = re.search(r"(\d+) min", exam)
    factor = re.match(r"[\d.]+", more)
    grants = [
        Granted("minutes" if unit == "min" else "calendar_days", int(amount))
        for amount, unit in re.findall(r"\+(\d+) (\w+)", more)
    ]

    found = personal_deadline(
        Window(opens, closes, timedelta(minutes=int(limit[1])) if limit else None),
        started_at=at(start),
        zone=HELSINKI,
        factor=Decimal(factor[0]) if factor else Decimal(1),
        grants=grants,
    )

    assert found.closes_at == at(deadline)


def at(clock: str) -> datetime:
    return datetime.fromisoformat(f"2026-11-30T{clock}").replace(tzinfo=HELSINKI)
