"""`make run` itself: up, down, up again with its data, and clear words when it cannot."""

import errno
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import psycopg
import pytest

from config.postgres.place import OWNER_ROLE, Place
from config.processes.address import find_listening
from config.run import STOPPING, CannotRun, advise, check_port
from tests.waiting import is_alive

ROOT = Path(__file__).resolve().parents[2]
UP_WITHIN = 100  # seconds; a bound for a busy machine, not a measurement

pytestmark = [pytest.mark.process, pytest.mark.timeout(400), pytest.mark.xdist_group("run")]


class Running:
    """One `make run` in a terminal of its own, its output in a file."""

    def __init__(self, folder: Path, port: int, *command: str) -> None:
        self.folder, self.port = folder, port
        self.output = folder.parent / f"output-{time.monotonic_ns()}"
        with self.output.open("wb") as output:
            self.process = subprocess.Popen(
                command or ("make", "run"),
                cwd=ROOT,
                env=environment(folder, port),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def wait_until_up(self) -> None:
        end = time.monotonic() + UP_WITHIN
        while ask_health(self.port) != (200, {"status": "up", "missing": []}):
            assert self.process.poll() is None, self.text
            assert time.monotonic() < end, self.text
            time.sleep(0.1)

    def wait_until_said(self, words: str) -> None:
        end = time.monotonic() + UP_WITHIN
        while words not in self.text:
            assert time.monotonic() < end, self.text
            time.sleep(0.1)

    def press_ctrl_c(self) -> int:
        """What a terminal does: SIGINT to the whole foreground group."""
        os.killpg(self.process.pid, signal.SIGINT)
        return self.process.wait(UP_WITHIN)

    @property
    def text(self) -> str:
        return self.output.read_text()


def environment(folder: Path, port: int) -> dict[str, str]:
    """A bare machine's environment: nothing of the test session's own database or settings."""
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(folder.parent),
        "ENV_FILE": os.devnull,
        "HANDOVER_DATA": str(folder),
        "PORT": str(port),
    }


def run_probe(folder: Path, *pools: str) -> tuple[int, str]:
    asked = subprocess.run(
        [sys.executable, "-m", "config.probe", *pools],
        cwd=ROOT,
        env={**environment(folder, 0), "PORT": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    return asked.returncode, asked.stdout


def ask_health(port: int) -> tuple[int, object]:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz", timeout=5) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        with error:
            return error.code, json.load(error)
    except OSError:
        return 0, None


def list_processes(folder: Path) -> list[psutil.Process]:
    """Everything that works on this data folder, by its environment or its arguments."""
    found = []
    for process in psutil.process_iter():
        try:
            if str(folder) in {process.environ().get("HANDOVER_DATA"), *process.cmdline()} or any(
                str(folder / "postgres") == argument for argument in process.cmdline()
            ):
                found.append(process)
        except (psutil.NoSuchProcess, psutil.AccessDenied):
            continue
    return list(filter(is_alive, found))


def wait_until_gone(folder: Path) -> None:
    _, alive = psutil.wait_procs(list_processes(folder), timeout=60)
    assert alive == []
    assert list_processes(folder) == []


def count_people(folder: Path) -> int:
    with psycopg.connect(Place(folder).url(OWNER_ROLE)) as connection:
        row = connection.execute("SELECT count(*) FROM gradebook_user").fetchone()
        assert row is not None
        return int(row[0])


@pytest.fixture
def port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture
def folder() -> Iterator[Path]:
    """A place for data of one test."""
    with data_folder() as folder:
        yield folder


@pytest.fixture(scope="module")
def shared_folder() -> Iterator[Path]:
    """A place for data of all tests that bring the product up: the first makes the database and the school, the others find both."""
    with data_folder() as folder:
        yield folder


@pytest.fixture
def kept(shared_folder: Path) -> Iterator[Path]:
    """The same, with nothing left running on it after the test."""
    yield shared_folder
    end_all(shared_folder)


@contextmanager
def data_folder() -> Iterator[Path]:
    parent = Path(tempfile.mkdtemp(prefix="handover-run-"))
    yield parent / "data"
    end_all(parent / "data")
    shutil.rmtree(parent)


def end_all(folder: Path) -> None:
    processes = list_processes(folder)
    for process in processes:
        process.kill()
    psutil.wait_procs(processes, timeout=10)


def test_run_goes_up_alone_restarts_what_falls_and_stops_on_ctrl_c(kept: Path, port: int) -> None:
    first = Running(kept, port)
    first.wait_until_up()
    first.wait_until_said("Ctrl-C stops everything.")
    assert f"Handover is up at http://127.0.0.1:{port}/" in first.text
    assert re.search(r"password +handover-demo", first.text)
    assert count_people(kept) > 60
    assert find_listening(kept, host="", port=0) == ("127.0.0.1", port)
    for pools in ([], ["student", "pages"]):  # from another terminal, which knows the folder and nothing else
        assert run_probe(kept, *pools) == (0, "up\n")

    expect_second_start_is_refused(kept, port)
    killed_worker = next(p for p in list_processes(kept) if "run_worker" in p.cmdline())
    killed_worker.kill()
    first.wait_until_said("ended with -9; again in 1 s")

    first.press_ctrl_c()  # what make then says of it is make's own affair
    assert STOPPING in first.text
    assert "Stopped. Everything that was handed in is kept." in first.text
    assert list_processes(kept) == []
    assert ask_health(port) == (0, None)
    assert not (kept / "address.json").exists()


def expect_second_start_is_refused(folder: Path, port: int) -> None:
    """It names the process that is in its way, which goes on."""
    second = Running(folder, port + 1, sys.executable, "-m", "config")
    assert second.process.wait(UP_WITHIN) == 1
    named = re.fullmatch(
        r"handover: Another Handover \(process (\d+)\) is using (.+)\. "
        r"Stop it first \(Ctrl-C in its window\), or choose another folder with HANDOVER_DATA\.\n",
        second.text,
    )
    assert named is not None, second.text
    assert psutil.Process(int(named[1])).cmdline()[1:] == ["-m", "config"]
    assert named[2] == str(folder)
    assert ask_health(port)[0] == 200


def test_killed_supervisor_leaves_nothing_and_the_next_start_works_on_its_data(kept: Path, port: int) -> None:
    killed = Running(kept, port, sys.executable, "-m", "config")
    killed.wait_until_up()
    people = count_people(kept)
    killed.process.kill()
    killed.process.wait()
    if sys.platform == "linux":  # elsewhere the next start stops them
        wait_until_gone(kept)

    again = Running(kept, port, sys.executable, "-m", "config")
    again.wait_until_up()
    assert count_people(kept) == people > 60
    assert "this first time" not in again.text
    again.process.send_signal(signal.SIGTERM)
    assert again.process.wait(UP_WITHIN) == 0
    assert "Traceback" not in again.text
    wait_until_gone(kept)


def test_taken_port_is_named_before_anything_is_started(folder: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = int(taken.getsockname()[1])
        run = Running(folder, port, sys.executable, "-m", "config")
        assert run.process.wait(UP_WITHIN) == 1
    assert run.text == (
        f"handover: Cannot listen on 127.0.0.1 port {port} (Address already in use). "
        f"Choose another: PORT={port + 1} make run\n"
    )
    assert not (folder / "postgres").exists()


@pytest.mark.parametrize(
    ("host", "port", "advice"),
    [
        ("nowhere.invalid", 8125, "HOST is an address of this machine: 127.0.0.1"),
        ("192.0.2.1", 8125, "HOST is an address of this machine: 127.0.0.1"),  # RFC 5737: nobody's
        ("2001:db8::1", 8125, "HOST is an address of this machine: 127.0.0.1"),  # RFC 3849: nobody's
        ("::1:x", 8125, "HOST is an address of this machine: 127.0.0.1"),
        ("a" * 64, 8125, "HOST is an address of this machine: 127.0.0.1"),
    ],
)
def test_host_that_is_not_ours_is_told_from_a_taken_port(host: str, port: int, advice: str) -> None:
    with pytest.raises(CannotRun, match=rf"^Cannot listen on {host} port {port} \(.+\)\. {advice}"):
        check_port(host, port)


def test_last_port_when_taken_leads_to_one_that_exists() -> None:
    assert advise(OSError(errno.EADDRINUSE, ""), 65_535) == "Choose another: PORT=65534 make run"
    assert advise(OSError(errno.EACCES, ""), 80) == "Choose one from 1024 on: PORT=8000 make run"


@pytest.mark.parametrize("port", [0, 70_000])
def test_number_that_is_no_port_is_named(folder: Path, port: int) -> None:
    run = Running(folder, port, sys.executable, "-m", "config")
    assert run.process.wait(UP_WITHIN) == 1
    assert run.text == (
        "handover: A setting in the environment or in .env cannot be read: "
        f"PORT: must be a whole number, from 1 to 65535, not '{port}'. See .env.example.\n"
    )


def test_setting_that_cannot_be_read_is_one_line() -> None:
    run = subprocess.run(
        [sys.executable, "-m", "config"],
        cwd=ROOT,
        env={"PATH": os.environ["PATH"], "ENV_FILE": os.devnull, "PORT": "eight thousand"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (run.returncode, run.stdout) == (1, "")
    assert run.stderr == (
        "handover: A setting in the environment or in .env cannot be read: "
        "PORT: must be a whole number, from 1 to 65535, not 'eight thousand'. See .env.example.\n"
    )


def test_folder_that_cannot_be_written_is_named() -> None:
    place = Path("/sys/handover" if sys.platform == "linux" else "/System/handover")
    run = subprocess.run(
        [sys.executable, "-m", "config"],
        cwd=ROOT,
        env={**environment(place, 8000), "HOME": "/"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 1
    assert run.stderr.startswith(f"handover: Cannot write to {place}")
    assert run.stderr.count("\n") == 1
