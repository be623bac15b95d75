"""Runs the processes of the Procfile, restarts what falls over, stops all in good order.

honcho reads the Procfile and prints the lines; it does not supervise, because it ends everything as soon as one process ends, and a
worker that was killed must only be a pause (P9). Each process is a direct child in a session of its own: a Ctrl-C in the terminal
reaches only us, and the kernel tells the children when we are killed (`config.processes.tied`).
"""

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from honcho.colour import get_colours
from honcho.environ import parse_procfile
from honcho.printer import Message, Printer

from config.processes.tied import die_with_parent
from outbox.stopping import Stop

GRACE_SECONDS = 30.0
LONGEST_PAUSE_SECONDS = 30.0
HEALTHY_SECONDS = 60.0  # after so long a run, a fall is a new story and the pause starts small again
TURN_SECONDS = 0.2
QUICK_DEATH = "ended with {code}; again in {pause:.0f} s"


@dataclass
class Supervised:
    """One line of the Procfile and the process that runs it now."""

    name: str
    command: str
    colour: str
    child: subprocess.Popen[bytes] | None = None
    started_at: float = 0.0
    falls: int = 0
    start_again_at: float = field(default=0.0)

    @property
    def is_running(self) -> bool:
        """Say whether the process is there."""
        return self.child is not None and self.child.poll() is None


def pause_after(falls: int) -> float:
    """Return how many seconds to wait before starting again what fell this many times in a row: 1, 2, 4 … 30."""
    return min(LONGEST_PAUSE_SECONDS, 2.0 ** (falls - 1))


class Supervisor:
    """Keeps the Procfile's processes running until told to stop."""

    def __init__(
        self,
        procfile: Path,
        *more: Path,
        environment: Mapping[str, str],
        grace_seconds: float = GRACE_SECONDS,
    ) -> None:
        self._grace_seconds = grace_seconds
        colours = get_colours()
        text = "\n".join(each.read_text() for each in (procfile, *more))
        lines = parse_procfile(text).processes
        self.processes = [Supervised(name, command, next(colours)) for name, command in lines.items()]
        self._folder = procfile.parent
        self._environment = dict(environment)
        self._printer = Printer(sys.stdout, width=max(len(name) for name in lines))
        self._printing = threading.Lock()

    def run(self, stop: Stop, *, watch: Callable[[], None]) -> None:
        """Keep all processes running until `stop` is set, calling `watch` in every turn; then stop them all.

        Whatever `watch` raises ends the run too, after the processes were stopped.
        """
        try:
            while not stop.is_set:
                for process in self.processes:
                    self._keep_running(process)
                watch()
                stop.wait(TURN_SECONDS)
        finally:
            self.stop_all()

    def stop_all(self) -> None:
        """Ask every process to finish what it holds; after the grace, end it."""
        running = [process for process in self.processes if process.is_running]
        for process in running:
            _signal_group(process, signal.SIGTERM)
        until = time.monotonic() + self._grace_seconds
        for process in running:
            self._await_end(process, until)

    def list_pids(self) -> list[int]:
        """Return the process ids that run now."""
        return [process.child.pid for process in self.processes if process.child is not None]

    def say(self, text: str, *, by: Supervised | None = None) -> None:
        """Print a line as one of the processes, or as ourselves."""
        name, colour = (by.name, by.colour) if by else ("handover", None)
        with self._printing, contextlib.suppress(OSError):  # a closed terminal must not stop the school
            self._printer.write(Message("line", text, datetime.now(), name, colour))  # noqa: DTZ005 - a clock on the wall

    def announce(self, lines: Iterable[str]) -> None:
        """Print a block that belongs to nobody's output."""
        with self._printing, contextlib.suppress(OSError):
            print("", *lines, "", sep="\n", flush=True)

    def _keep_running(self, process: Supervised) -> None:
        if process.is_running:
            return
        if process.child is not None:
            self._note_fall(process, process.child.returncode)
        if time.monotonic() >= process.start_again_at:
            self._start(process)

    def _note_fall(self, process: Supervised, code: int) -> None:
        ran_well = time.monotonic() - process.started_at > HEALTHY_SECONDS
        process.falls = 1 if ran_well else process.falls + 1
        process.start_again_at = time.monotonic() + pause_after(process.falls)
        process.child = None
        self.say(QUICK_DEATH.format(code=code, pause=pause_after(process.falls)), by=process)

    def _start(self, process: Supervised) -> None:
        process.child = subprocess.Popen(
            ["/bin/sh", "-c", f"exec {process.command}"],
            cwd=self._folder,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            # The child only calls prctl and getppid, which no lock of another thread can hold up.
            preexec_fn=die_with_parent(signal.SIGTERM),  # noqa: PLW1509
        )
        process.started_at = time.monotonic()
        threading.Thread(target=self._relay_output, args=(process, process.child), daemon=True).start()

    def _relay_output(self, process: Supervised, child: subprocess.Popen[bytes]) -> None:
        assert child.stdout is not None
        with child.stdout:
            for line in child.stdout:
                self.say(line.decode(errors="replace").rstrip("\n"), by=process)

    def _await_end(self, process: Supervised, until: float) -> None:
        assert process.child is not None
        try:
            process.child.wait(max(0.0, until - time.monotonic()))
        except subprocess.TimeoutExpired:
            self.say(f"did not end within {self._grace_seconds:.0f} s and was killed", by=process)
            _signal_group(process, signal.SIGKILL)
            process.child.wait()


def _signal_group(process: Supervised, sign: signal.Signals) -> None:
    assert process.child is not None
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.child.pid, sign)
