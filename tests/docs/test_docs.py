"""What the documents name exists: a page that sends its reader to a file, a command or another page which is not there is wrong."""

import re
from pathlib import Path

import pytest
from django.core.management import get_commands

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("docker/*.md")])
TREE = r"(?:config|exams|gradebook|outbox|projections|tests|docs|docker|requirements|\.ci)"

_CODE = re.compile(r"`([^`\n]+)`")
_LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")
_PATH = re.compile(rf"{TREE}/[\w./-]*\w/?")
_COMMAND = re.compile(r"manage\.py ([a-z_]+)")
_TARGET = re.compile(r"make ([a-z][a-z-]*)")

pytestmark = pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))


def test_every_path_a_page_names_exists(page: Path) -> None:
    named = [word for code in _CODE.findall(page.read_text()) if _PATH.fullmatch(word := code.split()[0])]
    assert [path for path in named if not _exists(path)] == []


def test_every_link_of_a_page_leads_somewhere(page: Path) -> None:
    targets = [target for target in _LINK.findall(page.read_text()) if "://" not in target]
    assert [target for target in targets if not (page.parent / target).exists()] == []


def test_every_command_a_page_names_can_be_run(page: Path) -> None:
    text = page.read_text()
    makefile = (ROOT / "Makefile").read_text()
    missing = [
        f"manage.py {name}" for name in _COMMAND.findall(text) if name not in {*get_commands(), "help"}
    ]
    targets = [match[1] for code in _CODE.findall(text) if (match := _TARGET.match(code))]
    missing += [f"make {name}" for name in targets if not re.search(rf"^{name}:", makefile, re.MULTILINE)]
    assert missing == []


def _exists(path: str) -> bool:
    """A folder, a file, or a module named without its ending."""
    return (ROOT / path).exists() or (ROOT / f"{path}.py").exists()
