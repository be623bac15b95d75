"""The embedded server: durable, private, and what is there after it was stopped, killed or left behind."""

import contextlib
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import psutil
import psycopg
import pytest

from config.postgres import Cluster
from config.postgres.place import SUPERUSER, Place
from config.postgres.postmaster import find_postmaster
from tests.waiting import is_alive

START_AND_WAIT = """
import sys; from pathlib import Path; from config.postgres import Cluster
Cluster(Path(sys.argv[1])).start(); print("up", flush=True); sys.stdin.read()
"""


def ask(cluster: Cluster, query: str) -> list[object]:
    with psycopg.connect(cluster.url(SUPERUSER, "postgres")) as connection:
        row = connection.execute(query.encode()).fetchone()
        assert row is not None
        return list(row)


def store(cluster: Cluster, value: int) -> None:
    with psycopg.connect(cluster.url(SUPERUSER, "postgres")) as connection:
        connection.execute("CREATE TABLE kept AS SELECT %s::int AS value", [value])


def test_server_is_durable_discreet_and_sized_for_bursts(cluster: Cluster) -> None:
    cluster.start()
    names = [
        *("fsync", "synchronous_commit", "full_page_writes", "data_checksums", "jit", "max_connections"),
        *("log_parameter_max_length", "log_min_error_statement"),
    ]
    shown = ask(cluster, "SELECT " + ", ".join(f"current_setting('{name}')" for name in names))
    assert dict(zip(names, shown, strict=True)) == {
        "fsync": "on",
        "synchronous_commit": "on",
        "full_page_writes": "on",
        "data_checksums": "on",
        "jit": "off",
        "max_connections": "200",
        "log_parameter_max_length": "0",
        "log_min_error_statement": "panic",
    }
    assert ask(cluster, "SELECT current_setting('server_version_num')::int / 10000") == [18]


def test_server_is_reached_through_its_private_socket_only(cluster: Cluster) -> None:
    cluster.start()
    assert cluster.process is not None
    listening = [
        c
        for c in psutil.Process(cluster.process.pid).net_connections("inet")
        if c.status == psutil.CONN_LISTEN
    ]
    assert listening == []
    sockets = cluster.place.sockets.stat()
    assert (stat.S_IMODE(sockets.st_mode), sockets.st_uid) == (0o700, cluster.account.uid)


def test_server_never_runs_as_root(cluster: Cluster) -> None:
    cluster.start()
    assert cluster.process is not None
    process = psutil.Process(cluster.process.pid)
    assert 0 not in process.uids()
    assert 0 not in process.gids()
    for child in process.children():
        with contextlib.suppress(psutil.NoSuchProcess):  # one that has just ended
            assert 0 not in (*child.uids(), *child.gids())


def test_second_start_keeps_the_data(cluster: Cluster) -> None:
    cluster.start()
    store(cluster, 41)
    cluster.stop()
    again = Cluster(cluster.place.folder)
    again.start()
    assert ask(again, "SELECT value FROM kept") == [41]
    again.stop()


def test_data_written_just_before_a_power_cut_is_there_afterwards(cluster: Cluster) -> None:
    cluster.start()
    store(cluster, 42)
    assert cluster.process is not None
    postmaster = psutil.Process(cluster.process.pid)
    backends = postmaster.children()
    postmaster.kill()
    for backend in backends:
        with contextlib.suppress(psutil.NoSuchProcess):  # it may notice by itself
            backend.kill()
    psutil.wait_procs(backends, timeout=20)
    cluster.process.wait()
    cluster.process = None
    cluster.start()
    assert ask(cluster, "SELECT value FROM kept") == [42]


def test_server_of_a_killed_supervisor_is_stopped_before_a_new_one_starts(cluster: Cluster) -> None:
    cluster.start()
    store(cluster, 43)
    orphan = find_postmaster(cluster.place.data)
    assert orphan is not None
    again = Cluster(cluster.place.folder)  # knows nothing of the first one, like the next `make run`
    again.start()
    assert not is_alive(orphan)  # a zombie at the most: it is this test's own child
    assert again.notes == [
        "A database server left over from a killed run was stopped first; nothing is lost."
    ] or (
        again.notes[1:]
        == ["A database server left over from a killed run was stopped first; nothing is lost."]
    )
    assert ask(again, "SELECT value FROM kept") == [43]
    again.stop()


@pytest.mark.process
def test_server_ends_when_its_supervisor_is_killed(folder: Path) -> None:
    supervisor = subprocess.Popen(
        [sys.executable, "-c", START_AND_WAIT, str(folder / "data")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with supervisor:
        assert supervisor.stdout is not None
        assert supervisor.stdout.readline() == "up\n"
        server = find_postmaster(folder / "data" / "postgres")
        assert server is not None
        supervisor.send_signal(signal.SIGKILL)
    if sys.platform == "linux":  # elsewhere the next start stops it: the test above
        server.wait(20)
        assert not (folder / "data" / "postgres" / "postmaster.pid").exists()
    else:
        server.send_signal(signal.SIGINT)
        server.wait(20)


@pytest.mark.parametrize("pid", [1, os.getpid(), 4_000_000], ids=["init", "somebody else", "nobody"])
def test_stale_pid_file_is_cleared_away_and_nobody_else_is_signalled(cluster: Cluster, pid: int) -> None:
    cluster.start()
    cluster.stop()
    (cluster.place.data / "postmaster.pid").write_text(f"{pid}\n{cluster.place.data}\n1\n5432\n\n\n\nready\n")
    (cluster.place.sockets / ".s.PGSQL.5432.lock").write_text(f"{pid}\n")
    cluster.start()
    assert ask(cluster, "SELECT 1") == [1]
    assert psutil.Process().status() != psutil.STATUS_ZOMBIE  # the test process itself was not signalled


def test_socket_goes_to_the_temporary_folder_when_the_path_is_too_long(folder: Path) -> None:
    cluster = Cluster(folder / ("long" * 30))
    assert len(str(cluster.place.sockets)) < 60
    cluster.start()
    assert ask(cluster, "SELECT 1") == [1]
    cluster.stop()
    assert not (cluster.place.folder / "run").exists()
    cluster.place.sockets.rmdir()


def test_socket_folder_is_the_same_for_everybody_who_computes_it(folder: Path) -> None:
    long = folder / ("long" * 30)
    assert Place(long).sockets == Place(long).sockets != Place(folder / ("lang" * 30)).sockets


def test_server_starts_below_a_closed_folder_and_opens_it_for_nobody_else(folder: Path) -> None:
    closed = folder / "home"
    closed.mkdir(mode=0o700)
    folder.chmod(0o755)
    cluster = Cluster(closed / "checkout" / ".data")
    cluster.start()
    assert ask(cluster, "SELECT 1") == [1]
    cluster.stop()
    assert stat.S_IMODE(closed.stat().st_mode) & 0o007 == 0
    if cluster.account.drop:  # root: one entry for the server's account
        assert cluster.notes == [f"{closed}: the account handover-db may now pass through (one ACL entry)."]
        other = subprocess.run(
            ["ls", str(closed)], user="nobody", group=65534, extra_groups=[], check=False, capture_output=True
        )
        assert other.returncode != 0


def test_log_of_a_long_life_does_not_grow_for_ever(cluster: Cluster) -> None:
    cluster.start()
    cluster.stop()
    with cluster.place.log.open("ab") as log:
        log.truncate(17 * 1024 * 1024)
    cluster.start()
    assert cluster.place.log.stat().st_size < 1024 * 1024
    assert cluster.place.log.with_suffix(".log.1").stat().st_size == 17 * 1024 * 1024


def test_end_of_the_server_is_noticed(cluster: Cluster) -> None:
    cluster.start()
    cluster.check_running()
    assert cluster.process is not None
    cluster.process.kill()
    cluster.process.wait()
    with pytest.raises(Exception, match="PostgreSQL ended"):
        cluster.check_running()
