"""Static files: served whole, in parts and not at all; collected when one changed and only then."""

import fcntl
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.test import AsyncClient, Client

from config.statics import collect_when_changed, fingerprint
from tests.waiting import wait_until

LOCKS = Path("/proc/locks")
ICON = Path(__file__).resolve().parents[2] / "config" / "static" / "icon.svg"


def test_file_is_served_with_its_type(client: Client) -> None:
    answer = client.get("/static/icon.svg")
    assert (answer.status_code, answer.headers["Content-Type"]) == (200, "image/svg+xml")
    assert answer.content == ICON.read_bytes()
    assert answer.headers["Content-Length"] == str(ICON.stat().st_size)
    assert "Access-Control-Allow-Origin" not in answer.headers


def test_file_that_did_not_change_is_not_sent_again(client: Client) -> None:
    modified = client.get("/static/icon.svg").headers["Last-Modified"]
    answer = client.get("/static/icon.svg", headers={"If-Modified-Since": modified})
    assert (answer.status_code, answer.content) == (304, b"")


def test_part_of_a_file_is_served(client: Client) -> None:
    answer = client.get("/static/icon.svg", headers={"Range": "bytes=1-3"})
    assert (answer.status_code, answer.content) == (206, ICON.read_bytes()[1:4])


def test_head_sends_no_content(client: Client) -> None:
    answer = client.head("/static/icon.svg")
    assert (answer.status_code, answer.content) == (200, b"")


async def _fetch(address: str) -> Any:
    return await AsyncClient().get(address)


def test_file_is_served_under_asgi_without_a_stream() -> None:
    answer = async_to_sync(_fetch)("/static/icon.svg")
    assert (answer.streaming, answer.content) == (False, ICON.read_bytes())


@pytest.mark.parametrize(
    "address", ["/static/../manage.py", "/static/%2e%2e/manage.py", "/static/css", "/static/no.css"]
)
@pytest.mark.django_db
def test_nothing_else_is_served(client: Client, address: str) -> None:
    assert client.get(address).status_code == 404


def test_files_are_collected_again_only_after_a_change(settings: Any, tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    (source / "page.css").write_text("body { color: red }")
    settings.STATICFILES_FINDERS = ["django.contrib.staticfiles.finders.FileSystemFinder"]
    settings.STATICFILES_DIRS = [source]
    settings.STATIC_ROOT = tmp_path / "collected"

    assert [collect_when_changed(), collect_when_changed()] == [True, False]
    before = fingerprint()
    (source / "page.css").write_text("body { color: tan }")
    os.utime(source / "page.css", (1, 1))
    assert fingerprint() != before
    assert [collect_when_changed(), collect_when_changed()] == [True, False]
    assert (tmp_path / "collected" / "page.css").read_text() == "body { color: tan }"

    (source / "page.css").unlink()
    assert collect_when_changed() is True
    assert not (tmp_path / "collected" / "page.css").exists()


def test_two_who_collect_at_once_take_turns(settings: Any, tmp_path: Path) -> None:
    """The second would take away what the first has just written, and either could miss a file."""
    settings.STATICFILES_FINDERS = ["django.contrib.staticfiles.finders.FileSystemFinder"]
    settings.STATICFILES_DIRS = [ICON.parent / "css"]
    settings.STATIC_ROOT = root = tmp_path / "collected"
    root.mkdir()
    waiting = f":{root.stat().st_ino} 0 EOF"
    first = os.open(root, os.O_RDONLY)
    fcntl.flock(first, fcntl.LOCK_EX)
    with ThreadPoolExecutor(1) as pool:
        second = pool.submit(collect_when_changed)
        try:
            wait_until(
                lambda: any("->" in line and waiting in line for line in LOCKS.read_text().splitlines())
            )
            assert list(root.iterdir()) == []
        finally:
            os.close(first)
        assert second.result() is True
    assert (root / ".collected").exists()


def test_files_of_the_version_before_stay_for_who_still_shows_its_pages(
    settings: Any, tmp_path: Path
) -> None:
    source, collected = tmp_path / "source", tmp_path / "collected"
    source.mkdir()
    settings.STATICFILES_FINDERS = ["django.contrib.staticfiles.finders.FileSystemFinder"]
    settings.STATICFILES_DIRS = [source]
    settings.STATIC_ROOT = collected
    hashed = {"BACKEND": "config.statics.HashedStaticFilesStorage"}
    settings.STORAGES = {**settings.STORAGES, "staticfiles": hashed}

    def collect(color: str) -> set[str]:
        """Collect a style sheet of this colour; return the colours that can be had by name."""
        (source / "page.css").write_text(f"body {{ color: {color} }}" + " " * 500)
        collect_when_changed()
        return {file.read_text().split()[3] for file in collected.glob("page.*.css")}

    assert [collect(color) for color in ("red", "tan", "sky")] == [{"red"}, {"red", "tan"}, {"tan", "sky"}]
    packed = sorted(file.name.removesuffix(".gz") for file in collected.glob("page.*.gz"))
    assert packed == sorted(file.name for file in collected.glob("page.*css"))
