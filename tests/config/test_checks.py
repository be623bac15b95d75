"""What `manage.py check --deploy` finds in an installation that others are to reach."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as django_settings
from django.contrib.auth.hashers import make_password
from django.core.checks import CheckMessage
from pytest_django import Settings

from config import checks, run
from config import settings as own
from config.attachment_storage import read_attachment_storage
from config.postgres import Cluster
from config.welcome import PASSWORD
from tests import factories
from tests.attachments.buckets import KEYS, bucket_server
from tests.serving import find_free_port

SMTP = "django.core.mail.backends.smtp.EmailBackend"
FILES = "django.core.mail.backends.filebased.EmailBackend"
PROXY = ("HTTP_X_FORWARDED_PROTO", "https")


def ids(found: list[CheckMessage]) -> list[str]:
    return [str(message.id) for message in found]


@pytest.fixture
def reached(settings: Settings) -> Settings:
    """An installation as it should be, that others reach by name."""
    settings.NAMED_HOSTS = ["exams.example.org"]
    settings.SITE_URL = "https://exams.example.org"
    settings.HTTPS = True
    settings.SECURE_PROXY_SSL_HEADER = PROXY
    settings.EMAIL_BACKEND = SMTP
    return settings


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, ["config.E003"]),
        ({"is_active": False}, []),
        ({"password": make_password("another one")}, []),
        ({"username": "somebody"}, []),
    ],
)
def test_passwords_that_everybody_knows_are_an_error_where_others_reach_them(
    reached: Settings, changes: dict[str, Any], expected: list[str]
) -> None:
    factories.admin(**{"username": "admin", "password": make_password(PASSWORD)} | changes)
    assert ids(checks.check_known_passwords(None)) == expected
    reached.NAMED_HOSTS = []
    assert checks.check_known_passwords(None) == []


@pytest.mark.parametrize(
    ("changes", "is_ours", "may"),
    [
        ({}, True, True),
        ({}, False, False),
        ({"HOST": "0.0.0.0"}, True, False),
        ({"NAMED_HOSTS": ["exams.example.org"]}, True, False),  # a proxy beside us hands others on
        ({"DEBUG": True, "HOST": "0.0.0.0"}, True, True),
    ],
)
def test_demo_school_is_made_out_of_others_reach(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, changes: dict[str, Any], is_ours: bool, may: bool
) -> None:
    for name, value in ({"HOST": "127.0.0.1", "NAMED_HOSTS": [], "DEBUG": False} | changes).items():
        monkeypatch.setattr(own, name, value)
    assert run.may_have_demo(Cluster(tmp_path) if is_ours else None) is may


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, []),
        ({"SITE_URL": "http://127.0.0.1:8000"}, ["config.W001"]),
        ({"SITE_URL": "http://exams.example.org"}, ["config.W001"]),
        ({"SECURE_PROXY_SSL_HEADER": None}, ["config.W002"]),
        ({"HTTPS": False, "SECURE_PROXY_SSL_HEADER": None}, []),
        ({"EMAIL_BACKEND": FILES}, ["config.W003"]),
        ({"NAMED_HOSTS": [], "SITE_URL": "http://127.0.0.1:8000", "EMAIL_BACKEND": FILES}, []),
    ],
)
def test_addresses_are_looked_at_where_others_are_to_reach_them(
    reached: Settings, changes: dict[str, object], expected: list[str]
) -> None:
    for name, value in changes.items():
        setattr(reached, name, value)
    assert ids(checks.check_addresses(None)) == expected


@pytest.mark.parametrize(
    ("url", "token", "expected"),
    [
        ("", "", []),
        ("https://proctor.example.org", "t", []),
        ("http://proctor.example.org", "t", ["config.W004"]),
        ("https://proctor.example.org", "", ["config.W004"]),
    ],
)
def test_proctoring_service_is_told_in_secret_and_by_somebody_it_knows(
    settings: Settings, url: str, token: str, expected: list[str]
) -> None:
    settings.PROCTORING_URL, settings.PROCTORING_TOKEN = url, token
    assert ids(checks.check_proctoring(None)) == expected


def test_folder_that_nothing_can_be_written_to_is_named_by_its_setting(
    settings: Settings, tmp_path: Path
) -> None:
    settings.DATA_DIR, settings.KEYS_DIR = Path("/proc/handover"), tmp_path / "not" / "yet"

    [found] = checks.check_folders(None)

    assert (found.id, found.msg) == (
        "config.E001",
        "HANDOVER_DATA: nothing can be written to /proc/handover.",
    )
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("folder", "expected"), [("/proc/attachments", ["config.E002"]), ("", [])])
def test_folder_of_attachments_is_looked_at(
    settings: Settings, tmp_path: Path, folder: str, expected: list[str]
) -> None:
    entry = read_attachment_storage("", Path(folder or tmp_path))
    settings.STORAGES = {**settings.STORAGES, "attachments": entry}
    assert ids(checks.check_attachments(None)) == expected
    assert list(tmp_path.iterdir()) == []


def test_bucket_is_written_to_and_left_as_it_was(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)

    def look(url: str) -> list[CheckMessage]:
        entry = read_attachment_storage(url, django_settings.DATA_DIR)
        settings.STORAGES = {**settings.STORAGES, "attachments": entry}
        return checks.check_attachments(None)

    with bucket_server() as bucket:
        well = look(bucket.url)
        left = bucket.list_keys()
        [stranger] = look(bucket.url.replace("photos", "elsewhere"))
    [away] = look(bucket.url)

    assert (well, left) == ([], [])
    assert (stranger.id, away.id) == ("config.E002", "config.E002")
    assert "NoSuchBucket" in stranger.msg or "bucket does not exist" in stranger.msg
    assert "Could not connect" in away.msg


@pytest.mark.parametrize(
    ("setting", "scheme", "look", "expected"),
    [
        ("REDIS_URL", "redis", checks.check_redis, "config.W005"),
        ("CELERY_BROKER_URL", "amqp", checks.check_broker, "config.W006"),
    ],
)
def test_what_does_not_answer_is_a_warning_naming_its_setting(
    settings: Settings,
    setting: str,
    scheme: str,
    look: Callable[[None], list[CheckMessage]],
    expected: str,
) -> None:
    setattr(settings, setting, "")
    unset = look(None)
    setattr(settings, setting, f"{scheme}://127.0.0.1:{find_free_port()}/0")
    [found] = look(None)

    assert (unset, found.id) == ([], expected)
    assert found.msg.startswith(f"{setting}: ")
