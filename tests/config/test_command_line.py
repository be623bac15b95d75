"""`manage.py` where no command can speak for itself: settings that cannot be read, and no database."""

import os
import subprocess
import sys
from pathlib import Path

import psycopg
import pytest
from django.core.management import CommandError, call_command
from django.db.utils import OperationalError

from config.closed_pipe import ending_quietly
from config.command_line import is_out_of_reach

ROOT = Path(__file__).resolve().parents[2]


def manage(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    clean = {"ENV_FILE": os.devnull, "PATH": os.environ["PATH"], **environment}
    return subprocess.run(
        [sys.executable, "manage.py", *words],
        cwd=ROOT,
        env=clean,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    ("name", "value", "why"),
    [
        ("PORT", "eighty", "PORT: must be a whole number, from 1 to 65535, not 'eighty'"),
        ("TOKEN_HOURS", "x", "TOKEN_HOURS: must be a number above 0, at most 24, not 'x'"),
        *(
            (name, value, f"{name}: is no address like postgres://user:password@host:5432/name")
            for name in ("DATABASE_URL", "DATABASE_OWNER_URL")
            for value in ("garbage", "sqlite:///here")
        ),
    ],
)
def test_setting_that_cannot_be_read_is_named(tmp_path: Path, name: str, value: str, why: str) -> None:
    ended = manage("verify_log", **{"HANDOVER_DATA": str(tmp_path), name: value})
    assert (ended.returncode, ended.stderr) == (
        1,
        f"handover: A setting in the environment or in .env cannot be read: {why}. See .env.example.\n",
    )


@pytest.mark.parametrize(
    "words", [("verify_log",), ("consumers", "list"), ("regrade", "01a228d5-f121-76b0-8a6c-812eb5cb07d7")]
)
def test_command_without_a_database_says_so_in_one_line(tmp_path: Path, words: tuple[str, ...]) -> None:
    ended = manage(*words, HANDOVER_DATA=str(tmp_path), SECRET_KEY="x")
    assert (ended.returncode, ended.stdout, ended.stderr.count("\n")) == (1, "", 1)
    assert ended.stderr.startswith("handover: The database cannot be reached: ")
    assert ended.stderr.endswith(
        "Is it running (`make run`), and are HANDOVER_DATA and DATABASE_URL right?\n"
    )


def test_the_whole_story_is_told_when_asked_for(tmp_path: Path) -> None:
    ended = manage("verify_log", "--traceback", HANDOVER_DATA=str(tmp_path), SECRET_KEY="x")
    assert ended.stderr.startswith("Traceback (most recent call last):\n")


@pytest.mark.parametrize("words", [("help", "--commands"), ("dead_letters", "--help")])
def test_command_whose_reader_has_gone_ends_quietly_as_if_by_the_signal(
    tmp_path: Path, words: tuple[str, ...]
) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    ended = subprocess.run(
        [sys.executable, "manage.py", *words],
        cwd=ROOT,
        env={"ENV_FILE": os.devnull, "PATH": os.environ["PATH"], "HANDOVER_DATA": str(tmp_path)},
        stdout=writing,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    os.close(writing)
    assert (ended.returncode, ended.stderr) == (141, "")


def test_connection_that_breaks_is_no_closed_pipe() -> None:
    with pytest.raises(BrokenPipeError), ending_quietly():
        raise BrokenPipeError("a mail server's")


@pytest.mark.parametrize(
    ("cause", "expected"),
    [
        (psycopg.OperationalError(), True),
        (psycopg.errors.InvalidPassword(), True),
        (psycopg.errors.CannotConnectNow(), True),
        (psycopg.errors.DeadlockDetected(), False),
        (psycopg.errors.QueryCanceled(), False),
    ],
)
def test_only_a_missing_connection_counts_as_out_of_reach(cause: Exception, expected: bool) -> None:
    error = OperationalError()
    error.__cause__ = cause
    assert is_out_of_reach(error) is expected


@pytest.mark.django_db
@pytest.mark.parametrize(
    "words",
    [
        ("dead_letters", "list", "--kind", "\udcff"),
        ("effects", "replay", "--effect", "\udcff"),
        ("rehearsals", "put-away", "\udcff"),
        ("recalculate_totals", "\udcff"),
        ("issue_cards", "term", "--by", "\udcff"),
        ("import_marks", "marks.csv", "--by", "anna", "--column", "\udcff"),
    ],
    ids=lambda words: words[0],
)
def test_bytes_that_are_no_text_are_refused_wherever_a_name_is_asked_for(words: tuple[str, ...]) -> None:
    """As a shell hands them over: a name in the database is never like that."""
    with pytest.raises(CommandError, match="'\\\\udcff' is not UTF-8") as refused:
        call_command(*words)
    assert refused.value.returncode == 2
