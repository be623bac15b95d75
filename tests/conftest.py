"""The database under the tests: a real PostgreSQL 18 of their own, started for this run and gone after it.

One server per run, with the product's settings; with xdist one test database per worker. It has to be up before Django reads
its settings, so `DJANGO_SETTINGS_MODULE` is set here and not in pyproject.toml.
"""

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import django
import pytest

from config.keys import ensure_keys
from config.postgres import Cluster
from config.postgres.place import APP_ROLE, SUPERUSER
from config.postgres.roles import ensure_database
from tests.ground import make_ground
from tests.quorum.small_disk import can_mount
from tests.serving import WebServer, serving

SERVER_FOLDER = (
    "HANDOVER_TEST_SERVER"  # how the run tells its xdist workers and its child processes where the server is
)
NEED_A_MOUNT = ["quorum/test_full_disk.py"]
collect_ignore = [] if can_mount() else NEED_A_MOUNT
_ground_key = pytest.StashKey[Path]()
_cluster_key = pytest.StashKey[Cluster]()


def pytest_configure(config: pytest.Config) -> None:
    """Start the server (xdist: only in the controlling process) and point Django at it."""
    if not hasattr(config, "workerinput"):
        if "DJANGO_SETTINGS_MODULE" in os.environ:
            raise pytest.UsageError(
                "Unset DJANGO_SETTINGS_MODULE: the tests choose settings and database themselves."
            )
        config.stash[_ground_key] = ground = make_ground()
        os.environ["TMPDIR"] = tempfile.tempdir = str(ground)
        os.environ.pop(
            "PYTHONDONTWRITEBYTECODE", None
        )  # hundreds of processes would each compile four hundred files
        config.stash[_cluster_key] = cluster = _start_server()
        os.environ[SERVER_FOLDER] = str(cluster.place.folder)
    os.environ.update(_environment(Cluster(Path(os.environ[SERVER_FOLDER]))))
    django.setup()
    _load_pages()
    _hash_quickly()
    _empty_quickly()
    config.pluginmanager.import_plugin("tests.groups")  # which tests stay in one worker
    config.pluginmanager.import_plugin("tests.databases")  # what each worker's begins as
    config.pluginmanager.import_plugin("tests.examples")  # how many of them
    config.pluginmanager.import_plugin("tests.people")  # the fixed people; models exist from here on
    config.pluginmanager.import_plugin("tests.sitting")  # an exam the student of those people sits
    config.pluginmanager.import_plugin("tests.brokers")  # one Redis and one RabbitMQ for all who ask


def pytest_unconfigure(config: pytest.Config) -> None:
    """Stop the server and remove what the run wrote: also after Ctrl-C, and when the collection failed."""
    cluster = config.stash.get(_cluster_key, None)
    if cluster is not None:
        cluster.stop(seconds=5)
    ground = config.stash.get(_ground_key, None)
    if ground is not None:
        shutil.rmtree(ground, ignore_errors=True)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say what was left out: a disk that runs full takes a file system of its own."""
    for file in collect_ignore:
        terminalreporter.write_line(
            f"Left out: tests/{file}. It mounts small file systems, which takes root on Linux (in a container CAP_SYS_ADMIN too).",
            yellow=True,
        )


def _start_server() -> Cluster:
    cluster = Cluster(Path(tempfile.mkdtemp(prefix="handover-test-")), options={"autovacuum": "off"})
    try:
        cluster.start()
        ensure_database(cluster)
        ensure_keys(cluster.place.folder / "handover" / "keys")
    except BaseException:
        cluster.stop(seconds=5)
        raise
    return cluster


def _environment(cluster: Cluster) -> dict[str, str]:
    """Return every variable the settings read that must not come from the developer's machine."""
    return {
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "ENV_FILE": os.devnull,
        "DEBUG": "true",  # development's settings; pytest-django itself turns settings.DEBUG off
        "SECRET_KEY": "the-tests-need-no-secret-but-django-wants-fifty-characters-of-it",
        "HANDOVER_DATA": str(cluster.place.folder / "handover"),
        "HANDOVER_KEYS": str(cluster.place.folder / "handover" / "keys"),
        "DATABASE_URL": cluster.url(SUPERUSER),
        "DATABASE_OWNER_URL": cluster.url(SUPERUSER),
    }


def _load_pages() -> None:
    """Load all pages now, as a web process does: tests ask for one of each while they are collected (`admin.site`)."""
    from django.urls import get_resolver  # noqa: PLC0415 - settings exist only now

    _ = get_resolver().url_patterns


def _hash_quickly() -> None:
    """Let passwords of this process be hashed in a thousandth of the rounds: the same function, and every process of ours can read them."""
    from django.contrib.auth.hashers import PBKDF2PasswordHasher  # noqa: PLC0415 - models exist only after django.setup()

    PBKDF2PasswordHasher.iterations = 1_000


def _empty_quickly() -> None:
    from django.test import TransactionTestCase  # noqa: PLC0415

    from tests.emptying import empty_what_was_written_to  # noqa: PLC0415

    TransactionTestCase._fixture_teardown = empty_what_was_written_to  # type: ignore[attr-defined] # Django's own hook


@pytest.fixture(scope="session")
def server() -> Cluster:
    """The run's PostgreSQL server: its addresses and its programs (`pgbench`, `psql`). Never start or stop it."""
    return Cluster(Path(os.environ[SERVER_FOLDER]))


@pytest.fixture(scope="session")
def standing_environment(server: Cluster, django_db_setup: None) -> dict[str, str]:
    """The environment for a real process of ours that several tests share, on this worker's test database."""
    from django.conf import settings  # noqa: PLC0415 - settings exist only after pytest_configure

    address = server.url(SUPERUSER, str(settings.DATABASES["default"]["NAME"]))
    return {**os.environ, "DATABASE_URL": address, "DATABASE_OWNER_URL": address}


@pytest.fixture(scope="module")
def standing_gate(standing_environment: dict[str, str]) -> Iterator[WebServer]:
    """A web server that the tests of a file share: none may end it. They stay in one worker (tests/groups.py)."""
    with serving(standing_environment) as server:
        yield server


@pytest.fixture
def database_url(standing_environment: dict[str, str], db: None) -> str:
    """The address of this worker's test database, for a second connection or another process."""
    return standing_environment["DATABASE_URL"]


@pytest.fixture
def app_database_url(server: Cluster, database_url: str) -> str:
    """The same database for the application's role, which may not rewrite the log (the tests themselves are the superuser)."""
    return server.url(APP_ROLE, database_url.rpartition("/")[2])


@pytest.fixture
def process_environment(database_url: str) -> dict[str, str]:
    """The environment for a real process of ours (`manage.py …`) on this test's database. Use transaction=True with it."""
    return {**os.environ, "DATABASE_URL": database_url, "DATABASE_OWNER_URL": database_url}
