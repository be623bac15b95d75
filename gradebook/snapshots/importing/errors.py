"""What is wrong with a file of copies, line by line, and what to do about it."""

import dataclasses
from collections.abc import Sequence


class Refused(Exception):
    """A line cannot be imported. `todo` says what would help."""

    def __init__(self, what: str, todo: str) -> None:
        self.what = what
        self.todo = todo
        super().__init__(what)


@dataclasses.dataclass(frozen=True, slots=True)
class BadLine:
    """A line that cannot be imported, and why."""

    number: int
    what: str
    todo: str

    def __str__(self) -> str:
        return f"line {self.number}: {self.what} {self.todo}"


class BadFile(Exception):
    """The file was not imported, nothing of it: these lines are wrong (the first of them, if they are many)."""

    def __init__(self, lines: Sequence[BadLine]) -> None:
        self.lines = lines
        super().__init__("\n".join(map(str, lines)))
