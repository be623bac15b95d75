"""Recognisable secrets are sent through every door of real processes; then everything those processes said is searched for them."""

import json
import re
import signal
from pathlib import Path

import httpx
import pytest

from exams.models import Attempt, Result
from gradebook.models import MarkSheet, User
from tests import factories
from tests.exams.api.callers import with_token
from tests.people import World
from tests.processes.running import Running
from tests.serving import PRODUCT, find_free_port
from tests.waiting import wait_until

pytestmark = [pytest.mark.process, pytest.mark.django_db(transaction=True)]

WORD = "hush7391"  # in every secret, so that any piece of one is found
ANSWERS = {"q1": f"{WORD} answer"}


class Doors:
    """One client of the real web server."""

    def __init__(self, http: httpx.Client) -> None:
        self._http = http

    def is_open(self) -> bool:
        try:
            return self._http.get("/readyz").status_code == 200
        except httpx.TransportError:
            return False

    def call(self, method: str, path: str, body: object, **headers: str) -> int:
        """Send JSON, or a text as it is."""
        content = body if isinstance(body, str) else json.dumps(body)
        return self._http.request(
            method,
            f"{path}?name={WORD}",
            content=content,
            headers={"Content-Type": "application/json", "X-Request-ID": f"{WORD}-id", **headers},
        ).status_code

    def sign_in(self, username: str, password: str) -> int:
        """Use the page."""
        page = self._http.get("/accounts/login/").text
        token = re.findall(r'name="csrfmiddlewaretoken" value="(\w+)"', page)[0]
        form = {"username": username, "password": password, "csrfmiddlewaretoken": token}
        return self._http.post("/accounts/login/", data=form).status_code

    def save_marks(self, sheet: MarkSheet, body: object) -> int:
        """Save as the sheet's script does, after signing in."""
        token = self._http.cookies["csrftoken"]
        return self.call("POST", f"/marksheets/{sheet.pk}/marks", body, **{"X-CSRFToken": token})


@pytest.fixture
def people(teacher: User, student: User) -> tuple[User, User]:
    """The student and the teacher, with private things to be found."""
    for person in (student, teacher):
        person.set_password(f"{WORD} password")
        person.first_name, person.email = WORD, f"{WORD}@school.example"
        person.save()
    return student, teacher


def knock(doors: Doors, world: World, attempt: Attempt, token: str, teacher: User) -> list[int]:
    """Go to every door with secrets: rightly, wrongly, and with what cannot be read. Return what they answered."""
    column = factories.column(world.sheet, title=WORD)
    work = f"/api/v1/attempts/{attempt.pk}"
    mine, wrong = {"Authorization": f"Bearer {token}"}, {"Authorization": f"Bearer {WORD}"}
    login = {"username": attempt.student.username, "password": f"{WORD} password"}
    change = {
        "column": str(column.pk),
        "student": str(attempt.student_id),
        "version": 0,
        "entry": f"{WORD} mark",
    }
    save = {"by": str(teacher.pk), "term": 1, "decimal_sign": ".", "changes": [change]}
    return [
        doors.call("POST", "/api/v1/tokens", login),
        doors.call("POST", "/api/v1/tokens", {**login, "username": f"{WORD}@school.example"}),
        doors.call("POST", "/api/v1/tokens", f'{{"username": {WORD}'),
        doors.call("PUT", f"{work}/draft", {"answers": ANSWERS, "token": None}, **mine),
        doors.call("PUT", f"{work}/draft", f"[{WORD}", **mine),
        doors.call("POST", f"{work}/submission", f"[{WORD}", **mine),
        doors.call("POST", f"{work}/submission", {"answers": ANSWERS}, **wrong),
        doors.call("POST", f"{work}/submission", {"answers": ANSWERS}, **mine),
        doors.call("GET", f"/api/v1/{WORD}", ""),
        doors.call("GET", f"/{WORD}/", "", Cookie=f"sessionid={WORD}"),
        doors.sign_in(WORD, f"{WORD} password"),
        doors.sign_in(teacher.username, f"{WORD} password"),
        doors.save_marks(world.sheet, save),
        doors.save_marks(world.sheet, f"[{WORD}"),
    ]


def test_nothing_that_is_private_gets_into_a_log(
    world: World,
    people: tuple[User, User],
    attempt: Attempt,
    process_environment: dict[str, str],
    tmp_path: Path,
) -> None:
    student, teacher = people
    token, port = with_token(student).token, find_free_port()
    chosen = {
        "PORT": str(port),
        "HTTPS": "false",
        "WEB_CONCURRENCY": "1",
        "LOG_FORMAT": "json",
        "LOG_LEVEL": "DEBUG",
    }
    environment = {**process_environment, **chosen}
    with (
        Running(*PRODUCT, program=("-m", "gunicorn"), environment=environment, log=tmp_path / "web") as web,
        Running("run_worker", environment=environment, log=tmp_path / "worker") as worker,
        httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=20) as http,
    ):
        doors = Doors(http)
        wait_until(lambda: web.has_ended or doors.is_open(), seconds=60)
        answers = knock(doors, world, attempt, token, teacher)
        wait_until(lambda: Result.objects.filter(attempt_id=attempt.pk).exists())
        for process in (web, worker):
            process.send(signal.SIGTERM)
            process.wait()
    assert answers == [201, 401, 400, 200, 400, 400, 401, 202, 404, 404, 200, 302, 200, 400]
    said = web.output + worker.output
    assert [line for line in said.splitlines() if WORD in line] == []
    assert token not in said
    lines = [json.loads(line) for line in web.output.splitlines()]
    assert (
        sum(line["logger"] == "handover.request" for line in lines) >= len(answers) - 3
    )  # the gate writes none
    assert [line for line in lines if "submission" in line.get("path", "")] == []
