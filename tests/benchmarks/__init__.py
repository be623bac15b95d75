"""Benchmarks: every figure is a ratio to a reference measured in the same run, never seconds.

`python -m tests.benchmarks` runs all, `python -m tests.benchmarks.log` one. Importing this package points Django at a throw-away
server (started by `harness.bench_database`), so that a benchmark imports models at its top like any other module.
"""

from tests.benchmarks.surroundings import set_up_django

set_up_django()
