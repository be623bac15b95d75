"""Real commands of ours in processes of their own, that a test may kill, stop and resume."""

import contextlib
import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Self

from honcho.environ import parse_procfile

from tests.waiting import wait_until

ROOT = Path(__file__).resolve().parents[2]
SECONDS_TO_END = 60.0


class Running:
    """`manage.py …`, or another program of Python's, as a child process; whatever happens in the test, it is gone at the end of the block."""

    def __init__(
        self,
        *arguments: str,
        environment: Mapping[str, str],
        log: Path,
        program: Sequence[str] = ("manage.py",),
    ) -> None:
        self._log = log
        with log.open("ab") as output:
            self._process = subprocess.Popen(
                [sys.executable, *program, *arguments],
                cwd=ROOT,
                env=dict(environment),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._process.pid

    @property
    def output(self) -> str:
        """What it printed so far."""
        return self._log.read_text(encoding="utf-8", errors="replace")

    @property
    def is_frozen(self) -> bool:
        """Whether it was stopped by SIGSTOP (state T in /proc)."""
        stat = Path(f"/proc/{self._process.pid}/stat").read_text(encoding="ascii")
        return stat.rpartition(")")[2].split()[0] == "T"

    def catches(self, number: signal.Signals) -> bool:
        """Whether it is far enough to have a handler for this signal (the mask in /proc)."""
        status = Path(f"/proc/{self._process.pid}/status").read_text(encoding="ascii")
        (mask,) = (line.split()[1] for line in status.splitlines() if line.startswith("SigCgt:"))
        return bool(int(mask, 16) >> (number - 1) & 1)

    @property
    def has_ended(self) -> bool:
        """Whether it is gone."""
        return self._process.poll() is not None

    def send(self, number: signal.Signals) -> None:
        """Send it a signal."""
        os.kill(self._process.pid, number)

    def wait(self) -> int:
        """Wait for its end and return the exit code, negative for a signal."""
        wait_until(lambda: self.has_ended, seconds=SECONDS_TO_END)
        return self._process.wait()

    def wait_until_frozen(self) -> None:
        """Wait until it is stopped."""
        wait_until(lambda: self.is_frozen, seconds=SECONDS_TO_END)


@contextlib.contextmanager
def everything_running(environment: Mapping[str, str], folder: Path) -> Iterator[None]:
    """Run all that `make run` starts beside the web server, as the Procfile says; each writes a log of its own into the folder."""
    with contextlib.ExitStack() as running:
        for name, command in list_commands().items():
            log = folder / f"{name}.log"
            running.enter_context(Running(*command, environment=environment, log=log))
        yield


def list_commands() -> dict[str, list[str]]:
    """Return the arguments of each `manage.py` process of the Procfile, by its name there."""
    processes = parse_procfile((ROOT / "Procfile").read_text(encoding="utf-8")).processes
    split = {name: shlex.split(command) for name, command in processes.items()}
    return {name: words[2:] for name, words in split.items() if words[:2] == ["python", "manage.py"]}
