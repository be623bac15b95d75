"""The watch on its own, where it can see nothing."""

from pathlib import Path

import psycopg
import pytest

from outbox.quorum import Quorum
from outbox.quorum.watch import Watch
from tests.waiting import wait_until


def test_watch_says_once_why_it_cannot_look(caplog: pytest.LogCaptureFixture, tmp_path: Path) -> None:
    tries: list[None] = []

    def connect() -> psycopg.Connection:
        tries.append(None)
        return psycopg.connect(host=str(tmp_path))

    watch = Watch(Quorum(("a", "b"), 1), connect)
    watch.start()
    wait_until(lambda: len(tries) >= 3)
    watch.stop()

    said = [line.getMessage() for line in caplog.records if line.name == "outbox.quorum.watch"]
    assert len([words for words in said if words.startswith("The standbys cannot be watched")]) == 1
