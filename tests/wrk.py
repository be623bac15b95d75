"""wrk as the load of a rate: hand-ins from a client written in C, as `pgbench` is, that leaves the processor to what is measured.

Debian's package (`make wrk`); without it a benchmark ends at once and says so. wrk knows closed loops only, so what is sent on a schedule is
`tests.load`'s business. It counts what was refused (400 and more) apart from the rest; that the rest were receipts, each for a submission of
its own, is for the caller to hold against the tables.
"""

import dataclasses
import json
import shutil
import subprocess
from pathlib import Path

_SCRIPT = Path(__file__).with_name("hand_in.lua")
_EXHAUSTED = 3  # exit code of the script
_SECONDS_TO_ANSWER = 3  # after the last request was sent; wrk runs for whole seconds


@dataclasses.dataclass(frozen=True, slots=True)
class WrkRun:
    """What one run saw: answers below 400, in seconds from the first request to the latest moment of the last answer; latencies in ms."""

    acknowledged: int
    seconds: float
    p50_ms: float
    p99_ms: float

    @property
    def rate(self) -> float:
        """Return the acknowledgements a second."""
        return self.acknowledged / self.seconds


def run_wrk(port: int, file: Path, *, connections: int, seconds: int) -> WrkRun:
    """Send the file's requests, each once, the next of a connection when its last one is answered.

    Any answer but an acknowledgement makes the run worthless, as does a connection that fails: both raise.
    """
    program = shutil.which("wrk")
    if program is None:
        raise RuntimeError(
            "This benchmark needs wrk, which `make wrk` installs (Debian: apt-get install wrk)."
        )
    command = [
        *(program, "--threads", "1", "--connections", str(connections), "--timeout", "30s"),
        *("--duration", f"{seconds + _SECONDS_TO_ANSWER}s", "--script", str(_SCRIPT)),
        *(f"http://127.0.0.1:{port}", "--", str(file), str(seconds)),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode == _EXHAUSTED:
        raise RuntimeError("Every request had been sent before the time was over: make more of them ready.")
    if done.returncode != 0:
        raise RuntimeError(f"wrk ended with {done.returncode}: {done.stderr.strip()}")
    return read_report(done.stdout, seconds)


def read_report(text: str, seconds: float) -> WrkRun:
    """Read what the script wrote last; raises `RuntimeError` unless all went well."""
    report = json.loads(text.strip().splitlines()[-1])
    if report["refused"] or report["failed"] or not report["answers"]:
        raise RuntimeError(f"Expected acknowledgements only, got {report}.")
    return WrkRun(
        acknowledged=report["answers"],
        seconds=seconds + report["max_us"] / 1e6,
        p50_ms=report["p50_us"] / 1e3,
        p99_ms=report["p99_us"] / 1e3,
    )
