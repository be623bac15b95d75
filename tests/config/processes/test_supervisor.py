"""The supervisor: what falls is started again, what is told to stop finishes, what does not is ended."""

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from config.processes import leftovers
from config.processes.supervisor import Supervisor, pause_after
from outbox.stopping import Stop
from tests.waiting import is_alive

pytestmark = pytest.mark.process


class Enough(Exception):
    """Raised by a test's own watch when it has waited too long."""


def supervise(
    folder: Path, procfile: str, until: Callable[[Supervisor], bool], *, grace: float = 20
) -> Supervisor:
    """Run this Procfile until the condition holds, then stop it in good order; fail after 20 seconds."""
    (folder / "Procfile").write_text(procfile)
    supervisor = Supervisor(folder / "Procfile", environment=os.environ, grace_seconds=grace)
    end = time.monotonic() + 20
    with Stop() as stop:

        def watch() -> None:
            if until(supervisor):
                stop.set()
            elif time.monotonic() > end:
                raise Enough

        supervisor.run(stop, watch=watch)
    return supervisor


def lines_of(file: Path) -> list[str]:
    return file.read_text().splitlines() if file.exists() else []


def has_ended(pid: int) -> bool:
    """Wait until a process is gone, or only waits for its parent to notice; at most ten seconds."""
    end = time.monotonic() + 10
    while time.monotonic() < end:
        try:
            if not is_alive(psutil.Process(pid)):
                return True
        except psutil.NoSuchProcess:
            return True
        time.sleep(0.02)
    return False


def test_fallen_process_is_started_again_and_its_neighbour_is_not_touched(tmp_path: Path) -> None:
    fallen, neighbour = tmp_path / "fallen", tmp_path / "neighbour"
    killed: list[int] = []

    def until(supervisor: Supervisor) -> bool:
        started = lines_of(fallen)
        if len(started) == 1 and not killed:
            killed.append(int(started[0]))
            os.kill(killed[0], signal.SIGKILL)
        return len(started) == 2 and len(lines_of(neighbour)) == 1

    supervise(
        tmp_path,
        f"a: sh -c 'echo $$ >> {fallen}; exec sleep 600'\nb: sh -c 'echo $$ >> {neighbour}; exec sleep 600'\n",
        until,
    )
    assert len(lines_of(fallen)) == 2
    assert lines_of(fallen)[0] != lines_of(fallen)[1]
    assert len(lines_of(neighbour)) == 1


def test_stopped_process_finishes_what_it_holds(tmp_path: Path) -> None:
    log = tmp_path / "log"
    slow = f"a: sh -c 'trap \"sleep 1; echo finished >> {log}; exit 0\" TERM; echo up >> {log}; while true; do sleep 0.05; done'\n"
    supervise(tmp_path, slow, lambda _: lines_of(log) == ["up"])
    assert lines_of(log) == ["up", "finished"]


def test_process_that_does_not_stop_is_killed_with_its_children(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "log"
    deaf = f"a: sh -c 'trap \"\" TERM; sleep 600 & echo $! >> {log}; while true; do sleep 0.05; done'\n"
    supervise(tmp_path, deaf, lambda _: len(lines_of(log)) == 1, grace=1)
    assert has_ended(int(lines_of(log)[0]))
    assert "did not end within 1 s and was killed" in capsys.readouterr().out


def test_whatever_the_watch_raises_stops_the_processes_first(tmp_path: Path) -> None:
    log = tmp_path / "log"

    def until(supervisor: Supervisor) -> bool:
        if lines_of(log):
            raise ZeroDivisionError
        return False

    with pytest.raises(ZeroDivisionError):
        supervise(tmp_path, f"a: sh -c 'echo $$ >> {log}; exec sleep 600'\n", until)
    assert has_ended(int(lines_of(log)[0]))


def test_output_is_printed_with_the_name_of_its_process(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    done = tmp_path / "done"
    printed: list[str] = []

    def until(supervisor: Supervisor) -> bool:
        printed.append(capsys.readouterr().out)
        return "broken" in "".join(printed) and done.exists()

    supervise(
        tmp_path,
        f"web: sh -c 'echo hello; printf \"broken \\\\377\\n\" >&2; touch {done}; exec sleep 600'\nlonger: sleep 600\n",
        until,
    )
    lines = [line.split(" ", 1)[1] for line in "".join(printed).splitlines() if "web" in line]
    assert lines[:2] == ["web    | hello", "web    | broken \ufffd"]


@pytest.mark.parametrize(("falls", "seconds"), [(1, 1), (2, 2), (3, 4), (5, 16), (6, 30), (60, 30)])
def test_pause_grows_with_every_fall_and_is_bounded(falls: int, seconds: float) -> None:
    assert pause_after(falls) == seconds


@pytest.fixture
def sleeper() -> Iterator[psutil.Process]:
    with subprocess.Popen(["sleep", "600"]) as process:
        yield psutil.Process(process.pid)
        process.kill()


def test_leftover_is_stopped_and_said(tmp_path: Path, sleeper: psutil.Process) -> None:
    leftovers.record(tmp_path, [sleeper.pid])
    assert leftovers.stop_all(tmp_path) == ["1 processes left over from a killed run were stopped first."]
    assert has_ended(sleeper.pid)
    assert leftovers.stop_all(tmp_path) == []


def test_number_that_the_kernel_gave_to_somebody_else_is_left_alone(
    tmp_path: Path, sleeper: psutil.Process
) -> None:
    leftovers.record(tmp_path, [sleeper.pid])
    file = tmp_path / "processes.json"
    began = sleeper.create_time()
    file.write_text(file.read_text().replace(str(began), str(began - 100)))
    assert leftovers.stop_all(tmp_path) == []
    assert sleeper.status() != psutil.STATUS_ZOMBIE


@pytest.mark.parametrize("text", ["", "{", "[1, 2]", "null"])
def test_broken_record_of_processes_is_ignored(tmp_path: Path, text: str) -> None:
    (tmp_path / "processes.json").write_text(text)
    assert leftovers.stop_all(tmp_path) == []
