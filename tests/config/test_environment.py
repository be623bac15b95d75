"""Settings are read by kind: what cannot be meant is refused by the variable's name, and never with a password in the words."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.exceptions import ImproperlyConfigured

from config.environment import Environment

ROOT = Path(__file__).resolve().parents[2]
SECRET = "hunter2"

Read = Callable[[Environment], Any]


def read_site(env: Environment) -> Any:
    return env.site("NAME")


def read_redis(env: Environment) -> Any:
    return env.address("NAME", schemes=("redis", "unix"), like="redis://host:6379/1")


def read_database(env: Environment) -> Any:
    return env.database("NAME", default="postgres://me@here/handover")


def read_mail(env: Environment) -> Any:
    return env.mail("NAME", default="filemail:///folder")


def read_sender(env: Environment) -> Any:
    return env.sender("NAME", default="Us <us@localhost>")


def read_mailbox(env: Environment) -> Any:
    return env.mailbox("NAME")


def read_flag(env: Environment) -> Any:
    return env.flag("NAME", default=True)


def read_count(env: Environment) -> Any:
    return env.count("NAME", default=2)


def read_port(env: Environment) -> Any:
    return env.count("NAME", default=8000, most=65_535)


def read_hours(env: Environment) -> Any:
    return env.positive("NAME", default=12, most=24)


def read_level(env: Environment) -> Any:
    return env.one_of("NAME", choices=("INFO", "DEBUG"), default="INFO")


def read_folder(env: Environment) -> Any:
    return env.folder("NAME", default=Path("/data"))


def read(value: str, how: Read) -> Any:
    environment = Environment()
    environment.ENVIRON = {"NAME": value}
    return how(environment)


@pytest.mark.parametrize(
    ("how", "value", "expected"),
    [
        (read_flag, "", True),
        (read_flag, "No", False),
        (read_flag, " on ", True),
        (read_count, "", 2),
        (read_count, "7", 7),
        (read_port, "65535", 65_535),
        (read_hours, "0.5", 0.5),
        (read_level, "debug", "DEBUG"),
        (read_folder, "", Path("/data")),
        (read_redis, "", ""),
        (read_redis, "unix:///run/redis.sock?db=1", "unix:///run/redis.sock?db=1"),
        (read_site, "https://exams.example.org", "https://exams.example.org"),
        (read_site, "https://prüfung.example/a", "https://xn--prfung-4ya.example/a"),
        (read_sender, "Exams <exams@example.org>", "Exams <exams@example.org>"),
        (read_mailbox, "access@example.org", "access@example.org"),
        (lambda env: env.words("NAME", default=["a"]), " s1, s2 ,", ["s1", "s2"]),
        (
            lambda env: env.hosts("NAME"),
            "exams.example.org,.example.com,[::1],*",
            ["exams.example.org", ".example.com", "[::1]", "*"],
        ),
        (lambda env: env.peers("NAME", default=["::1"]), "", ["::1"]),
        (lambda env: env.peers("NAME", default=()), "10.0.0.7, fd00::/8", ["10.0.0.7", "fd00::/8"]),
        (lambda env: env.peers("NAME", default=()), "*", ["*"]),
        (lambda env: env.origins("NAME"), "https://a.example:8443/", ["https://a.example:8443"]),
        (lambda env: env.database("NAME", default="")["HOST"], "postgres://me:x@db:5433/marks", "db"),
        (lambda env: env.mail("NAME", default="")["EMAIL_USE_TLS"], "smtp+tls://me:x@mail:587", True),
        (lambda env: env.socket("NAME"), "/run/handover/pages.sock", "/run/handover/pages.sock"),
    ],
)
def test_value_that_can_be_meant_is_taken(how: Read, value: str, expected: Any) -> None:
    assert read(value, how) == expected


@pytest.mark.parametrize(
    ("how", "values", "why"),
    [
        (read_flag, ["maybe", "2"], "must be true or false, not {!r}"),
        (read_count, ["0", "-1", "two", "1.5"], "must be a whole number, 1 or more, not {!r}"),
        (read_port, ["0", "65536", "http"], "must be a whole number, from 1 to 65535, not {!r}"),
        (read_hours, ["0", "-1", "25", "nan", "inf", "x"], "must be a number above 0, at most 24, not {!r}"),
        (read_level, ["LOUD"], "must be one of INFO, DEBUG, not {!r}"),
        (read_folder, ["/etc/passwd"], "must be a folder, and /etc/passwd is none"),
        (
            lambda env: env.peers("NAME", default=()),
            ["proxy.example.org", "10.0.0.1/8", "10.0.0.7:80"],
            "must be addresses or networks like 10.0.0.7 or 10.1.0.0/16, not {!r}",
        ),
        (
            read_site,
            ["exams.example.org", "ftp://x", "https://"],
            "is no address like https://exams.example.org",
        ),
        (
            read_redis,
            ["here", f"http://:{SECRET}@here", "redis://"],
            "is no address like redis://host:6379/1",
        ),
        (
            read_site,
            ["https://x:port", "http://[x"],
            "is an address that cannot be read (is its port a number?)",
        ),
        (
            read_site,
            [f"https://me:{SECRET}@exams.example.org"],
            "may not hold a name and password: they are not sent",
        ),
        (
            read_site,
            ["https://x:0", f"https://{'x' * 64}.example.org"],
            "is an address that can never be called (its host, or its port)",
        ),
        (
            read_database,
            ["here", "sqlite:///here", f"postgres://me:{SECRET}@here", "postgres://here/"],
            "is no address like postgres://user:password@host:5432/name",
        ),
        (
            read_database,
            [f"postgres://me:{SECRET}@here:port/marks"],
            "is an address that cannot be read (is its port a number?)",
        ),
        (read_mail, ["here", "http://here"], "is no address like smtp+tls://user:password@host:587"),
        (
            read_mail,
            [f"smtp://me:{SECRET}@here:port"],
            "is an address that cannot be read (is its port a number?)",
        ),
        (read_sender, ["nobody", "a@b\nBcc: c@d"], "is no sender like Us <us@localhost>"),
        (read_mailbox, ["nobody", "Us <us@localhost>"], "is no mail address like access@example.org"),
        (
            lambda env: env.hosts("NAME"),
            ["https://x", "x:80", "a b"],
            "must be names of hosts like exams.example.org, not {!r}",
        ),
        (
            lambda env: env.origins("NAME"),
            ["exams.example.org", "https://x/path"],
            "must be origins like https://exams.example.org, not {!r}",
        ),
        (
            lambda env: env.token("NAME"),
            ["two words", "é"],
            "must be visible ASCII without spaces, as it is sent in a header",
        ),
        (
            lambda env: env.socket("NAME"),
            ["pages.sock", "/" + "x" * 107],
            "must be an absolute path of at most 107 bytes, not {!r}",
        ),
    ],
)
def test_value_that_cannot_be_meant_is_refused_by_name(how: Read, values: list[str], why: str) -> None:
    for value in values:
        with pytest.raises(ImproperlyConfigured) as refused:
            read(value, how)
        assert str(refused.value) == f"NAME: {why.format(value)}"
        assert SECRET not in str(refused.value)


@pytest.mark.parametrize(
    "program",
    [
        ["manage.py", "check"],
        ["-m", "gunicorn", "--config", "python:config.serve", "config.asgi:application"],
        ["-m", "gunicorn", "--config", "python:config.serve_pool", "config.pools:pages"],
        ["-m", "celery", "--app", "config.celery", "worker"],
    ],
)
def test_every_door_says_in_one_line_which_setting_cannot_be_read(program: list[str]) -> None:
    clean = {"ENV_FILE": os.devnull, "PATH": os.environ["PATH"], "HANDOVER_DURABILITY": "quorum"}
    ended = subprocess.run(
        [sys.executable, *program],
        cwd=ROOT,
        env=clean,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert ended.returncode == 1
    assert ended.stderr == (
        "handover: A setting in the environment or in .env cannot be read: "
        "HANDOVER_STANDBYS: names 0 servers; HANDOVER_STANDBYS_NEEDED is 1. See .env.example.\n"
    )


def test_settings_file_that_was_named_must_be_there(tmp_path: Path) -> None:
    environment = Environment()
    environment.ENVIRON = {"ENV_FILE": "production.env"}
    with pytest.raises(ImproperlyConfigured, match=f"ENV_FILE: there is no {tmp_path}/production.env"):
        environment.read_file("ENV_FILE", default=tmp_path / ".env")
