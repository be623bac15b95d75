"""The rows a benchmark leaves behind: on the screen, and in one `bench.json` that every benchmark adds to."""

import dataclasses
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Self

from rich.console import Console
from rich.table import Table


@dataclasses.dataclass(frozen=True, slots=True)
class Row:
    """One figure: `ratio` is ours to reference, `reach` the ratio it has to reach (or not to exceed), `ok` whether it does."""

    figure: str
    ours: float
    reference: float
    ratio: float
    reach: float
    ok: bool

    @classmethod
    def of(cls, figure: str, ours: float, reference: float, *, reach: float, at_most: bool = False) -> Self:
        """Make the row of a measured pair."""
        ratio = ours / reference
        return cls(figure, ours, reference, ratio, reach, ok=ratio <= reach if at_most else ratio >= reach)


def merge_rows(path: Path, rows: Iterable[Row]) -> None:
    """Put the rows into the file, in place of earlier ones of the same figure; the others stay. Never leaves half a file."""
    stored = json.loads(path.read_text()) if path.exists() else []
    merged = {row["figure"]: row for row in stored} | {row.figure: dataclasses.asdict(row) for row in rows}
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f"{path.name}.unfinished")
    unfinished.write_text(json.dumps(list(merged.values()), indent=2, ensure_ascii=False) + "\n")
    unfinished.replace(path)


def read_rows(path: Path) -> list[Row]:
    """Return the rows of all benchmarks that ever ran here."""
    return [Row(**row) for row in json.loads(path.read_text())] if path.exists() else []


def print_rows(rows: Iterable[Row], *, title: str) -> None:
    """Print rows as a table."""
    table = Table(title=title, title_justify="left")
    table.add_column("figure", overflow="fold")
    for heading in ("ours", "reference", "ratio", "reach", "ok"):
        table.add_column(heading, justify="right")
    for row in rows:
        numbers = (f"{row.ours:,.4g}", f"{row.reference:,.4g}", f"{row.ratio:.2f}", f"{row.reach:g}")
        table.add_row(row.figure, *numbers, "[green]yes[/]" if row.ok else "[bold red]no[/]")
    Console().print(table)
