"""All benchmarks, one after the other, each in a process of its own; then one table of all figures.

`python -m tests.benchmarks` runs everything, `python -m tests.benchmarks burst quorum` these two.
"""

import subprocess
import sys

from tests.benchmarks.results import print_rows, read_rows
from tests.benchmarks.surroundings import get_given_environment, get_results_folder

MODULES = (
    *("gate", "worker", "log", "history"),
    *("burst", "quorum", "overload", "refusal", "relay", "drain", "rescue"),
    *("cutover", "edits", "replay", "reports"),
)


def main() -> int:
    """Run them all, or those named, even when one misses its reach; return 1 when any did."""
    chosen = sys.argv[1:] or MODULES
    codes = [
        subprocess.run(
            [sys.executable, "-m", f"tests.benchmarks.{module}"], check=False, env=get_given_environment()
        ).returncode
        for module in chosen
    ]
    print_rows(read_rows(get_results_folder() / "bench.json"), title="All figures")
    return max(codes)


if __name__ == "__main__":
    sys.exit(main())
