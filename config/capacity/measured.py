"""Rates out of `bench.json`, the file the benchmarks write."""

import json
from pathlib import Path

from config.capacity.planning import Rates

ACKS = "gate acks/s : pgbench, one row"
GRADES = "gradings/s of a 20-question exam, one worker process, to the same worker with claim size 1"
GATE_PROCESSES = 2  # the benchmark serves with as many as the product does


class CannotRead(ValueError):
    """The file does not say."""


def read_rates(file: Path) -> Rates:
    """Return what one process of each kind did; raises `CannotRead`."""
    try:
        ours = {row["figure"]: float(row["ours"]) for row in json.loads(file.read_text())}
        return Rates(acks=ours[ACKS] / GATE_PROCESSES, grades=ours[GRADES])
    except OSError as error:
        raise CannotRead(f"Cannot read {file}: {error.strerror}.") from error
    except KeyError as error:
        raise CannotRead(f"{file} has no row {error}. Run `make bench-gate bench-worker`.") from error
    except (ValueError, TypeError) as error:
        raise CannotRead(f"{file} is not a file of the benchmarks.") from error
