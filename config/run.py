"""`make run`: from an installed virtualenv to a running Handover, and back to nothing on Ctrl-C.

The order matters: nobody else uses the data folder, nothing of a killed run is left, the port is free, the database runs, its schema
and our keys are there; then the processes of the Procfile. On the way down the processes end first and the database last.
Every refusal is one line that says what to do.
"""

import errno
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

from config import settings
from config.postgres import Cluster, PostgresError
from config.postgres.errors import describe_os_error
from config.postgres.place import APP_ROLE, NODE_NAMES, OWNER_ROLE, SUPERUSER, TrioPlace
from config.postgres.roles import ensure_database
from config.postgres.trio import Trio
from config.processes import leftovers
from config.processes.address import noted
from config.processes.lock import FolderInUse, FolderLock
from config.processes.supervisor import TURN_SECONDS, Supervisor
from config.serving.sockets import POOLS, make_socket_folder
from config.welcome import LOOPBACK, Welcome
from outbox.stopping import SIGNALS, Stop, stop_on_signals

_PRIVATE = ("mail", "rehearsals", "attachments")  # folders with people's names and work in them
STOPPING = "\nhandover: Stopping. What is in hand is finished first, which may take half a minute.\n"
LAST_PORT, FREE_FOR_ALL = 65_535, 1_024  # below the second only root may listen


class CannotRun(Exception):
    """Something on this machine is in the way; the message says what, and what to do."""


def main(what: str = "") -> int:
    """Run until told to stop, and return the exit code.

    On one server, with "cluster" on a primary with two standbys; with "database" the one server and nothing else.
    """
    try:
        with stop_on_signals(list_stop_signals(), saying=STOPPING) as stop:
            if what == "database":
                _keep_database(stop)
            else:
                _run(stop, as_cluster=what == "cluster")
    except (CannotRun, FolderInUse, PostgresError) as problem:
        print(f"handover: {problem}", file=sys.stderr)
        return 1
    except OSError as error:
        print(
            f"handover: {describe_os_error(error, Path(error.filename or settings.DATA_DIR))}",
            file=sys.stderr,
        )
        return 1
    return 0


def list_stop_signals() -> tuple[signal.Signals, ...]:
    """Return what stops us: Ctrl-C, `kill`, and the end of the terminal, unless `nohup` said that it does not matter."""
    ignored = signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    return SIGNALS if ignored else (*SIGNALS, signal.SIGHUP)


def _run(stop: Stop, *, as_cluster: bool) -> None:
    with ExitStack() as until_the_end:
        _move_in(until_the_end)
        check_port(settings.HOST, settings.PORT)
        until_the_end.enter_context(noted(settings.DATA_DIR, host=settings.HOST, port=settings.PORT))
        cluster = until_the_end.enter_context(_cluster() if as_cluster else _database())
        environment = make_environment(cluster)
        if not stop.is_set:
            _prepare(environment, demo=may_have_demo(cluster))
        if stop.is_set:
            _say("Stopped before anything was served. Start it again whenever you like.")
        else:
            _supervise(stop, cluster, environment)


def _keep_database(stop: Stop) -> None:
    """Run the embedded server alone, for somebody who loads a backup."""
    if not settings.EMBEDDED:
        raise CannotRun("DATABASE_URL names a server; make database is about the embedded one. Unset it.")
    with ExitStack() as until_the_end:
        _move_in(until_the_end)
        cluster = until_the_end.enter_context(_database())
        assert cluster is not None
        _say(f"The database runs, and nothing else, at {cluster.url(SUPERUSER)} until Ctrl-C.")
        while not stop.wait(TURN_SECONDS):
            cluster.check_running()


def may_have_demo(cluster: Cluster | Trio | None) -> bool:
    """Say whether a demo school, whose passwords everybody knows, may be made: on our own server, out of others' reach.

    Loopback alone is no such place: a proxy beside us hands others on, and ALLOWED_HOSTS says by which names they come.
    """
    return settings.DEBUG or (cluster is not None and settings.HOST in LOOPBACK and not settings.NAMED_HOSTS)


def list_procfiles() -> list[Path]:
    """Return which processes to keep: the gate's, the pools behind it, and with a broker Celery's."""
    names = ["Procfile", "Procfile.pools", *(["Procfile.broker"] if settings.CELERY_BROKER_URL else [])]
    return [settings.BASE_DIR / name for name in names]


def _supervise(stop: Stop, cluster: Cluster | Trio | None, environment: Mapping[str, str]) -> None:
    supervisor = Supervisor(*list_procfiles(), environment=environment)
    sockets = {name: environment[variable] for name, variable in POOLS.items()}
    welcome = Welcome(supervisor, environment["DATABASE_URL"], pools=sockets)

    def watch() -> None:
        leftovers.record(settings.DATA_DIR, supervisor.list_pids())
        if isinstance(cluster, Trio):
            for line in cluster.keep_running():
                supervisor.say(line)
        elif cluster is not None:
            cluster.check_running()
        welcome.watch()

    supervisor.run(stop, watch=watch)
    leftovers.forget(settings.DATA_DIR)
    _say("Stopped. Everything that was handed in is kept.")


def _move_in(until_the_end: ExitStack) -> None:
    """Keep everybody else out of the data folder, and stop what a killed run has left in it."""
    lock = _take_folder(settings.DATA_DIR)
    until_the_end.callback(lock.release)
    for note in leftovers.stop_all(settings.DATA_DIR):
        _say(note)
    for name in _PRIVATE:
        (settings.DATA_DIR / name).mkdir(mode=0o700, exist_ok=True)
        (settings.DATA_DIR / name).chmod(0o700)


def _take_folder(folder: Path) -> FolderLock:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        return FolderLock(folder).acquire()
    except OSError as error:
        raise describe_os_error(error, folder) from error


def check_port(host: str, port: int) -> None:
    """Raise `CannotRun` with what to do, unless somebody may listen there."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except (OSError, UnicodeError) as error:
            reason = (error.strerror if isinstance(error, OSError) else "") or str(error)
            raise CannotRun(
                f"Cannot listen on {host} port {port} ({reason}). {advise(error, port)}"
            ) from error


def advise(error: Exception, port: int) -> str:
    """Say what to choose instead: another port where it is the port's fault, else another host."""
    match error:
        case OSError(errno=errno.EADDRINUSE):
            return f"Choose another: PORT={port + 1 if port < LAST_PORT else port - 1} make run"
        case OSError(errno=errno.EACCES):
            return f"Choose one from {FREE_FOR_ALL} on: PORT=8000 make run"
    return "HOST is an address of this machine: 127.0.0.1 (or ::1) for itself alone, 0.0.0.0 (or ::) for its networks."


@contextmanager
def _database() -> Iterator[Cluster | None]:
    """Run the embedded server, unless DATABASE_URL names another one."""
    if not settings.EMBEDDED:
        yield None
        return
    TrioPlace(settings.DATA_DIR / "cluster").marker.unlink(missing_ok=True)  # a killed `make cluster` left it
    cluster = Cluster(settings.DATA_DIR)
    try:
        cluster.start()
        for note in cluster.notes:
            _say(note)
        ensure_database(cluster)
        yield cluster
    finally:
        cluster.stop()


@contextmanager
def _cluster() -> Iterator[Trio]:
    """Run three embedded servers: a primary and two standbys."""
    if not settings.EMBEDDED:
        raise CannotRun("DATABASE_URL names a server, and make cluster brings its own three. Unset it.")
    trio = Trio(settings.DATA_DIR / "cluster")
    try:
        primary = trio.start()
        for note in trio.notes:
            _say(note)
        _say(
            f"Three database servers run: {primary.name} is the primary, the others have every acknowledged submission."
        )
        yield trio
    finally:
        trio.stop()


def make_environment(cluster: Cluster | Trio | None) -> dict[str, str]:
    """Return the environment of the processes: this one, our programs first in PATH, and the embedded addresses if any."""
    sockets = make_socket_folder(settings.DATA_DIR)
    environment = {
        "HTTPS": "false",
        "PYTHONUNBUFFERED": "1",
        **{variable: str(sockets / f"{name}.sock") for name, variable in POOLS.items()},
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}",
    }
    if cluster is not None:
        environment |= {"DATABASE_URL": cluster.url(APP_ROLE), "DATABASE_OWNER_URL": cluster.url(OWNER_ROLE)}
    if isinstance(cluster, Trio):
        environment |= {"HANDOVER_DURABILITY": "quorum", "HANDOVER_STANDBYS": ",".join(NODE_NAMES)}
    return environment


def _prepare(environment: Mapping[str, str], *, demo: bool) -> None:
    """Run `manage.py prepare` in a session of its own: a Ctrl-C lets it finish its migration, then we stop."""
    is_first = not (settings.KEYS_DIR / "secret_key").exists()
    _say(
        "Preparing keys, database and pages; this first time it may take a minute."
        if is_first
        else "Bringing database and pages to this version."
    )
    done = subprocess.run(
        [sys.executable, "manage.py", "prepare", *(["--demo"] if demo else [])],
        cwd=settings.BASE_DIR,
        env=environment,
        stdin=subprocess.DEVNULL,
        start_new_session=True,
        check=False,
    )
    if done.returncode != 0:
        raise CannotRun("The database could not be prepared; the reason is above.")


def _say(text: str) -> None:
    print(f"handover: {text}", flush=True)
