"""How a setting is read: by its kind, so that a value that cannot be meant is refused at the start, in one line, by the variable's name.

`django-environ` reads the file and the plain kinds; what it would let pass (any word as a boolean, any number as a count, an address of no
known kind) is looked at here.
"""

import ipaddress
import sys
from collections.abc import Callable, Collection
from email.utils import parseaddr
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, Final, NoReturn, TypeVar
from urllib.parse import SplitResult, urlsplit

import environ
from django.core.exceptions import ImproperlyConfigured

from outbox.addresses import ForbiddenAddress, as_uri

UNREADABLE: Final = "A setting in the environment or in .env cannot be read: {}. See .env.example."
_YES: Final = frozenset({"true", "yes", "on", "1"})
_NO: Final = frozenset({"false", "no", "off", "0"})
_SOCKET_BYTES: Final = 107  # of sockaddr_un.sun_path without its closing NUL (unix(7))
_POSTGRES: Final = frozenset({"postgres", "postgresql", "psql", "pgsql"})
_WEB: Final = frozenset({"http", "https"})

Number = TypeVar("Number", int, float)
Read = TypeVar("Read")


def read_settings() -> ModuleType:
    """Return the settings, or end this process with the one line that says which of them cannot be read."""
    try:
        return import_module("config.settings")
    except (ImproperlyConfigured, ValueError, OSError) as error:
        sys.exit(f"handover: {UNREADABLE.format(error)}")


def refuse(name: str, why: str) -> NoReturn:
    """Say which variable it is and what it must be."""
    raise ImproperlyConfigured(f"{name}: {why}")


class Environment(environ.Env):  # type: ignore[misc]  # untyped
    """The environment, read by kind. An empty value is the same as none."""

    def word(self, name: str, *, default: str = "") -> str:
        """Return the value as it is, or the default."""
        return str(self.str(name, default="")).strip() or default

    def flag(self, name: str, *, default: bool) -> bool:
        """Return yes or no."""
        value = self.word(name).lower()
        if value and value not in _YES | _NO:
            refuse(name, f"must be true or false, not {value!r}")
        return value in _YES if value else default

    def count(self, name: str, *, default: int, least: int = 1, most: int | None = None) -> int:
        """Return a whole number, `least` or more and at most `most`."""
        value = self.word(name, default=str(default))
        number = _convert(int, value)
        if number is None or number < least or number > (most or number):
            bound = f"{least} or more" if most is None else f"from {least} to {most}"
            refuse(name, f"must be a whole number, {bound}, not {value!r}")
        return number

    def positive(self, name: str, *, default: float, most: float = float("inf")) -> float:
        """Return a finite number above 0, at most `most`."""
        value = self.word(name, default=f"{default:g}")
        number = _convert(float, value)
        if number is None or not 0 < number <= most or number == float("inf"):
            bound = "" if most == float("inf") else f", at most {most:g}"
            refuse(name, f"must be a number above 0{bound}, not {value!r}")
        return number

    def one_of(self, name: str, *, choices: Collection[str], default: str) -> str:
        """Return one of a few words."""
        value = self.word(name, default=default)
        by_small = {choice.lower(): choice for choice in choices}
        if value.lower() not in by_small:
            refuse(name, f"must be one of {', '.join(choices)}, not {value!r}")
        return by_small[value.lower()]

    def words(self, name: str, *, default: Collection[str] = ()) -> list[str]:
        """Return what stands between commas."""
        found = [each.strip() for each in self.word(name).split(",")]
        return [each for each in found if each] or list(default)

    def interface(self, name: str, *, default: str) -> str:
        """Return a name or an address to listen on; an IPv6 address without the brackets that it has in a URL."""
        value = self.word(name, default=default)
        return value[1:-1] if value.startswith("[") and value.endswith("]") else value

    def hosts(self, name: str) -> list[str]:
        """Return names of hosts, without `https://`, port or path."""
        found = self.words(name)
        for host in found:
            if "/" in host or " " in host or (":" in host and not host.startswith("[")):
                refuse(name, f"must be names of hosts like exams.example.org, not {host!r}")
        return found

    def peers(self, name: str, *, default: Collection[str]) -> list[str]:
        """Return addresses and networks, or `*` alone for everybody."""
        found = self.words(name, default=default)
        for peer in found if found != ["*"] else []:
            if _convert(ipaddress.ip_network, peer) is None:
                refuse(name, f"must be addresses or networks like 10.0.0.7 or 10.1.0.0/16, not {peer!r}")
        return found

    def origins(self, name: str) -> list[str]:
        """Return origins: scheme and host, and nothing behind."""
        found = self.words(name)
        for origin in found:
            parts = _split(name, origin)
            if parts.scheme not in _WEB or not parts.hostname or parts.path not in {"", "/"}:
                refuse(name, f"must be origins like https://exams.example.org, not {origin!r}")
        return [origin.rstrip("/") for origin in found]

    def site(self, name: str, *, default: str = "") -> str:
        """Return the address of something on the web that can be called. A name and password in it would not be sent."""
        value = self.address(name, schemes=_WEB, like="https://exams.example.org", default=default)
        if value and urlsplit(value).username is not None:
            refuse(name, "may not hold a name and password: they are not sent")
        try:
            return as_uri(value) if value else ""
        except ForbiddenAddress:
            refuse(name, "is an address that can never be called (its host, or its port)")

    def address(self, name: str, *, schemes: Collection[str], like: str, default: str = "") -> str:
        """Return an address with one of these schemes; it may hold a password, so a refusal does not repeat it."""
        value = self.word(name, default=default)
        if not value:
            return ""
        parts = _split(name, value)
        if parts.scheme not in schemes or not (parts.hostname or parts.path.strip("/")):
            refuse(name, f"is no address like {like}")
        return value

    def database(self, name: str, *, default: str) -> dict[str, Any]:
        """Return Django's settings for a database."""
        like = "postgres://user:password@host:5432/name"
        value = self.word(name, default=default)
        if (
            value.partition("://")[0] not in _POSTGRES
            or not value.partition("://")[2].partition("?")[0].partition("/")[2]
        ):
            refuse(name, f"is no address like {like}")
        return _refusing(name, lambda: dict(self.db_url_config(value)))

    def mail(self, name: str, *, default: str) -> dict[str, Any]:
        """Return Django's settings for sending mail."""
        value = self.word(name, default=default)
        if value.partition("://")[0] not in self.EMAIL_SCHEMES:
            refuse(name, "is no address like smtp+tls://user:password@host:587")
        return _refusing(name, lambda: dict(self.email_url_config(value)))

    def sender(self, name: str, *, default: str) -> str:
        """Return the address mails are from, with a name or without."""
        value = self.word(name, default=default)
        if "@" not in parseaddr(value)[1] or not value.isprintable():
            refuse(name, f"is no sender like {default}")
        return value

    def mailbox(self, name: str) -> str:
        """Return a mail address that people may write to, or nothing."""
        value = self.word(name)
        if value and ("@" not in value or parseaddr(value)[1] != value or not value.isprintable()):
            refuse(name, "is no mail address like access@example.org")
        return value

    def token(self, name: str) -> str:
        """Return a secret that travels in a header: visible ASCII."""
        value = self.word(name)
        if not value.isascii() or not value.isprintable() or " " in value:
            refuse(name, "must be visible ASCII without spaces, as it is sent in a header")
        return value

    def socket(self, name: str) -> str:
        """Return the path of a Unix socket."""
        value = self.word(name)
        if value and (not value.startswith("/") or len(value.encode()) > _SOCKET_BYTES):
            refuse(name, f"must be an absolute path of at most {_SOCKET_BYTES} bytes, not {value!r}")
        return value

    def folder(self, name: str, *, default: Path) -> Path:
        """Return a folder, which need not exist."""
        path = Path(self.word(name, default=str(default))).resolve()
        if path.exists() and not path.is_dir():
            refuse(name, f"must be a folder, and {path} is none")
        return path

    def read_file(self, name: str, *, default: Path) -> None:
        """Add what the settings file says; one that was named, beside the default, must be there."""
        named = self.word(name)
        path = default.parent / (named or default)
        if named and not path.exists():
            refuse(name, f"there is no {path}")
        self.read_env(path)


def _convert(kind: Callable[[str], Read], value: str) -> Read | None:
    try:
        return kind(value)
    except ValueError:
        return None


def _split(name: str, value: str) -> SplitResult:
    return _refusing(name, lambda: _with_port(urlsplit(value)))


def _with_port(parts: SplitResult) -> SplitResult:
    _ = parts.port  # raises ValueError for one that is none
    return parts


def _refusing(name: str, read: Callable[[], Read]) -> Read:
    """Read, and name the variable where the reader does not; what it holds is not repeated."""
    try:
        return read()
    except (ValueError, ImproperlyConfigured):
        refuse(name, "is an address that cannot be read (is its port a number?)")
