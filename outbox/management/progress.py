"""The progress bar of commands that take a while: how far, how fast, how long still. On standard error, for people only."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    Task,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
)
from rich.text import Text

Report = Callable[[int, int], object]


class _RateColumn(TextColumn):
    """How many a second."""

    def render(self, task: Task) -> Text:
        speed = task.finished_speed or task.speed
        return Text(f"{speed:,.0f} {self.text_format}/s" if speed else "", style="progress.data.speed")


class Bar:
    """A `Report` that moves the bar."""

    def __init__(self, progress: Progress, task: TaskID, title: str) -> None:
        self._progress = progress
        self._task = task
        self._title = title

    def __call__(self, done: int, total: int) -> None:
        """Say how far it is."""
        self._progress.update(self._task, completed=done, total=total)

    def say(self, words: str | None) -> None:
        """Put words beside the title, until others or none are put there."""
        self._progress.update(self._task, description=f"{self._title}, {words}" if words else self._title)


@contextmanager
def progress_bar(title: str, *, unit: str) -> Iterator[Bar]:
    """Give a function `report(done, total)` that moves the bar; where nobody watches, it does nothing."""
    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        _RateColumn(unit),
        TimeRemainingColumn(elapsed_when_finished=True),
    )
    with Progress(*columns, console=console, disable=not console.is_terminal) as progress:
        yield Bar(progress, progress.add_task(title, total=None), title)
