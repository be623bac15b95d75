"""The pools behind the gate as real processes, for tests that freeze and kill them, and the gate's own in front of them."""

import contextlib
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import psutil

from config.probe import find_missing_pools
from config.serving.sockets import POOLS
from tests.serving import ROOT, WebServer, serving
from tests.waiting import wait_until

APPLICATIONS = {"student": "config.pools:students", "pages": "config.pools:pages"}


class Pool:
    """One pool: gunicorn on a socket, with its worker process."""

    def __init__(self, name: str, environment: Mapping[str, str]) -> None:
        self._name, self._socket = name, environment[POOLS[name]]
        self._environment = dict(environment)
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it and wait until it answers."""
        bind = ("--bind", f"unix:{self._socket}", APPLICATIONS[self._name])
        command = [sys.executable, "-m", "gunicorn", "--config", "python:config.serve_pool", *bind]
        self._process = subprocess.Popen(command, cwd=ROOT, env=self._environment)
        wait_until(lambda: find_missing_pools({self._name: self._socket}) == [], seconds=60)

    def freeze(self) -> None:
        """Stop it where it stands: it takes connections and answers nothing."""
        for process in self._list():
            process.suspend()

    def thaw(self) -> None:
        """Let it go on."""
        for process in reversed(self._list()):
            process.resume()

    def kill(self) -> None:
        """End it at once."""
        for process in self._list():
            process.kill()
        if self._process is not None:
            self._process.wait()

    def _list(self) -> list[psutil.Process]:
        """Return the master first: it would start others."""
        if self._process is None or self._process.poll() is not None:
            return []
        master = psutil.Process(self._process.pid)
        return [master, *master.children()]


@contextlib.contextmanager
def serving_with_pools(environment: Mapping[str, str]) -> Iterator[tuple[WebServer, dict[str, Pool]]]:
    """Run the gate's process and both pools."""
    with tempfile.TemporaryDirectory(prefix="pools-") as folder, contextlib.ExitStack() as until_the_end:
        sockets = {variable: str(Path(folder) / f"{name}.sock") for name, variable in POOLS.items()}
        chosen = {**environment, "HTTPS": "false", **sockets}
        pools = {name: Pool(name, chosen) for name in POOLS}
        for pool in pools.values():
            until_the_end.callback(pool.kill)
            pool.start()
        yield until_the_end.enter_context(serving(chosen)), pools
