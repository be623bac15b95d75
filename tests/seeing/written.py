"""What was written to the log in JSON, line by line."""

import io
import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest

from config.logs.lines import make_line


class Lines:
    """What was written to the log in JSON since the last look."""

    def __init__(self, stream: io.StringIO) -> None:
        self._stream = stream

    def take(self) -> list[dict[str, Any]]:
        text = self._stream.getvalue()
        self._stream.seek(0)
        self._stream.truncate()
        return [json.loads(line) for line in text.splitlines()]


@pytest.fixture
def lines() -> Iterator[Lines]:
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(make_line("json"))
    root = logging.getLogger()
    root.addHandler(handler)
    yield Lines(stream)
    root.removeHandler(handler)
