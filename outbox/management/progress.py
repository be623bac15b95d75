"""The progress bar of commands that take a while: how far, how fast, how long still. On standard error, for people only."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, Task, TextColumn, TimeRemainingColumn
from rich.text import Text

Report = Callable[[int, int], object]


class _RateColumn(TextColumn):
    """How many a second."""

    def render(self, task: Task) -> Text:
        speed = task.finished_speed or task.speed
        return Text(f"{speed:,.0f} {self.text_format}/s" if speed else "", style="progress.data.speed")


@contextmanager
def progress_bar(title: str, *, unit: str) -> Iterator[Report]:
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
        task = progress.add_task(title, total=None)
        yield lambda done, total: progress.update(task, completed=done, total=total)
