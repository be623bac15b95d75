"""A real web server process on the test database, and a real Chromium in front of it.

`site` is the server's address, `open_page(person)` a browser window in which that person is signed in. At the end of a test
every window is asked what went wrong in it: an uncaught error or a broken content policy fails the test.
"""

import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.request import urlopen

import pytest
from django.conf import settings
from django.db import connection
from django.test import Client
from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Page,
    Playwright,
    ViewportSize,
    sync_playwright,
)

from config.postgres import Cluster
from config.postgres.place import SUPERUSER

if TYPE_CHECKING:  # pytest may load this file before Django is set up
    from gradebook.models import User

ROOT = Path(__file__).resolve().parents[2]
DESKTOP: ViewportSize = {"width": 1280, "height": 800}
PHONE: ViewportSize = {"width": 390, "height": 844}
_FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]

_BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")

OpenPage = Callable[..., Page]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Everything in this folder drives a browser, says so, and comes last.

    Last, because Playwright's event loop stays in the thread that ran the first journey, and no test of asynchronous code
    may come after it there.
    """
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent):
            item.add_marker(pytest.mark.journey)
    items.sort(key=lambda item: item.get_closest_marker("journey") is not None)


@pytest.fixture(scope="session")
def _web_process(django_db_setup: None, server: Cluster) -> Iterator[str]:
    """The product's own web server on this worker's test database; one for the whole run."""
    port = _free_port()
    database = server.url(SUPERUSER, str(settings.DATABASES["default"]["NAME"]))
    environment = {**os.environ, "DATABASE_URL": database, "DATABASE_OWNER_URL": database, "PORT": str(port)}
    command = [sys.executable, "-m", "gunicorn", "--config", "python:config.serve", "config.asgi:application"]
    process = subprocess.Popen(command, cwd=ROOT, env=environment)
    try:
        address = f"http://127.0.0.1:{port}"
        _wait_until_it_answers(address, process)
        yield address
    finally:
        process.terminate()
        process.wait(timeout=30)


@pytest.fixture
def site(transactional_db: None, _web_process: str) -> str:
    """The address of the running site; what a test commits is what the site sees."""
    return _web_process


@pytest.fixture(scope="session")
def _playwright() -> Iterator[Playwright]:
    # Playwright's synchronous face runs an event loop in this thread, which Django would take for asynchronous code.
    with pytest.MonkeyPatch.context() as patch, sync_playwright() as playwright:
        patch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "true")
        yield playwright


@pytest.fixture(scope="session")
def browser(_playwright: Playwright) -> Iterator[Browser]:
    """The system's Chromium; of two builds the one without windows and menus, which does the same in two thirds of the time."""
    chromium = next(filter(None, map(shutil.which, _BROWSERS)), None)
    if chromium is None:
        pytest.fail(
            "Journeys need Chromium: run tests/install_browser.sh, or install it and put it on the PATH."
        )
    browser = _playwright.chromium.launch(executable_path=chromium, headless=True, args=_FLAGS)
    yield browser
    browser.close()


@pytest.fixture
def open_page(browser: Browser, site: str) -> Iterator[OpenPage]:
    """Return `open_page(person, path="/", **options)`: a window of its own, signed in; options are those of a browser context."""
    contexts: list[BrowserContext] = []
    troubles: list[str] = []

    def open_page(person: "User | None" = None, path: str = "/", **options: Any) -> Page:
        defaults: dict[str, Any] = {"base_url": site, "viewport": DESKTOP, "locale": "en-GB"}
        context = browser.new_context(**defaults | options)
        contexts.append(context)
        if person is not None:
            sign_in(context, person, site)
        page = context.new_page()
        page.on("pageerror", lambda error: troubles.append(f"uncaught: {error}"))
        page.on("console", lambda message: troubles.extend(_complaints(message)))
        page.goto(path)
        return page

    yield open_page
    for context in contexts:
        context.close()
    _wait_until_the_site_rests()
    assert troubles == []


def sign_in(context: BrowserContext, person: "User", site: str) -> None:
    """Give the window this person's session, as the sign-in page would."""
    client = Client()
    client.force_login(person)
    cookie = client.cookies[settings.SESSION_COOKIE_NAME]
    context.add_cookies([{"name": settings.SESSION_COOKIE_NAME, "value": cookie.value, "url": site}])


def _complaints(message: ConsoleMessage) -> list[str]:
    """Return what an error in the console says; a refused or failed request is the page's business to handle."""
    if message.type != "error" or message.text.startswith("Failed to load resource"):
        return []
    return [message.text]


def _wait_until_the_site_rests(seconds: float = 30) -> None:
    """Wait for what a closed window had just asked: a statement still running would deadlock with the emptying of the tables."""
    busy = (
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
        " AND backend_type = 'client backend' AND state <> 'idle'"
    )
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        with connection.cursor() as cursor:
            cursor.execute(busy)
            if cursor.fetchone() == (0,):
                return
        time.sleep(0.02)
    pytest.fail(f"The site was still busy with the database {seconds:.0f} s after its windows were closed.")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _wait_until_it_answers(address: str, process: subprocess.Popen[bytes], seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        assert process.poll() is None, "The web server ended at once; its words are above."
        try:
            with urlopen(f"{address}/accounts/login/", timeout=5):
                return
        except OSError:
            time.sleep(0.1)
    pytest.fail(f"The web server did not answer within {seconds:.0f} s.")
