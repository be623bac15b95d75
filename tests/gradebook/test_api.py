"""The grid's own address: what it answers, to whom, and what it says to a body that is not in the written form."""

import json
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client
from django.urls import reverse

from gradebook.models import Column, Mark, User
from gradebook.queries import take_snapshot
from tests import factories
from tests.exams.api.callers import give_csrf_cookie
from tests.gradebook.marks import post, save, shown
from tests.people import World

pytestmark = pytest.mark.django_db


@pytest.fixture
def column(world: World) -> Column:
    return factories.column(world.sheet, title="Essay", max_points=20)


def _url(world: World) -> str:
    return reverse("gradebook:marks", args=[world.sheet.pk])


def _change(column: Column, student: User, entry: Any, version: Any = 0) -> dict[str, Any]:
    return {"column": str(column.pk), "student": str(student.pk), "version": version, "entry": entry}


def _body(by: User, *changes: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {"by": str(by.pk), "term": 1, "decimal_sign": ".", "changes": list(changes)} | fields


def _send(client: Client, world: World, body: Any, content_type: str = "application/json") -> Any:
    return client.post(_url(world), body, content_type=content_type)


def test_save_says_what_became_of_each_change(
    client: Client, world: World, column: Column, teacher: User, student: User, other_student: User
) -> None:
    third = factories.student(world.school)
    factories.enrolment(third, world.school_class)
    save(column, other_student, "a", by=teacher)
    client.force_login(teacher)

    answer = _send(
        client,
        world,
        _body(
            teacher,
            _change(column, student, "7,5"),
            _change(column, other_student, "6"),
            _change(column, third, "21"),
            decimal_sign=",",
        ),
    )

    body = answer.json()
    assert answer.status_code == 200
    (saved,) = body["saved"]
    assert saved.pop("changed_at") is not None
    assert saved == {
        "column": str(column.pk),
        "student": str(student.pk),
        "version": 1,
        "value": "7.5",
        "code": "",
        "source": "teacher",
        "automatic": None,
        "changed_by": teacher.full_name,
    }
    (conflict,) = body["conflicts"]
    assert conflict["mine"] == {"value": "6", "code": ""}
    assert (conflict["theirs"]["code"], conflict["theirs"]["version"]) == ("absent", 1)
    assert [refused["code"] for refused in body["refused"]] == ["above_max"]


def test_text_that_is_no_mark_is_refused_and_the_others_are_saved(
    client: Client, world: World, column: Column, teacher: User, student: User, other_student: User
) -> None:
    client.force_login(teacher)
    changes = [_change(column, student, "1,234"), _change(column, other_student, "7")]
    body = _send(client, world, _body(teacher, *changes)).json()
    assert [(r["code"], r["student"]) for r in body["refused"]] == [("ambiguous", str(student.pk))]
    assert (shown(column, student), shown(column, other_student)) == (None, "7")


PEOPLE = {
    # who: (status of a refresh, status of a save, its code)
    "teacher": (200, 200, None),
    "admin": (200, 403, "marks_are_read_only"),
    "other_teacher": (404, 404, "sheet_not_found"),
    "other_school_teacher": (404, 404, "sheet_not_found"),
    "student": (404, 404, "sheet_not_found"),
    "nobody": (403, 403, "not_authenticated"),
}


@pytest.mark.parametrize("who", PEOPLE)
def test_address_is_for_those_who_teach_the_class(
    request: pytest.FixtureRequest, client: Client, world: World, column: Column, student: User, who: str
) -> None:
    person = request.getfixturevalue(who)
    if person:
        client.force_login(person)
    refresh = client.get(_url(world), {"since": take_snapshot()})
    save = _send(client, world, _body(person or student, _change(column, student, "7")))
    assert (refresh.status_code, save.status_code, save.json().get("code")) == PEOPLE[who]
    assert Mark.objects.count() == (1 if save.status_code == 200 else 0)


def test_save_from_the_page_of_somebody_who_was_replaced_in_this_browser_is_refused(
    client: Client, world: World, column: Column, teacher: User, student: User
) -> None:
    second = factories.teacher(world.school)
    factories.assignment(second, world.school_class, world.course, world.period)
    client.force_login(second)
    answer = _send(client, world, _body(teacher, _change(column, student, "7")))
    assert (answer.status_code, answer.json()["code"]) == (403, "somebody_else")
    assert not Mark.objects.exists()


def test_save_without_the_csrf_token_is_refused(
    world: World, column: Column, teacher: User, student: User
) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(teacher)
    answer = _send(client, world, _body(teacher, _change(column, student, "7")))
    assert answer.status_code == 403
    assert not Mark.objects.exists()


def _deep(levels: int) -> bytes:
    return b"[" * levels + b"]" * levels


HOSTILE_BODIES: dict[str, Any] = {
    "nothing": b" ",
    "no json": b"{",
    "a list": b"[]",
    "a number": b"1e309",
    "not a number": b'{"by": NaN}',
    "deep": _deep(1_000),
    "very deep": _deep(100_000),
    "latin-1": '{"by": "é"}'.encode("latin-1"),
    "utf-16": '{"by": 1}'.encode("utf-16"),
    "half a character": b'{"\\ud83d": 1}',
    "a name twice": b'{"by": 1, "by": 2}',
    "a huge number": b'{"by": 1' + b"0" * 10_000 + b"}",
}


@pytest.mark.parametrize("name", HOSTILE_BODIES)
def test_body_that_is_not_in_the_form_is_malformed(
    client: Client, world: World, teacher: User, name: str
) -> None:
    client.force_login(teacher)
    answer = _send(client, world, HOSTILE_BODIES[name])
    assert (answer.status_code, answer.json()["code"]) == (400, "malformed")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("entry", "7\0"),
        ("entry", "\ud83d"),
        ("entry", "7" * 201),
        ("entry", 7),
        ("entry", None),
        ("entry", ["7"]),
        ("version", -1),
        ("version", 1.0),
        ("version", True),
        ("version", "1"),
        ("version", 2**31),
        ("version", None),
        ("column", "x"),
        ("column", 1),
        ("student", "\0"),
        ("student", None),
        ("how", "imported"),
        ("how", ["pasted"]),
        ("how", None),
        ("more", 1),
    ],
)
def test_wrong_field_is_malformed_and_named(
    client: Client, world: World, column: Column, teacher: User, student: User, field: str, value: Any
) -> None:
    client.force_login(teacher)
    wrong = _change(column, student, "7") | {field: value}
    answer = _send(client, world, json.dumps(_body(teacher, wrong)))
    assert answer.status_code == 400
    pointers = [error["pointer"] for error in answer.json()["errors"]]
    assert pointers == ["/changes/0" if field == "more" else f"/changes/0/{field}"]
    assert not Mark.objects.exists()


@pytest.mark.parametrize("entry", ["\U0001f600", "\u202e7", "<script>", "7; DROP TABLE", "\ufffe"])
def test_odd_text_is_refused_as_no_mark_and_never_an_error(
    client: Client, world: World, column: Column, teacher: User, student: User, entry: str
) -> None:
    client.force_login(teacher)
    body = _send(client, world, _body(teacher, _change(column, student, entry))).json()
    assert [refused["code"] for refused in body["refused"]] == ["not_a_mark"]


@pytest.mark.parametrize("fields", [{"decimal_sign": ";"}, {"changes": {}}, {"by": None}, {"more": 1}])
def test_wrong_frame_is_malformed(
    client: Client, world: World, teacher: User, fields: dict[str, Any]
) -> None:
    client.force_login(teacher)
    assert _send(client, world, _body(teacher) | fields).status_code == 400


def test_cell_named_twice_and_too_many_changes_are_malformed(
    client: Client, world: World, column: Column, teacher: User, student: User
) -> None:
    client.force_login(teacher)
    twice = _body(teacher, _change(column, student, "7"), _change(column, student, "x"))
    many = _body(teacher, *(_change(column, student, "7") | {"student": str(uuid4())} for _ in range(501)))
    assert [_send(client, world, body).status_code for body in (twice, many)] == [400, 400]
    assert not Mark.objects.exists()


def test_body_is_bounded_and_must_be_json(client: Client, world: World, teacher: User) -> None:
    client.force_login(teacher)
    assert _send(client, world, b" " * (256 * 1024 + 1)).status_code == 413
    assert _send(client, world, b" " * (10 * 1024 * 1024)).status_code == 413
    for content_type in (
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "",
    ):
        assert client.generic("POST", _url(world), b"{}", content_type=content_type).status_code == 415


@pytest.mark.parametrize(("size", "status"), [(100_000, 400), (140_000, 413)])
def test_hostile_body_with_a_csrf_token_is_judged_by_the_strict_reader_alone(
    world: World, teacher: User, size: int, status: int
) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(teacher)
    token = give_csrf_cookie(client)
    nested = b"[" * size + b"]" * size
    answer = client.post(_url(world), nested, content_type="application/json", headers={"x-csrftoken": token})
    assert answer.status_code == status


@pytest.mark.parametrize("method", ["put", "patch", "delete"])
def test_other_methods_are_refused(client: Client, world: World, teacher: User, method: str) -> None:
    client.force_login(teacher)
    assert getattr(client, method)(_url(world)).status_code == 405


@pytest.mark.django_db(transaction=True)  # a snapshot speaks of other people's transactions
def test_refresh_tells_what_changed_since_the_page_was_read(
    client: Client, world: World, column: Column, teacher: User, student: User, other_student: User
) -> None:
    save(column, student, "5", by=teacher)
    client.force_login(teacher)
    page = client.get(reverse("gradebook:sheet", args=[world.sheet.pk]))
    snapshot, layout = page.context["snapshot"], page.context["grid"].layout
    post(column, other_student, "6")

    news = client.get(_url(world), {"since": snapshot}).json()
    assert news["layout"] == layout
    assert {cell["student"]: (cell["value"], cell["source"]) for cell in news["cells"]} == {
        str(other_student.pk): ("6", "automatic"),
    }


def test_refresh_shows_a_new_layout_when_a_column_or_student_came(
    client: Client, world: World, column: Column, teacher: User
) -> None:
    client.force_login(teacher)
    before = client.get(_url(world), {"since": take_snapshot()}).json()["layout"]
    Column.objects.filter(pk=column.pk).update(title="Essay 1")
    renamed = client.get(_url(world), {"since": take_snapshot()}).json()["layout"]
    factories.enrolment(factories.student(world.school), world.school_class)
    joined = client.get(_url(world), {"since": take_snapshot()}).json()["layout"]
    assert len({before, renamed, joined}) == 3


@pytest.mark.parametrize(
    "since", ["", "x", "1:2", "1:2:3:4", "9:1:", "5:9:7,6", "1" * 40 + ":1:", "\0", "-1:5:", "1:2:\ud800"]
)
def test_refresh_since_what_is_no_snapshot_is_malformed(
    client: Client, world: World, teacher: User, since: str
) -> None:
    client.force_login(teacher)
    answer = client.get(_url(world), {"since": since.encode("utf-8", "surrogatepass")})
    assert (answer.status_code, answer.json()["code"]) == (400, "malformed")


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("number", [1, 3])
def test_refresh_takes_the_same_queries_whatever_changed(
    client: Client, world: World, teacher: User, django_assert_num_queries: Any, number: int
) -> None:
    students = [factories.student(world.school) for _ in range(number)]
    column = factories.column(world.sheet)
    client.force_login(teacher)
    snapshot = take_snapshot()
    for student in students:
        factories.enrolment(student, world.school_class)
        save(column, student, "7", by=teacher)
    # session, person, sheet, snapshot, changes with its savepoint, names, columns, students
    with django_assert_num_queries(10):
        news = client.get(_url(world), {"since": snapshot}).json()
    assert len(news["cells"]) == number
