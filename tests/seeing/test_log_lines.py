"""Log lines: their two forms, what is taken out of them, and the one line for each request with the id that joins it to its events."""

import json
import logging
import uuid
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.core.exceptions import ImproperlyConfigured
from django.test import AsyncClient, Client
from django.test.utils import override_settings
from gunicorn.config import Config

from config.logs.lines import NO_ROUTE, make_line
from config.logs.privacy import scrub
from config.logs.requests import choose_request_id
from config.logs.server import ServerLog
from config.logs.setup import describe_logging
from exams.models import Exam
from gradebook.models import User
from outbox.correlation import correlated, find_correlation_id
from outbox.models import Event
from tests.seeing.written import Lines, lines

__all__ = ["lines"]

SECRET = "eyJhbGciOiJIUzI1NiIsImtpZCI6IjEifQ.eyJzdWIiOiJ4In0.s3cr3t"
REQUEST_ID = uuid.UUID("0192f0c1-2d3e-7a4b-8c5d-6e7f80910213")


@pytest.mark.parametrize(
    ("text", "scrubbed"),
    [
        (f"the token {SECRET} is old", "the token [token] is old"),
        ("Authorization: Bearer abc.def", "Authorization: Bearer [token]"),
        ("mail to ann.lee@school.example failed", "mail to [e-mail] failed"),
        ("postgres://app:pass@db:5432/x", "postgres://[credentials]@db:5432/x"),
        ("GET /exams/?name=Ann&x=1 HTTP/1.1", "GET /exams/?[query] HTTP/1.1"),
        (
            'duplicate key value violates "users_username_key"\nDETAIL:  Key (username)=(ann) already exists.',
            'duplicate key value violates "users_username_key"\nDETAIL: [left out]',
        ),
        (
            'invalid input syntax for type uuid: "Ann Lee"\nLINE 1: x',
            "invalid input syntax for type uuid: [value]\nLINE 1: x",
        ),
        ("12 jobs in 3 s (budget 60 s)? Yes.", "12 jobs in 3 s (budget 60 s)? Yes."),
    ],
)
def test_line_is_scrubbed_of_what_is_private(text: str, scrubbed: str) -> None:
    assert scrub(text) == scrubbed


def record_of(message: str, *args: object, **fields: Any) -> logging.LogRecord:
    record = logging.LogRecord("outbox.queue.worker", logging.WARNING, __file__, 1, message, args, None)
    record.__dict__.update(created=1_790_000_000.25, process=7, **fields)
    return record


def test_json_line_has_chosen_fields_only() -> None:
    record = record_of("%d jobs of %s", 3, "ann@school.example", password="hunter2", facts={"status": 200})
    assert json.loads(make_line("json").format(record)) == {
        "at": "2026-09-21T14:13:20.250+00:00",
        "level": "warning",
        "logger": "outbox.queue.worker",
        "message": "3 jobs of [e-mail]",
        "process": 7,
        "status": 200,
    }


def test_json_line_is_one_line_with_its_error_scrubbed() -> None:
    error = ValueError(f"no such token: {SECRET}")
    record = record_of("It failed.\nBadly.", exc_info=(ValueError, error, None))
    line = make_line("json").format(record)
    assert "\n" not in line
    assert json.loads(line)["error"].splitlines()[-1] == "ValueError: no such token: [token]"


def test_text_line_is_for_people() -> None:
    line = make_line("text").format(record_of("%d jobs of %s", 3, "ann@school.example"))
    assert line.endswith(" WARNING outbox.queue.worker: 3 jobs of [e-mail]")


def test_line_is_joined_to_what_caused_it() -> None:
    with correlated(REQUEST_ID):
        inside = json.loads(make_line("json").format(record_of("inside")))
    outside = json.loads(make_line("json").format(record_of("outside")))
    assert (inside["correlation_id"], "correlation_id" in outside) == (str(REQUEST_ID), False)
    assert find_correlation_id() is None


@pytest.mark.parametrize(
    "given",
    [None, "", "7", "Ann Lee was here", "x" * 36, "{0192f0c12d3e7a4b8c5d6e7f80910213}", "0192f0c1" * 9],
)
def test_request_gets_an_id_of_its_own_when_it_brings_none_that_is_well_formed(given: str | None) -> None:
    assert choose_request_id(given).version == 7
    assert choose_request_id(given) != choose_request_id(given)


@pytest.mark.parametrize("given", [str(REQUEST_ID), REQUEST_ID.hex, str(REQUEST_ID).upper()])
def test_request_keeps_the_id_it_brings(given: str) -> None:
    assert choose_request_id(given) == REQUEST_ID


@pytest.mark.django_db
def test_request_writes_one_line_without_its_address(
    client: Client, exam: Exam, student: User, lines: Lines
) -> None:
    client.force_login(student)
    lines.take()
    answer = client.get(f"/exams/{exam.pk}/?name=Ann", headers={"X-Request-ID": str(REQUEST_ID)})
    (line,) = lines.take()
    assert answer.headers["X-Request-ID"] == str(REQUEST_ID)
    assert line.pop("milliseconds") > 0
    assert {line.pop(name) is not None for name in ("at", "process", "message")} == {True}
    assert line == {
        "level": "info",
        "logger": "handover.request",
        "method": "GET",
        "path": "/exams/<uuid:exam_id>/",
        "tier": "work",
        "status": 200,
        "request_id": str(REQUEST_ID),
        "correlation_id": str(REQUEST_ID),
    }


@pytest.mark.django_db
def test_request_for_nothing_names_no_address(client: Client, lines: Lines) -> None:
    client.get("/people/ann-lee/")
    (line,) = lines.take()
    assert (line["path"], line["status"], "ann" in json.dumps(line)) == (NO_ROUTE, 404, False)


@pytest.mark.django_db
def test_probe_writes_no_line(client: Client, lines: Lines) -> None:
    for path in ("/healthz", "/readyz", "/metrics", "/favicon.ico"):
        client.get(path)
    assert lines.take() == []


@pytest.mark.django_db
@override_settings(ROOT_URLCONF="tests.config.raising_urls")
def test_failed_request_names_its_route_and_keeps_its_traceback(client: Client, lines: Lines) -> None:
    client.raise_request_exception = False
    client.get("/page/bug")
    error, line = lines.take()
    assert (line["status"], line["path"]) == (500, "/page/<name>")
    assert error["message"] == "Internal Server Error: /page/<name>"
    assert error["level"] == "error"
    assert error["error"].startswith("Traceback")
    assert error["correlation_id"] == line["correlation_id"] == line["request_id"]


@pytest.mark.django_db(transaction=True)
def test_request_has_its_line_and_id_under_asgi_too(lines: Lines) -> None:
    ask = async_to_sync(AsyncClient().get)
    answer = ask("/accounts/login/", headers={"X-Request-ID": REQUEST_ID.hex})
    (line,) = lines.take()
    assert answer.headers["X-Request-ID"] == line["request_id"] == str(REQUEST_ID)
    assert (line["path"], line["status"]) == ("/accounts/login/", 200)


@pytest.mark.django_db(transaction=True)
def test_event_carries_the_id_of_the_request_that_caused_it(
    client: Client, exam: Exam, student: User
) -> None:
    client.force_login(student)
    before = set(Event.objects.values_list("pk", flat=True))
    answer = client.post(f"/exams/{exam.pk}/attempts/", headers={"X-Request-ID": str(REQUEST_ID)})
    assert answer.status_code == 302
    caused = Event.objects.exclude(pk__in=before).values_list("kind", "correlation_id")
    assert list(caused) == [("AttemptStarted", REQUEST_ID)]


def test_form_that_does_not_exist_is_refused() -> None:
    with pytest.raises(ImproperlyConfigured, match="LOG_FORMAT: must be one of text, json, not 'xml'"):
        describe_logging(form="xml", level="INFO")


def test_web_server_speaks_in_the_same_form(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("config.settings.LOG_FORMAT", "json")
    ServerLog(Config()).error("Worker %s of %s died", 7, "ann@school.example")
    line = json.loads(capsys.readouterr().err)
    assert (line["logger"], line["level"], line["message"]) == (
        "gunicorn.error",
        "error",
        "Worker 7 of [e-mail] died",
    )
