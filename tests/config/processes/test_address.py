"""Commands find the product that runs on their data folder, wherever it listens, and are not misled by one that was killed."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
from django.core.management import CommandError, call_command

from config.processes.address import Listening, find_listening, noted, write_place
from tests.serving import ROOT, find_free_port

KILLED = """
import os, pathlib, signal, sys
from config.processes.address import noted
with noted(pathlib.Path(sys.argv[1]), host="127.0.0.1", port=9999):
    os.kill(os.getpid(), signal.SIGKILL)
"""


class Healthy(BaseHTTPRequestHandler):
    """Says that all is up."""

    def do_GET(self) -> None:
        body = json.dumps({"status": "up", "missing": []}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def port() -> Iterator[int]:
    """A port at which somebody answers as a Handover that is up."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Healthy) as server:
        Thread(target=server.serve_forever).start()
        yield server.server_port
        server.shutdown()


def probe(folder: Path, port: int) -> tuple[int, str]:
    """Run the probe as somebody does who knows the folder, and `port` only from the default."""
    done = subprocess.run(
        [sys.executable, "-m", "config.probe"],
        cwd=ROOT,
        env={**os.environ, "HANDOVER_DATA": str(folder), "PORT": str(port)},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout


def test_address_is_found_while_the_product_runs_and_gone_afterwards(tmp_path: Path) -> None:
    with noted(tmp_path, host="0.0.0.0", port=8123):
        assert find_listening(tmp_path, host="127.0.0.1", port=8000) == Listening("127.0.0.1", 8123)
    assert find_listening(tmp_path, host="127.0.0.1", port=8000) == Listening("127.0.0.1", 8000)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("host", "place"),
    [("::1", "[::1]:8123"), ("127.0.0.1", "127.0.0.1:8123"), ("exams.example.org", "exams.example.org:8123")],
)
def test_address_of_ipv6_has_brackets_before_its_port(host: str, place: str) -> None:
    assert write_place(host, 8123) == place
    assert Listening(host, 8123).url == f"http://{place}"


@pytest.mark.parametrize("host", ["::1", "[::1]"])
def test_host_of_ipv6_may_be_given_with_brackets_or_without(host: str) -> None:
    asked = subprocess.run(
        [
            sys.executable,
            "-c",
            "from config import serve as s; print(s.bind, s.settings.HOST, s.settings.SITE_URL)",
        ],
        cwd=ROOT,
        env={**os.environ, "ENV_FILE": os.devnull, "HOST": host, "PORT": "8123", "SITE_URL": ""},
        capture_output=True,
        text=True,
        check=True,
    )
    assert asked.stdout == "[::1]:8123 ::1 http://[::1]:8123\n"


def test_address_that_a_killed_run_left_is_not_believed(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-c", KILLED, str(tmp_path)], cwd=ROOT, check=False)
    left = json.loads((tmp_path / "address.json").read_text())
    assert left["port"] == 9999

    assert find_listening(tmp_path, host="127.0.0.1", port=8000).port == 8000

    (tmp_path / "address.json").write_text(
        json.dumps(left | {"pid": os.getpid()})
    )  # its number, given to another
    assert find_listening(tmp_path, host="127.0.0.1", port=8000).port == 8000


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"pid": -1, "began": 0}', "null"])
def test_address_that_cannot_be_read_is_none(tmp_path: Path, text: str) -> None:
    (tmp_path / "address.json").write_text(text)

    assert find_listening(tmp_path, host="127.0.0.1", port=8000).port == 8000


def test_probe_asks_where_the_product_listens(tmp_path: Path, port: int) -> None:
    with noted(tmp_path, host="127.0.0.1", port=port):
        assert probe(tmp_path, find_free_port()) == (0, "up\n")


def test_probe_says_where_it_found_nobody(tmp_path: Path) -> None:
    nowhere = find_free_port()

    code, said = probe(tmp_path, nowhere)

    assert (code, said.splitlines()[0]) == (1, "missing: web")
    assert f"Nobody answers at http://127.0.0.1:{nowhere}." in said
    assert "PORT" in said


@pytest.mark.django_db(transaction=True)
def test_rehearsal_that_finds_nobody_says_how_to_name_the_place_and_leaves_no_page(tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    nowhere = f"http://127.0.0.1:{find_free_port()}"

    with pytest.raises(
        CommandError, match=rf"^No Handover answers at {nowhere}: .* --address http://HOST:PORT"
    ):
        call_command(
            "rehearse_deadline", "--students=1", "--window=1", f"--report={page}", f"--address={nowhere}"
        )

    assert list(tmp_path.iterdir()) == []
