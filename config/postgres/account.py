"""Under which system account the server runs, and how that account reaches its files.

PostgreSQL refuses to run as root. So root starts it as a system account of its own, which owns the data folder and nothing else.
When a parent folder is closed to that account (a checkout below a 0700 home), one ACL entry lets this one account *pass through*
that one folder; its mode, and everybody else's rights, stay as they are.
"""

import errno
import os
import pwd
import shutil
import struct
import subprocess
from dataclasses import dataclass
from pathlib import Path

from config.postgres.errors import PostgresError

ACCOUNT_NAME = "handover-db"

# The layout of a POSIX ACL in an extended attribute (Linux: include/uapi/linux/posix_acl_xattr.h).
_ACL_ATTRIBUTE = "system.posix_acl_access"
_ACL_VERSION = 2
_ENTRY = struct.Struct("<HHI")
_USER_OBJ, _USER, _GROUP_OBJ, _GROUP, _MASK, _OTHER = 0x01, 0x02, 0x04, 0x08, 0x10, 0x20
_NO_ID = 0xFFFFFFFF
_EXECUTE = 1

AclEntry = tuple[int, int, int]


@dataclass(frozen=True)
class Account:
    """A system account; `drop` says whether processes must change to it, or already run as it."""

    name: str
    uid: int
    gid: int
    drop: bool


def get_server_account() -> Account:
    """Return the account the server runs as: our own, or for root the system account, created when missing."""
    uid = os.geteuid()
    if uid != 0:
        return Account(_name_of(uid), uid, os.getegid(), drop=False)
    entry = _find_account() or _create_account()
    return Account(entry.pw_name, entry.pw_uid, entry.pw_gid, drop=True)


def run_as(account: Account, command: list[str], **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a short command as the account, from `/` because it may not see our working folder."""
    return subprocess.run(
        command,
        user=account.uid if account.drop else None,
        group=account.gid if account.drop else None,
        extra_groups=[] if account.drop else None,
        cwd="/",
        env={"PATH": os.defpath, "LC_ALL": "C", **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


def can_enter(account: Account, folder: Path) -> bool:
    """Say whether the account may pass through this folder and all above it (asked of the kernel, not of mode bits)."""
    return run_as(account, ["test", "-x", str(folder)]).returncode == 0


def open_passage(account: Account, folder: Path) -> list[Path]:
    """Let the account pass through `folder` and those above it; return the folders whose ACL was changed."""
    if can_enter(account, folder):
        return []
    return [step for step in (*reversed(folder.parents), folder) if _open_step(account, step)]


def _open_step(account: Account, folder: Path) -> bool:
    if can_enter(account, folder):
        return False
    try:
        _allow_to_pass(folder, account.uid)
    except OSError as error:
        raise _closed(account, folder) from error
    if not can_enter(account, folder):
        raise _closed(account, folder)
    return True


def _closed(account: Account, folder: Path) -> PostgresError:
    return PostgresError(
        f"The database account {account.name} may not pass through {folder}. "
        f"Choose an open place with HANDOVER_DATA=/srv/handover, or run: chmod o+x {folder}"
    )


def _allow_to_pass(folder: Path, uid: int) -> None:
    packed = struct.pack("<I", _ACL_VERSION) + b"".join(
        _ENTRY.pack(*entry) for entry in add_passage(_read_acl(folder), uid)
    )
    os.setxattr(folder, _ACL_ATTRIBUTE, packed)


def _read_acl(folder: Path) -> list[AclEntry]:
    """Return the folder's ACL, or the one its mode bits stand for when it has none."""
    try:
        packed = os.getxattr(folder, _ACL_ATTRIBUTE)
    except OSError as error:
        if error.errno != errno.ENODATA:
            raise
        mode = folder.stat().st_mode
        return [
            (_USER_OBJ, mode >> 6 & 7, _NO_ID),
            (_GROUP_OBJ, mode >> 3 & 7, _NO_ID),
            (_OTHER, mode & 7, _NO_ID),
        ]
    return list(_ENTRY.iter_unpack(packed[4:]))


def add_passage(acl: list[AclEntry], uid: int) -> list[AclEntry]:
    """Return the ACL with execute for `uid` added and nothing else widened, in the order the kernel asks for."""
    own = next((permissions for tag, permissions, who in acl if tag == _USER and who == uid), 0)
    mask = next((permissions for tag, permissions, _ in acl if tag == _MASK), None)
    if mask is None:
        mask = next(permissions for tag, permissions, _ in acl if tag == _GROUP_OBJ)
    kept = [entry for entry in acl if entry[0] != _MASK and not (entry[0] == _USER and entry[2] == uid)]
    return sorted(
        [*kept, (_USER, own | _EXECUTE, uid), (_MASK, mask | _EXECUTE, _NO_ID)],
        key=lambda entry: (entry[0], entry[2]),
    )


def _name_of(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        raise PostgresError(
            f"User id {uid} has no name on this machine, and PostgreSQL needs one. "
            "Add it to /etc/passwd, or use a real server with DATABASE_URL."
        ) from None


def _find_account() -> pwd.struct_passwd | None:
    try:
        return pwd.getpwnam(ACCOUNT_NAME)
    except KeyError:
        return None


def _create_account() -> pwd.struct_passwd:
    tool = shutil.which("useradd", path=f"{os.environ.get('PATH', os.defpath)}:/usr/sbin:/sbin")
    if tool is None:
        raise _no_account("there is no useradd")
    options = [
        "--system",
        "--user-group",
        "--no-create-home",
        "--home-dir",
        "/nonexistent",
        "--shell",
        "/bin/false",
    ]
    made = subprocess.run([tool, *options, ACCOUNT_NAME], capture_output=True, text=True, check=False)
    entry = _find_account()  # somebody else may have made it in the same second: that is as good
    if entry is None:
        raise _no_account(made.stderr.strip() or f"useradd ended with {made.returncode}")
    return entry


def _no_account(reason: str) -> PostgresError:
    return PostgresError(
        f"PostgreSQL does not run as root, and the account {ACCOUNT_NAME} could not be created ({reason}). "
        f"Create it, run as a normal user, or use a real server with DATABASE_URL."
    )
