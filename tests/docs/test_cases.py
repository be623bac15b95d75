"""Numbers of cases and of decisions lead somewhere: a reader who meets "O17" or "ADR 0012" can look it up."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CASES = ROOT / "docs" / "cases.md"
DECISIONS = ROOT / "docs" / "adr"

_CASE = re.compile(r"\b(?:O\d{1,2}|I\d{1,2}|D\d{1,2}|Q\d|L\d{1,2}|M\d|S[456]|S10)\b")
_RANGE = re.compile(r"\b([OIDQLM])(\d) to \1(\d)\b")
_ELSEWHERE = re.compile(r"design notes|\bDESIGN\b")


def list_texts() -> list[Path]:
    """All documents, and all that is written in the code of the product and its tests."""
    folders = ("config", "exams", "gradebook", "outbox", "projections", "tests")
    code = [file for folder in folders for end in ("py", "sql") for file in (ROOT / folder).rglob(f"*.{end}")]
    return [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("docker/*.md"), *code]


def list_said() -> Iterator[tuple[str, str]]:
    """What is said in documents, docstrings and comments: file and text."""
    for file in list_texts():
        if file not in {CASES, Path(__file__)}:
            yield str(file.relative_to(ROOT)), file.read_text(encoding="utf-8")


def list_explained() -> set[str]:
    """The cases that the page explains: those named in the first column, ranges included."""
    rows = [row.split("|")[1] for row in CASES.read_text().splitlines() if row.startswith("| ")]
    named = {case for row in rows for case in _CASE.findall(row)}
    return named | {
        f"{letter}{number}"
        for row in rows
        for letter, first, last in _RANGE.findall(row)
        for number in range(int(first), int(last) + 1)
    }


def test_every_case_that_is_named_is_explained() -> None:
    explained = list_explained()
    named = {
        (file, case)
        for file, text in list_said()
        if file.endswith(".md") or file.startswith("tests/")
        for line in text.splitlines()
        if '"""' in line or "#" in line or file.endswith(".md")
        for case in _CASE.findall(line)
    }
    assert len(named) > 50
    assert {(file, case) for file, case in named if case not in explained} == set()


def test_no_text_leads_to_papers_that_are_not_here() -> None:
    assert [file for file, text in list_said() if _ELSEWHERE.search(text)] == []


@pytest.mark.parametrize("decision", sorted(DECISIONS.glob("0*.md")), ids=lambda file: file.name)
def test_every_decision_is_in_the_index_under_its_title(decision: Path) -> None:
    title = decision.read_text().splitlines()[0].removeprefix("# ")[4:].lstrip(".: ")
    assert f"| [{decision.name[:4]}]({decision.name}) | {title} |" in (DECISIONS / "README.md").read_text()
