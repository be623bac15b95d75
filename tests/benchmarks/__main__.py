"""All benchmarks, one after the other, each in a process of its own; then one table of all figures."""

import subprocess
import sys

from tests.benchmarks.results import print_rows, read_rows
from tests.benchmarks.surroundings import get_results_folder

MODULES = ("gate", "worker", "log", "history")


def main() -> int:
    """Run them all even when one misses its reach; return 1 when any did."""
    codes = [
        subprocess.run([sys.executable, "-m", f"tests.benchmarks.{module}"], check=False).returncode
        for module in MODULES
    ]
    print_rows(read_rows(get_results_folder() / "bench.json"), title="All figures")
    return max(codes)


if __name__ == "__main__":
    sys.exit(main())
