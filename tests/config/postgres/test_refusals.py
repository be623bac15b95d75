"""Whatever keeps the server from starting is one line that names the thing and the cure."""

import errno
import sys
from pathlib import Path

import pytest

from config.postgres import Cluster, PostgresError
from config.postgres.account import Account
from config.postgres.cluster import explain_log
from config.postgres.errors import describe_os_error
from config.postgres.folder import check_owner, check_space

NO_SHARED_MEMORY = (
    "PostgreSQL ended: this machine has no room for its shared memory. `df /dev/shm` and `ipcs -m` show what takes it; "
    "a segment that nobody uses (nattch 0) was left by a killed server and can go: `ipcrm -m ID`."
)


def refusal_of(cluster: Cluster) -> str:
    with pytest.raises(PostgresError) as refused:
        cluster.start()
    message = str(refused.value)
    assert "\n" not in message
    return message


def test_folder_that_cannot_be_written_is_named() -> None:
    # The kernel's own read-only tree refuses root too; mode bits would not.
    place = Path("/sys/handover" if sys.platform == "linux" else "/System/handover")
    message = refusal_of(Cluster(place))
    assert message.startswith(f"Cannot write to {place}: ")
    assert message.endswith("Make it writable, or choose another folder with HANDOVER_DATA.")


def test_file_in_place_of_the_folder_is_named(folder: Path) -> None:
    (folder / "data").write_text("")
    assert refusal_of(Cluster(folder / "data")).startswith(f"Cannot write to {folder / 'data'}: ")


def test_data_of_another_major_version_is_named(cluster: Cluster) -> None:
    cluster.start()
    cluster.stop()
    (cluster.place.data / "PG_VERSION").write_text("17\n")
    assert refusal_of(cluster) == (
        f"{cluster.place.data} was made by PostgreSQL 17, and this is PostgreSQL 18. Dump it with the old version and load "
        "it here (docs/operations.md, Upgrading), or choose another folder with HANDOVER_DATA."
    )


def test_folder_with_something_else_in_it_is_named(cluster: Cluster) -> None:
    cluster.place.data.mkdir(parents=True)
    (cluster.place.data / "holiday.jpg").write_text("")
    assert refusal_of(cluster) == (
        f"{cluster.place.data} is not empty and is not a PostgreSQL data folder. "
        "Move it away, or choose another folder with HANDOVER_DATA."
    )
    assert (cluster.place.data / "holiday.jpg").exists()


def test_data_of_another_user_is_named(folder: Path) -> None:
    mine = folder.stat().st_uid
    with pytest.raises(PostgresError) as refused:
        check_owner(folder, Account("somebody", mine + 1, 0, drop=False))
    assert str(refused.value) == (
        f"{folder} belongs to user id {mine}, but the server would run as somebody ({mine + 1}). "
        "Start it as the user who made it, or choose another folder with HANDOVER_DATA."
    )


def test_disk_without_room_is_named(folder: Path) -> None:
    with pytest.raises(PostgresError) as refused:
        check_space(folder, needed=2**62)
    assert f"MB are free on the disk of {folder}" in str(refused.value)
    assert "Make room there, or choose another disk with HANDOVER_DATA." in str(refused.value)


def test_full_disk_met_while_writing_asks_for_room() -> None:
    message = str(describe_os_error(OSError(errno.ENOSPC, "No space left on device"), Path("/srv/h")))
    assert message == (
        "Cannot write to /srv/h: No space left on device. "
        "Make room there, or choose another folder with HANDOVER_DATA."
    )


def test_interrupted_creation_leaves_nothing_that_looks_like_a_database(cluster: Cluster) -> None:
    unfinished = cluster.place.folder / "postgres.unfinished"
    unfinished.mkdir(parents=True)
    (unfinished / "PG_VERSION").write_text("18\n")
    cluster.start()
    assert not unfinished.exists()


@pytest.mark.parametrize(
    ("logged", "message"),
    [
        (
            'PANIC:  could not write to file "pg_wal/xlogtemp.1": No space left on device',
            "PostgreSQL ended: the disk of /srv/h is full. Make room there, then start again; nothing acknowledged is lost.",
        ),
        (
            "FATAL:  could not create shared memory segment: No space left on device\nDETAIL:  Failed system call was shmget(key=1, size=56, 03600).",
            NO_SHARED_MEMORY,
        ),
        (
            'FATAL:  could not resize shared memory segment "/PostgreSQL.1" to 1048576 bytes: No space left on device',
            NO_SHARED_MEMORY,
        ),
        (
            'FATAL:  could not create lock file "postmaster.pid": Read-only file system',
            "PostgreSQL ended: /srv/h is on a read-only disk. Choose another folder with HANDOVER_DATA.",
        ),
        (
            "LOG:  starting\nFATAL:  could not map anonymous shared memory: Cannot allocate memory",
            "PostgreSQL ended: could not map anonymous shared memory: Cannot allocate memory. Its log: /srv/h/log/postgres.log",
        ),
        ("", "PostgreSQL ended: it was killed or said nothing. Its log: /srv/h/log/postgres.log"),
    ],
)
def test_end_is_explained_from_the_log(logged: str, message: str) -> None:
    assert explain_log(logged, Path("/srv/h/log/postgres.log")) == message


def test_wrong_setting_is_reported_in_the_servers_own_words(folder: Path) -> None:
    cluster = Cluster(folder / "data", options={"max_connections": "plenty"})
    assert 'invalid value for parameter "max_connections": "plenty"' in refusal_of(cluster)
