"""Real brokers for the tests: Redis and RabbitMQ on free ports of the loopback, in folders of their own, killed and restarted at will.

A missing server is an error and not a skip: what is promised with a broker must be seen with that broker (`make test` installs both).
"""

import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Self

import pytest
from kombu.connection import Connection

from tests.serving import find_free_port
from tests.waiting import wait_until

PLACES = os.pathsep.join(("/usr/lib/rabbitmq/bin", "/usr/sbin", "/usr/local/sbin", "/opt/homebrew/sbin"))
START_SECONDS = 60.0
QUEUE = "handover"


class Broker(ABC):
    """One server. `url` stays the same over restarts."""

    def __init__(self) -> None:
        self.port = find_free_port()
        self.folder = Path(tempfile.mkdtemp(prefix="handover-broker-"))
        self._processes: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> Self:
        try:
            self.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    @property
    @abstractmethod
    def url(self) -> str:
        """Its address for Celery."""

    @abstractmethod
    def start(self) -> None:
        """Start it and wait until it answers."""

    @abstractmethod
    def empty(self) -> None:
        """Take its queue away, with everything in it."""

    def kill(self) -> None:
        """End it at once, as a failing machine would."""
        for process in reversed(self._processes):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        self._processes.clear()

    def lose_everything(self) -> None:
        """Kill it and remove all it had stored, so that the next start finds nothing."""
        self.kill()
        shutil.rmtree(self.folder)
        self.folder.mkdir()

    def freeze(self) -> None:
        """Stop its processes without ending them: it takes connections and bytes, and answers nothing."""
        for process in self._processes:
            os.killpg(process.pid, signal.SIGSTOP)

    def thaw(self) -> None:
        """Let it go on."""
        for process in self._processes:
            os.killpg(process.pid, signal.SIGCONT)

    def count_messages(self) -> int:
        """Return how many messages wait in the queue; 0 where there is no such queue."""
        with Connection(self.url) as connection:
            try:
                return int(connection.default_channel.queue_declare(QUEUE, passive=True).message_count)
            except connection.channel_errors:
                return 0

    def _launch(self, command: Sequence[str], environment: Mapping[str, str] | None = None) -> None:
        with (self.folder / "output.log").open("ab") as output:
            process = subprocess.Popen(
                command,
                cwd=self.folder,
                env={**os.environ, **(environment or {})},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self._processes.append(process)

    def _wait(self) -> None:
        def answers() -> bool:
            for process in self._processes:
                output = (self.folder / "output.log").read_text(errors="replace")
                assert process.poll() is None, f"The broker ended at once: {output}"
            with contextlib.suppress(OSError), Connection(self.url, connect_timeout=5) as connection:
                connection.connect()
                return True
            return False

        wait_until(answers, seconds=START_SECONDS)


class Redis(Broker):
    """Redis that keeps everything in memory: what it forgets in a crash, it forgets here too."""

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    def start(self) -> None:
        options = {"port": self.port, "bind": "127.0.0.1", "save": "", "appendonly": "no", "dir": self.folder}
        arguments = [part for name, value in options.items() for part in (f"--{name}", str(value))]
        self._launch([find_program("redis-server"), *arguments])
        self._wait()

    def empty(self) -> None:
        # kombu's `queue_delete` deletes what this very connection has declared, which is nothing.
        with Connection(self.url) as connection:
            connection.default_channel.client.flushdb()


class RabbitMQ(Broker):
    """RabbitMQ with a node name, a cookie and an `epmd` of its own, so that it meets no other Erlang on this machine."""

    def __init__(self) -> None:
        super().__init__()
        self._epmd_port, self._distribution_port = find_free_port(), find_free_port()

    @property
    def url(self) -> str:
        return f"amqp://guest:guest@127.0.0.1:{self.port}//"

    def start(self) -> None:
        environment = {
            "HOME": str(self.folder),
            "ERL_EPMD_PORT": str(self._epmd_port),
            "ERL_EPMD_ADDRESS": "127.0.0.1",
            "RABBITMQ_NODENAME": f"handover{self.port}@localhost",
            "RABBITMQ_NODE_IP_ADDRESS": "127.0.0.1",
            "RABBITMQ_NODE_PORT": str(self.port),
            "RABBITMQ_DIST_PORT": str(self._distribution_port),
            "RABBITMQ_MNESIA_BASE": str(self.folder / "mnesia"),
            "RABBITMQ_LOG_BASE": str(self.folder / "log"),
            "RABBITMQ_CONFIG_FILE": str(self.folder / "rabbitmq.conf"),
            "RABBITMQ_CONF_ENV_FILE": str(self.folder / "none"),
            "RABBITMQ_ENABLED_PLUGINS_FILE": str(self.folder / "plugins"),
            "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": "+S 1:1 +sbwt none",  # busy schedulers would starve the tests
        }
        (self.folder / "rabbitmq.conf").write_text("disk_free_limit.absolute = 1MB\n")
        (self.folder / "plugins").write_text("[].\n")
        self._launch([find_program("epmd")], environment)
        self._launch([find_program("rabbitmq-server")], environment)
        self._wait()

    def empty(self) -> None:
        with Connection(self.url) as connection:
            connection.default_channel.queue_delete(QUEUE)


def find_program(name: str) -> str:
    """Return where a server's program is; missing, it fails the test."""
    found = shutil.which(name, path=PLACES) or shutil.which(name)
    if found is None:
        pytest.fail(f"There is no {name} on this machine: sh tests/install_brokers.sh")
    return found


@pytest.fixture(scope="session")
def redis() -> Iterator[Redis]:
    """A Redis for this test run. Whoever kills it starts it again."""
    with Redis() as broker:
        yield broker


@pytest.fixture(scope="session")
def rabbitmq() -> Iterator[RabbitMQ]:
    """A RabbitMQ for this test run. Whoever kills it starts it again."""
    with RabbitMQ() as broker:
        yield broker
