"""The container files, as far as they can be checked without an engine: same processes, same settings, every app inside."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from honcho.environ import parse_procfile

from config.postgres.folder import FORMAT
from config.serving.sockets import POOLS

ROOT = Path(__file__).resolve().parents[2]
DOCKER = ROOT / "docker"
APPS = {"config", "projections", "exams", "gradebook", "outbox"}
PROCFILES = ("Procfile", "Procfile.pools", "Procfile.broker")
STRANGERS = {"rabbitmq", "redis"}  # services that run no code of ours
CREDENTIALS = {"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"}  # read by the bucket's client


def read(name: str) -> dict[str, Any]:
    compose: dict[str, Any] = yaml.safe_load((DOCKER / name).read_text())
    return compose


@pytest.fixture(scope="module")
def compose() -> dict[str, Any]:
    return read("compose.yaml")


@pytest.fixture(scope="module")
def override() -> dict[str, Any]:
    return read("compose.override.yaml")


@pytest.fixture(scope="module")
def ours(compose: dict[str, Any]) -> dict[str, Any]:
    """The services that run our processes."""
    return {
        name: service for name, service in compose["services"].items() if name not in STRANGERS | {"prepare"}
    }


def list_processes() -> Iterator[tuple[str, str]]:
    """Each line of the Procfiles, as it is without a shell: the pools' sockets in place of their variables."""
    sockets = read("compose.yaml")["x-handover"]["environment"]
    for name in PROCFILES:
        for process, line in parse_procfile((ROOT / name).read_text()).processes.items():
            command = re.sub(r"^env \S+ ", "", line).replace('"', "")
            for variable in POOLS.values():
                command = command.replace(f"${variable}", sockets[variable])
            yield process, command


def test_compose_runs_exactly_the_processes_of_the_procfiles(ours: dict[str, Any]) -> None:
    assert {name: service["command"] for name, service in ours.items()} == dict(list_processes())


def test_compose_runs_celery_and_its_broker_only_where_they_are_asked_for(compose: dict[str, Any]) -> None:
    services = compose["services"]
    asked_for = {name: service["profiles"] for name, service in services.items() if "profiles" in service}
    brokered = [*parse_procfile((ROOT / "Procfile.broker").read_text()).processes, "rabbitmq"]
    assert asked_for == {name: ["broker"] for name in brokered} | {"redis": ["redis"]}


def test_compose_gives_every_process_the_same_settings_and_only_known_ones(ours: dict[str, Any]) -> None:
    known = set(re.findall(r"^#([A-Z_]+)=", (ROOT / ".env.example").read_text(), re.MULTILINE))
    shared = read("compose.yaml")["x-handover"]["environment"]
    serving = {"DATABASE_POOL_SIZE", "WEB_CONCURRENCY", "POOL_CONCURRENCY"}

    assert shared.keys() - known == CREDENTIALS
    more = {
        name: set(service["environment"]) - set(shared)
        for name, service in ours.items()
        if shared.items() <= service["environment"].items()
    }
    assert more == {name: serving if name in {"web", *POOLS} else set() for name in ours}


def test_override_names_its_database_to_every_process_that_there_is(
    compose: dict[str, Any], override: dict[str, Any]
) -> None:
    told = {
        name: set(service["environment"]) for name, service in override["services"].items() if name != "db"
    }
    addresses = {"DATABASE_URL", "DATABASE_OWNER_URL"}
    assert told == dict.fromkeys(compose["services"].keys() - STRANGERS, addresses)


def test_override_gives_the_server_the_embedded_servers_settings(override: dict[str, Any]) -> None:
    embedded = dict(
        re.findall(
            r"^(\w+) = ([^#\n]+?)\s*$", (ROOT / "config/postgres/handover.conf").read_text(), re.MULTILINE
        )
    )
    given = dict(flag.removeprefix("--").split("=", 1) for flag in override["services"]["db"]["command"][1:])
    assert given == {name: embedded[name] for name in given}
    assert {"fsync", "synchronous_commit", "full_page_writes", "jit", "max_connections"} <= set(given)


def test_override_makes_its_database_like_the_embedded_one(override: dict[str, Any]) -> None:
    environment = override["services"]["db"]["environment"]
    assert environment["POSTGRES_INITDB_ARGS"].split() == list(FORMAT)


def test_compose_starts_nothing_before_the_database_is_prepared(
    ours: dict[str, Any], override: dict[str, Any]
) -> None:
    prepared = {"prepare": {"condition": "service_completed_successfully"}}
    with_broker = prepared | {"rabbitmq": {"condition": "service_healthy"}}
    assert override["services"]["prepare"]["depends_on"] == {"db": {"condition": "service_healthy"}}
    assert {name: service["depends_on"] for name, service in ours.items()} == {
        name: with_broker if name in {"celery", "beat"} else prepared for name in ours
    }


def test_compose_keeps_data_in_named_volumes_and_passwords_out_of_the_files(
    compose: dict[str, Any], override: dict[str, Any]
) -> None:
    assert set(compose["volumes"]) == {"data", "sockets", "broker"}
    assert set(override["volumes"]) == {"database"}
    text = (DOCKER / "compose.yaml").read_text() + (DOCKER / "compose.override.yaml").read_text()
    assert set(re.findall(r"\$\{(\w+PASSWORD):\?", text)) == {
        "POSTGRES_PASSWORD",
        "OWNER_PASSWORD",
        "APP_PASSWORD",
    }
    assert re.findall(r"(?:PASSWORD|PASS|KEY|TOKEN): (?!\$\{)", text) == []


def test_image_and_its_context_contain_every_app_and_nothing_else() -> None:
    dockerfile = (DOCKER / "Dockerfile").read_text()
    copied = set(re.findall(r"^COPY (\w+) \1$", dockerfile, re.MULTILINE))
    locked = set(re.findall(r"requirements/\w+\.txt", dockerfile))
    allowed = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    assert copied == APPS
    assert allowed == APPS | locked | {"manage.py"}


def test_image_does_not_run_as_root_and_owns_what_is_mounted(compose: dict[str, Any]) -> None:
    dockerfile = (DOCKER / "Dockerfile").read_text()
    [made] = re.findall(r"install -d -m 0700 -o handover -g handover (.+)", dockerfile)
    mounted = [volume.partition(":")[2] for volume in compose["x-handover"]["volumes"]]
    assert re.findall(r"^USER (\w+)$", dockerfile, re.MULTILINE) == ["handover"]
    assert made.split() == mounted
    assert {
        str(Path(compose["x-handover"]["environment"][variable]).parent) for variable in POOLS.values()
    } == {"/sockets"}
