"""The queues as a benchmark sees them: how the work gets in, and which processes do it. Peers run in an environment of their own.

That environment is made below `HANDOVER_DATA`, from versions locked by hash; what is measured is what anybody gets who installs them.
"""

import contextlib
import dataclasses
import hashlib
import os
import subprocess
import sys
import venv
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import psycopg

from tests.benchmarks.peers.ours.apps import KIND
from tests.benchmarks.peers.place import EXAMS, WorkPlace
from tests.benchmarks.surroundings import get_results_folder

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
LOCKED = HERE / "requirements.txt"
ENQUEUE = """
    INSERT INTO outbox_job (tenant_id, group_id, job_id, kind, subject_id)
    SELECT lpad('1', 32, '0')::uuid, lpad(to_hex(1000 + id %% %(exams)s), 32, '0')::uuid,
           md5('bench' || id)::uuid, %(kind)s, lpad(to_hex(id), 32, '0')::uuid
    FROM bench_submission
"""
FORGET = "TRUNCATE outbox_job, outbox_finishedjob"


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Crew:
    """One queue in one way of running it: with so many worker `processes`, and `beside` them what its own manual asks for."""

    name: str
    fill: Callable[[], None]
    worker: Sequence[str]
    environment: Mapping[str, str]
    beside: Sequence[Sequence[str]] = ()
    processes: int = 1
    folder: Path = HERE / "apps"

    @contextlib.contextmanager
    def working(self, *, gated: bool = False) -> Iterator[subprocess.Popen[bytes]]:
        """Run one of the workers for the length of the block. It has a process group of its own, which is killed at the end."""
        environment = dict(self.environment) | ({"PEER_GATED": "1"} if gated else {})
        with self._running(self.worker, environment) as process:
            yield process

    @contextlib.contextmanager
    def helpers(self) -> Iterator[None]:
        """Run what has to run beside the workers."""
        with contextlib.ExitStack() as stack:
            for command in self.beside:
                stack.enter_context(self._running(command, dict(self.environment)))
            yield

    @contextlib.contextmanager
    def _running(
        self, command: Sequence[str], environment: dict[str, str]
    ) -> Iterator[subprocess.Popen[bytes]]:
        process = subprocess.Popen(
            command,
            cwd=self.folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            yield process
        finally:
            kill_group(process)


def kill_group(process: subprocess.Popen[bytes] | subprocess.Popen[str]) -> None:
    """Kill -9 a process and the children it has made, as a machine that fails does."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, 9)
    process.wait()


def make_peers_python(locked: Path = LOCKED) -> str:
    """Make the environment of these locked requirements unless it is there, and return its Python."""
    digest = hashlib.sha256(locked.read_bytes() + sys.version.encode()).hexdigest()[:12]
    folder = get_results_folder() / "peers" / digest
    python = folder / "bin" / "python"
    ready = folder / "ready"
    if not ready.exists():
        venv.create(folder, clear=True, with_pip=True)
        install = [
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
            "--require-hashes",
            "-r",
            str(locked),
        ]
        subprocess.run([python, *install], check=True)
        ready.touch()
    return str(python)


def ours(place: WorkPlace, *, batch: int | None = None, processes: int = 1) -> Crew:
    """Handover's workers, and the sweeper it needs beside it, on the work place in Handover's own database."""
    manage = [sys.executable, str(ROOT / "manage.py")]

    def fill() -> None:
        with psycopg.connect(place.url, autocommit=True) as connection:
            connection.execute(FORGET)
            connection.execute(ENQUEUE, {"exams": EXAMS, "kind": KIND})
            connection.execute("VACUUM ANALYZE outbox_job, outbox_finishedjob")

    environment = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "tests.benchmarks.peers.ours.settings",
        "LOG_LEVEL": "ERROR",
    }
    size = [] if batch is None else ["--batch", str(batch)]
    return Crew(
        "Handover",
        fill,
        [*manage, "run_worker", "--kinds", KIND, *size],
        environment,
        beside=[[*manage, "sweep"]],
        processes=processes,
        folder=ROOT,
    )


class Peers:
    """The others, on a work place in a database of their own, and Celery's Redis."""

    def __init__(self, place: WorkPlace, redis_url: str, *, processes: int = 1) -> None:
        self._processes = processes
        self._python = make_peers_python()
        self._celery = str(Path(self._python).with_name("celery"))
        self._environment = {
            "PATH": os.environ["PATH"],
            "PEER_DATABASE": place.url,
            "PEER_REDIS": redis_url,
            "PYTHONWARNINGS": "ignore",
        }
        for app in ("procrastinate_peer", "pgqueuer_peer", "django_tasks_peer"):
            self._run(app, "install")

    def procrastinate(self, concurrency: int | None = None) -> Crew:
        """procrastinate, as it comes (one job at a time a process), or with so many at once."""
        return self._crew("procrastinate", "procrastinate_peer", concurrency)

    def pgqueuer(self, batch: int | None = None) -> Crew:
        """pgqueuer, as it comes (batches of ten), or with larger ones."""
        return self._crew("pgqueuer", "pgqueuer_peer", batch)

    def django_tasks(self) -> Crew:
        """django-tasks-db, as it comes."""
        return self._crew("django-tasks-db", "django_tasks_peer", None)

    def celery(self) -> Crew:
        """Celery with Redis, acknowledging late: one worker, which makes a process for each core."""
        worker = [self._celery, "--app", "celery_peer", "worker", "--loglevel", "ERROR"]
        return Crew("celery + Redis", lambda: self._fill("celery_peer"), worker, self._environment)

    def _crew(self, name: str, app: str, number: int | None) -> Crew:
        rest = [] if number is None else [str(number)]
        title = name if number is None else f"{name} ({number})"
        return Crew(
            title,
            lambda: self._fill(app),
            [self._python, f"{app}.py", "work", *rest],
            self._environment,
            processes=self._processes,
        )

    def _fill(self, app: str) -> None:
        self._forget()
        self._run(app, "install") if app == "celery_peer" else None
        self._run(app, "fill")

    def _forget(self) -> None:
        with psycopg.connect(self._environment["PEER_DATABASE"], autocommit=True) as connection:
            connection.execute(
                "TRUNCATE procrastinate_jobs, pgqueuer, django_tasks_database_dbtaskresult CASCADE"
            )

    def _run(self, app: str, deed: str) -> None:
        subprocess.run(
            [self._python, f"{app}.py", deed], cwd=HERE / "apps", env=self._environment, check=True
        )
