"""Settings: every variable is documented, and production's values are safe."""

import ast
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
SETTINGS = ROOT / "config" / "settings.py"
APPS = ("config", "projections", "exams", "gradebook", "outbox")
# Variables that are not settings: Django's own pointer to them, the machine's, and the tests' way to kill a process in the middle.
NOT_SETTINGS = {"DJANGO_SETTINGS_MODULE", "PATH", "HANDOVER_FAULT_POINT"}


def list_variables_read() -> set[str]:
    """The names in `env.xxx("NAME")` and `_read_database("NAME")` calls of settings.py."""
    found = set()
    for node in ast.walk(ast.parse(SETTINGS.read_text())):
        if isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
            reader = ast.unparse(node.func)
            if reader.startswith("env.") or reader == "_read_database":
                found.add(str(node.args[0].value))
    return found


def list_variables_explained() -> set[str]:
    """The names in .env.example, all of them commented out."""
    return set(re.findall(r"^#([A-Z_]+)=", (ROOT / ".env.example").read_text(), flags=re.MULTILINE))


def read_settings(**environment: str) -> dict[str, Any]:
    """Import the settings in a fresh process, with this environment and no .env file, and return the plain values."""
    program = (
        "import json; from config import settings;"
        "print(json.dumps({n: v for n, v in vars(settings).items() if n.isupper()}, default=str))"
    )
    clean = {"ENV_FILE": os.devnull, "PATH": os.environ["PATH"], **environment}
    run = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, env=clean, capture_output=True, text=True, check=True
    )
    values: dict[str, Any] = json.loads(run.stdout)
    return values


def test_example_environment_lists_what_settings_read() -> None:
    assert list_variables_explained() == list_variables_read()


def test_example_environment_sets_nothing_when_copied() -> None:
    assert re.findall(r"^[A-Z_]+=", (ROOT / ".env.example").read_text(), flags=re.MULTILINE) == []


def test_nothing_but_settings_reads_the_environment() -> None:
    pattern = re.compile(r"""(?:environ(?:\.get\(|\[)|getenv\()\s*["'](\w+)""")
    read_elsewhere = {
        (str(path.relative_to(ROOT)), name)
        for app in APPS
        for path in (ROOT / app).rglob("*.py")
        if path != SETTINGS
        for name in pattern.findall(path.read_text())
        if name not in NOT_SETTINGS
    }
    assert read_elsewhere == set()


def test_probe_reads_the_settings_without_loading_models_or_pages() -> None:
    program = "import json, sys, config.probe; print(json.dumps(sorted(sys.modules)))"
    clean = {"ENV_FILE": os.devnull, "PATH": os.environ["PATH"], "SECRET_KEY": "x"}
    run = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, env=clean, capture_output=True, text=True, check=True
    )

    loaded = set(json.loads(run.stdout))
    assert "config.settings" in loaded
    assert {"django.db", "django.contrib", "django.core.management", "psycopg"} & loaded == set()


def test_production_refuses_plain_http_and_hides_its_insides() -> None:
    values = read_settings(SECRET_KEY="x")
    assert {
        name: values[name]
        for name in (
            "DEBUG",
            "SESSION_COOKIE_SECURE",
            "SESSION_COOKIE_HTTPONLY",
            "CSRF_COOKIE_SECURE",
            "SECURE_SSL_REDIRECT",
            "SECURE_HSTS_SECONDS",
            "SESSION_EXPIRE_AT_BROWSER_CLOSE",
            "SESSION_COOKIE_AGE",
            "X_FRAME_OPTIONS",
        )
    } == {
        "DEBUG": False,
        "SESSION_COOKIE_SECURE": True,
        "SESSION_COOKIE_HTTPONLY": True,
        "CSRF_COOKIE_SECURE": True,
        "SECURE_SSL_REDIRECT": True,
        "SECURE_HSTS_SECONDS": 31_536_000,
        "SESSION_EXPIRE_AT_BROWSER_CLOSE": True,
        "SESSION_COOKIE_AGE": 43_200,
        "X_FRAME_OPTIONS": "DENY",
    }


def test_policy_allows_nothing_inline_and_nothing_from_elsewhere() -> None:
    policy = read_settings(SECRET_KEY="x")["CONTENT_SECURITY_POLICY"]["DIRECTIVES"]
    sources = {source for sources in policy.values() for source in sources}
    assert sources == {"'none'", "'self'", "data:"}
    assert [name for name, allowed in policy.items() if "data:" in allowed] == ["img-src"]


def test_forwarded_protocol_is_believed_only_when_told() -> None:
    assert "SECURE_PROXY_SSL_HEADER" not in read_settings()
    assert read_settings(TRUST_PROXY="true")["SECURE_PROXY_SSL_HEADER"] == ["HTTP_X_FORWARDED_PROTO", "https"]


def test_client_is_whom_a_proxy_on_this_machine_names_and_no_other() -> None:
    assert read_settings()["FORWARDED_ALLOW_IPS"] == ["127.0.0.1", "::1"]


@pytest.mark.parametrize(
    ("given", "web", "pool"),
    [
        ("", "127.0.0.1,::1", "127.0.0.1,::1"),
        ("10.0.0.7, 172.16.0.0/12", "10.0.0.7,172.16.0.0/12", "10.0.0.7,172.16.0.0/12"),
        ("*", "", "*"),  # on a port it would believe everybody
    ],
)
def test_servers_believe_the_proxies_that_are_named(given: str, web: str, pool: str) -> None:
    code = "from config import serve, serve_pool; print(serve.forwarded_allow_ips, serve_pool.forwarded_allow_ips, sep='|')"
    environment = {**os.environ, "FORWARDED_ALLOW_IPS": given, "ENV_FILE": os.devnull}
    said = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, text=True, check=True
    )
    assert said.stdout == f"{web}|{pool}\n"


def test_database_defaults_to_the_embedded_server_with_two_roles() -> None:
    databases = read_settings(HANDOVER_DATA="/srv/handover")["DATABASES"]
    expected = {"HOST": "/srv/handover/run", "NAME": "handover"}
    assert [
        {key: databases[alias][key] for key in ("USER", "HOST", "NAME")} for alias in ("default", "owner")
    ] == [
        {"USER": "handover_app", **expected},
        {"USER": "handover_owner", **expected},
    ]


def test_empty_database_address_means_the_embedded_server(tmp_path: Path) -> None:
    databases = read_settings(HANDOVER_DATA=str(tmp_path), DATABASE_URL="", DATABASE_OWNER_URL="")[
        "DATABASES"
    ]
    assert [databases[alias]["USER"] for alias in ("default", "owner")] == ["handover_app", "handover_owner"]


def test_owner_is_the_same_role_when_only_one_address_is_given() -> None:
    databases = read_settings(DATABASE_URL="postgres://me:secret@db.example.org:5433/marks")["DATABASES"]
    assert databases["owner"]["USER"] == databases["default"]["USER"] == "me"
    assert databases["owner"]["HOST"] == databases["default"]["HOST"] == "db.example.org"


@pytest.mark.parametrize(
    ("size", "options"), [("0", None), ("7", {"min_size": 1, "max_size": 7, "timeout": 5})]
)
def test_database_pool_is_bounded_by_its_size(size: str, options: dict[str, int] | None) -> None:
    databases = read_settings(DATABASE_POOL_SIZE=size)["DATABASES"]
    assert databases["default"].get("OPTIONS", {}).get("pool") == options
    assert databases["owner"].get("OPTIONS", {}).get("pool") is None


def test_host_of_the_database_that_vanishes_is_given_up_unless_the_address_knows_better() -> None:
    address = "postgres://me@db.example.org/marks?connect_timeout=9&keepalives_idle=60"
    databases = read_settings(DATABASE_URL=address)["DATABASES"]
    assert [databases[alias]["OPTIONS"] for alias in ("default", "owner")] == [
        {
            "connect_timeout": 9,
            "keepalives_idle": 60,
            "keepalives_interval": 3,
            "keepalives_count": 3,
            "tcp_user_timeout": 15_000,
        }
    ] * 2


def test_deployment_check_finds_nothing_in_production_settings() -> None:
    secret = "0123456789abcdefghijklmnopqrstuvwxyz-0123456789abcdefghijklmnopqrstuvwxyz"
    run = subprocess.run(
        [sys.executable, "manage.py", "check", "--deploy", "--fail-level", "WARNING"],
        cwd=ROOT,
        env={"ENV_FILE": os.devnull, "PATH": os.environ["PATH"], "SECRET_KEY": secret},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (run.returncode, run.stdout.strip()) == (0, "System check identified no issues (0 silenced).")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("JOB_LEASE_SECONDS", "0"),
        ("JOB_LEASE_SECONDS", "-0.5"),
        ("JOB_RETENTION_DAYS", "-1"),
        ("JOB_RETENTION_DAYS", "much"),
    ],
)
def test_a_duration_that_is_none_is_refused_by_name(name: str, value: str) -> None:
    with pytest.raises(subprocess.CalledProcessError) as refused:
        read_settings(**{name: value})
    assert f"{name}: " in refused.value.stderr


def test_durations_may_be_fractions() -> None:
    values = read_settings(JOB_LEASE_SECONDS="0.5", JOB_RETENTION_DAYS="1.5")
    assert (values["JOB_LEASE_SECONDS"], values["JOB_RETENTION_DAYS"]) == (0.5, 1.5)


@pytest.mark.parametrize(
    ("durability", "options"), [("local", None), ("quorum", "-c synchronous_commit=local")]
)
def test_commits_of_pages_wait_for_no_standby(durability: str, options: str | None) -> None:
    databases = read_settings(HANDOVER_DURABILITY=durability, HANDOVER_STANDBYS="a,b,c")["DATABASES"]
    assert [databases[alias]["OPTIONS"].get("options") for alias in ("default", "owner")] == [
        options,
        options,
    ]
