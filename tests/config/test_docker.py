"""The container files, as far as they can be checked without an engine: same processes, same settings, every app inside."""

import re
from pathlib import Path
from typing import Any

import yaml
from honcho.environ import parse_procfile

ROOT = Path(__file__).resolve().parents[2]
APPS = {"config", "projections", "exams", "gradebook", "outbox"}


def read_compose() -> dict[str, Any]:
    compose: dict[str, Any] = yaml.safe_load((ROOT / "docker" / "compose.yaml").read_text())
    return compose


def test_compose_runs_exactly_the_processes_of_the_procfile() -> None:
    services = read_compose()["services"]
    procfile = parse_procfile((ROOT / "Procfile").read_text()).processes
    without_shell = {name: re.sub(r"^env \S+ ", "", command) for name, command in procfile.items()}
    assert {
        name: service["command"] for name, service in services.items() if name not in {"db", "prepare"}
    } == without_shell


def test_compose_gives_the_server_the_embedded_servers_settings() -> None:
    embedded = dict(
        re.findall(
            r"^(\w+) = ([^#\n]+?)\s*$", (ROOT / "config/postgres/handover.conf").read_text(), re.MULTILINE
        )
    )
    given = dict(
        flag.removeprefix("--").split("=", 1) for flag in read_compose()["services"]["db"]["command"][1:]
    )
    assert given == {name: embedded[name] for name in given}
    assert {"fsync", "synchronous_commit", "full_page_writes", "jit", "max_connections"} <= set(given)


def test_compose_starts_nothing_before_the_database_is_prepared() -> None:
    services = read_compose()["services"]
    assert services["prepare"]["depends_on"] == {"db": {"condition": "service_healthy"}}
    waiting = {
        name: service["depends_on"] for name, service in services.items() if name not in {"db", "prepare"}
    }
    prepared = {"prepare": {"condition": "service_completed_successfully"}}
    assert [wait for wait in waiting.values() if wait != prepared] == []


def test_compose_keeps_data_in_named_volumes_and_passwords_out_of_the_file() -> None:
    compose = read_compose()
    assert set(compose["volumes"]) == {"database", "data"}
    text = (ROOT / "docker" / "compose.yaml").read_text()
    assert set(re.findall(r"\$\{(\w+PASSWORD):\?", text)) == {
        "POSTGRES_PASSWORD",
        "OWNER_PASSWORD",
        "APP_PASSWORD",
    }
    assert re.findall(r"PASSWORD: (?!\$\{)", text) == []


def test_image_and_its_context_contain_every_app_and_nothing_else() -> None:
    copied = set(re.findall(r"^COPY (\w+) \1$", (ROOT / "docker" / "Dockerfile").read_text(), re.MULTILINE))
    allowed = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    assert copied == APPS
    assert allowed == APPS | {"requirements/base.txt", "manage.py"}


def test_image_does_not_run_as_root() -> None:
    assert re.findall(r"^USER (\w+)$", (ROOT / "docker" / "Dockerfile").read_text(), re.MULTILINE) == [
        "handover"
    ]
