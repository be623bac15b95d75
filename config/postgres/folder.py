"""The server's folders: made once, checked at every start, never half made.

`initdb` works in a folder beside the real one, which gets its name only when it is complete: a power cut in the middle
leaves nothing that looks like a database.
"""

import os
import shutil
import stat
from importlib.resources import files
from pathlib import Path

from config.postgres.account import Account, open_passage, run_as
from config.postgres.binaries import Binaries
from config.postgres.errors import PostgresError, describe_os_error, explain_failure
from config.postgres.place import SUPERUSER, Place

MAJOR = "18"
# The wheel has no ICU; PostgreSQL's own C.UTF-8 sorts the same on every machine, so an index never depends on a libc.
FORMAT = (
    "--data-checksums",
    "--encoding=UTF8",
    "--locale-provider=builtin",
    "--builtin-locale=C.UTF-8",
    "--locale=C",
)
INCLUDE = "\n# Handover's settings; your own go below this line.\ninclude = 'handover.conf'\n"


def prepare_folders(place: Place, account: Account) -> list[Path]:
    """Make the folders around the data folder; return those that had to be opened for the server's account."""
    try:
        place.folder.mkdir(parents=True, exist_ok=True)
        place.log.parent.mkdir(exist_ok=True)
        opened = open_passage(account, place.folder)
        _make_private(place.sockets, account)
        check_space(place.folder)
    except OSError as error:
        raise describe_os_error(error, Path(error.filename or place.folder)) from error
    return opened


def prepare_data(place: Place, account: Account, binaries: Binaries) -> None:
    """Make a new data folder, or check that the one there is ours and of our version; write our settings into it."""
    try:
        if not (place.data / "PG_VERSION").exists():
            _create_data(place, account, binaries)
        check_owner(place.data, account)
        _check_version(place.data)
        _write_settings(place.data, account)
    except OSError as error:
        raise describe_os_error(error, Path(error.filename or place.data)) from error


def _make_private(folder: Path, account: Account) -> None:
    """Make the socket's folder; whoever may enter it may talk to the server, so it must be nobody else's."""
    folder.mkdir(mode=0o700, exist_ok=True)
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid not in {
        os.geteuid(),
        account.uid,
    }:
        raise PostgresError(
            f"{folder} belongs to somebody else. Remove it, or choose another folder with HANDOVER_DATA."
        )
    os.chown(folder, account.uid, account.gid)
    folder.chmod(0o700)


def check_space(folder: Path, *, needed: int = 64 * 1024 * 1024) -> None:
    """Raise PostgresError when a server could start but not work."""
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise PostgresError(
            f"Only {free >> 20} MB are free on the disk of {folder}, and the database needs at least {needed >> 20} MB "
            "to start. Make room there, or choose another disk with HANDOVER_DATA."
        )


def _create_data(place: Place, account: Account, binaries: Binaries) -> None:
    if place.data.exists() and any(place.data.iterdir()):
        raise PostgresError(
            f"{place.data} is not empty and is not a PostgreSQL data folder. Move it away, or choose another folder with HANDOVER_DATA."
        )
    unfinished = place.data.with_name("postgres.unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir(mode=0o700)
    os.chown(unfinished, account.uid, account.gid)
    made = run_as(account, _initdb(binaries, unfinished))
    if made.returncode != 0:
        shutil.rmtree(unfinished, ignore_errors=True)
        raise PostgresError(f"Creating the database in {place.data} failed: {explain_failure(made.stderr)}")
    with (unfinished / "postgresql.conf").open("a") as conf:
        conf.write(INCLUDE)
    if place.data.exists():
        place.data.rmdir()
    unfinished.rename(place.data)


def _initdb(binaries: Binaries, data: Path) -> list[str]:
    place = [f"--pgdata={data}", f"--username={SUPERUSER}", "--auth=peer", "--no-instructions"]
    return [binaries.path("initdb"), *place, *FORMAT]


def check_owner(data: Path, account: Account) -> None:
    """Raise PostgresError when the data belongs to somebody else (PostgreSQL would refuse it, less clearly)."""
    owner = data.stat().st_uid
    if owner != account.uid:
        raise PostgresError(
            f"{data} belongs to user id {owner}, but the server would run as {account.name} ({account.uid}). "
            "Start it as the user who made it, or choose another folder with HANDOVER_DATA."
        )


def _check_version(data: Path) -> None:
    found = (data / "PG_VERSION").read_text().strip()
    if found != MAJOR:
        raise PostgresError(
            f"{data} was made by PostgreSQL {found}, and this is PostgreSQL {MAJOR}. "
            "Dump it with the old version and load it here (docs/operations.md, Upgrading), or choose another folder with HANDOVER_DATA."
        )


def _write_settings(data: Path, account: Account) -> None:
    """Write our settings and who may connect: over the socket, the account itself and whoever starts the server."""
    _write(
        data / "handover.conf",
        files(__package__).joinpath("handover.conf").read_text(),
        account,
    )
    _write(
        data / "pg_hba.conf",
        "local all all peer map=handover\nlocal replication all peer map=handover\n",
        account,
    )
    names = {account.name, "root"} if account.drop else {account.name}
    _write(
        data / "pg_ident.conf",
        "".join(f"handover {name} all\n" for name in sorted(names)),
        account,
    )


def _write(path: Path, text: str, account: Account) -> None:
    unfinished = path.with_name(f"{path.name}.unfinished")
    unfinished.write_text(text)
    unfinished.chmod(0o600)
    os.chown(unfinished, account.uid, account.gid)
    unfinished.replace(path)
