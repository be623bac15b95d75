"""What an edit of one cell costs, and what it leaves behind: beside the audit libraries of Django, and beside copies of the whole class.

The libraries watch a `Mark` with our keys and columns, as their manuals set them up, each in a database of its own on the same server
(`tests/benchmarks/audits/`). Ours is `save_marks`, with what they do not ask: who may, whether the term is open, what the page was
based on. All of them save in turns, 500 cells at a time.
"""

import contextlib
import functools
import statistics
from collections.abc import Iterator

from gradebook.models import MarkSnapshot
from gradebook.snapshots.phases import Phase
from tests.benchmarks.audits.classroom import KEPT_FOR_AN_EDIT, Classroom, measure_size
from tests.benchmarks.audits.library import LIBRARIES, Library
from tests.benchmarks.harness import BenchDatabase, in_turns, run
from tests.benchmarks.results import Row
from tests.cutover.copies import enter

SMALL, LARGE = (30, 20), (60, 100)  # students, columns
EDITS, AT_A_TIME, COPIED_EDITS = 10_000, 500, 500
DRAWERS, DRAWER_ROUNDS = 30, 5
MOST_TIMES_THE_BYTES = 3  # the libraries keep no log
# simple_history asks a query a line.
PART_OF_THEIR_DRAWER = dict.fromkeys(LIBRARIES, 1 / 5) | {"simple_history": 1 / 20}


def measure(database: BenchDatabase) -> Iterator[Row]:
    """Edit the same class everywhere, open the drawers, then edit where copies are written."""
    room = Classroom(*SMALL)
    with contextlib.ExitStack() as stack:
        libraries = [stack.enter_context(Library.at_work(name, database.cluster)) for name in LIBRARIES]
        for library in libraries:
            library.install(*SMALL)
        before = measure_size(KEPT_FOR_AN_EDIT), [library.measure_size() for library in libraries]
        yield from _measure_saves(room, libraries)
        kept = (measure_size(KEPT_FOR_AN_EDIT) - before[0]) / EDITS
        for library, size in zip(libraries, before[1], strict=True):
            yield _compare_bytes(kept, library, (library.measure_size() - size) / EDITS)
        yield from _measure_drawers(room, libraries)
    yield from _measure_beside_copies(room, kept)


def _measure_saves(room: Classroom, libraries: list[Library]) -> Iterator[Row]:
    def save(editor: Classroom | Library) -> float:
        return statistics.median(editor.edit(AT_A_TIME))

    pairs = in_turns(
        functools.partial(save, room),
        {library.name: functools.partial(save, library) for library in libraries},
        rounds=EDITS // AT_A_TIME,
    )
    for name, pair in pairs.items():
        yield Row.of(f"save of one cell, to {name} (seconds)", *pair, reach=1, at_most=True)


def _compare_bytes(kept: float, library: Library, theirs: float) -> Row:
    figure = f"bytes kept for an edit of one cell, to {library.name}"
    return Row.of(figure, kept, theirs, reach=MOST_TIMES_THE_BYTES, at_most=True)


def _measure_drawers(room: Classroom, libraries: list[Library]) -> Iterator[Row]:
    queries = {library.name: library.count_queries_of_drawer() for library in libraries}

    def read(reader: Classroom | Library) -> float:
        return statistics.median(reader.open_drawer(DRAWERS))

    pairs = in_turns(
        functools.partial(read, room),
        {library.name: functools.partial(read, library) for library in libraries},
        rounds=DRAWER_ROUNDS,
    )
    for name, pair in pairs.items():
        figure = f"drawer of the newest 50, to {name} and its {queries[name]} queries (seconds)"
        yield Row.of(figure, *pair, reach=PART_OF_THEIR_DRAWER[name], at_most=True)


def _measure_beside_copies(small: Classroom, kept: float) -> Iterator[Row]:
    """Compare what an edit keeps with a copy of the class, in a small class and in a large one."""
    large = Classroom(*LARGE)
    kept_large = large.measure_growth(EDITS, KEPT_FOR_AN_EDIT)
    enter(Phase.BESIDE)
    MarkSnapshot.objects.bulk_create([small.make_copy(), large.make_copy()])  # so that both take part
    copies = small.measure_growth(COPIED_EDITS, ("gradebook_marksnapshot",))
    copies_large = large.measure_growth(COPIED_EDITS, ("gradebook_marksnapshot",))
    figure = "bytes kept for an edit of one cell (mark, event, position, history)"
    yield Row.of(f"{figure}, 30 by 20, to a copy of the class", kept, copies, reach=0.25, at_most=True)
    yield Row.of(
        f"{figure}, 60 by 100, to a copy of the class", kept_large, copies_large, reach=0.25, at_most=True
    )
    yield Row.of(f"{figure}, 60 by 100, to 30 by 20", kept_large, kept, reach=1.05, at_most=True)


if __name__ == "__main__":
    run("edits", measure)
