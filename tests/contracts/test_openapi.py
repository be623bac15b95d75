"""The schema is OpenAPI 3.1, tells everything the contract promises, and what the API answers is what it says."""

import io
import json
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client
from jsonschema import Draft202012Validator
from openapi_spec_validator import OpenAPIV31SpecValidator

from exams.gate.admission import per_person
from exams.models import Attempt, Exam, QuestionKind
from exams.services.drafts import saves
from gradebook.models import User
from tests import factories
from tests.contracts.endpoints import list_endpoints
from tests.exams.api.callers import Caller, call_gate, with_token
from tests.serving import ROOT
from tests.sitting import hand_in

pytestmark = pytest.mark.django_db(transaction=True)

NOT_DESCRIBED = {("GET", "schema"), ("GET", "docs")}  # the description itself


@pytest.fixture
def schema(client: Client) -> dict[str, Any]:
    response = client.get("/api/v1/schema", headers={"accept": "application/vnd.oai.openapi+json"})
    assert response.status_code == 200
    document: dict[str, Any] = json.loads(response.content)
    return document


def test_the_schema_is_valid_openapi_3_1(schema: dict[str, Any]) -> None:
    assert schema["openapi"].startswith("3.1")
    OpenAPIV31SpecValidator(schema).validate()


def test_every_address_is_described(schema: dict[str, Any]) -> None:
    described = {
        (method.upper(), path.removeprefix("/api/v1/"))
        for path, operations in schema["paths"].items()
        for method in operations
    }
    routed = {
        (method, route.replace("<uuid:", "{").replace("<str:", "{").replace(">", "}"))
        for method, route in list_endpoints()
    }
    assert described == routed - NOT_DESCRIBED


def test_every_operation_says_in_words_what_it_does(schema: dict[str, Any]) -> None:
    for operations in schema["paths"].values():
        for operation in operations.values():
            assert operation["summary"]
            assert operation["description"]
            assert operation["operationId"]


def test_the_gates_codes_are_those_of_the_contract(schema: dict[str, Any]) -> None:
    responses = schema["paths"]["/api/v1/attempts/{attempt_id}/submission"]["post"]["responses"]
    assert set(responses) == {"200", "202", "400", "401", "404", "408", "409", "413", "415", "429", "503"}
    promised = {
        "400": ["malformed"],
        "404": ["not_found"],
        "409": ["different_answers", "attempt_closed"],
        "413": ["too_large"],
        "429": ["rate_limited"],
        "503": ["overloaded", "outcome_unknown"],
    }
    for status, codes in promised.items():
        for code in codes:
            assert f"`{code}`" in responses[status]["description"]
        assert list(responses[status]["content"]) == ["application/problem+json"]


def test_every_address_says_that_it_may_be_too_busy(schema: dict[str, Any]) -> None:
    silent = [
        operation["operationId"]
        for operations in schema["paths"].values()
        for operation in operations.values()
        if "`overloaded`" not in operation["responses"].get("503", {}).get("description", "")
    ]
    assert silent == []


def test_only_what_changes_something_is_said_to_have_been_stored_perhaps(schema: dict[str, Any]) -> None:
    perhaps = "whether this was stored"
    said = {
        (method, perhaps in operation["responses"]["503"]["description"])
        for operations in schema["paths"].values()
        for method, operation in operations.items()
    }
    assert said == {("get", False), ("post", True), ("put", True), ("patch", True)}


def test_the_description_has_the_table_of_answers_and_the_limits(schema: dict[str, Any]) -> None:
    description = schema["info"]["description"]
    rows = [line for line in (ROOT / "docs/answers.md").read_text().splitlines() if line.startswith("| `")]
    table = rows[: len(QuestionKind.values)]
    assert [row.split("`")[1] for row in table] == QuestionKind.values
    assert [row for row in table if row not in description] == []
    assert "30 requests at once per person, one more each second" in description
    for limit in (per_person, saves):
        assert [limit.take("somebody") for _ in range(31)] == [0] * 30 + [1]


def test_descriptions_speak_to_the_reader_of_the_schema(schema: dict[str, Any]) -> None:
    text = json.dumps(schema)
    assert [
        words for words in ("For the schema only", '"Return ', "`exams.", "`config.") if words in text
    ] == []


def test_tokens_and_keys_are_for_everybody_and_the_rest_for_the_signed_in(schema: dict[str, Any]) -> None:
    open_to_all = {
        operation["operationId"]
        for operations in schema["paths"].values()
        for operation in operations.values()
        if not any(operation.get("security", []))
    }
    assert open_to_all == {"create_token", "list_receipt_keys"}
    assert schema["components"]["securitySchemes"]["token"] == {
        "type": "http",
        "scheme": "bearer",
        "bearerFormat": "JWT",
    }


def check(schema: dict[str, Any], method: str, path: str, status: int, body: Any) -> None:
    """Validate a body against what the schema says of this answer, with no member more than it names."""
    responses = schema["paths"][path][method]["responses"]
    [media_type] = responses[str(status)]["content"].values()
    named = {"components": closed(schema["components"]), **closed(media_type["schema"])}
    Draft202012Validator(named, format_checker=Draft202012Validator.FORMAT_CHECKER).validate(body)


def closed(node: Any) -> Any:
    """Return a schema in which every object has exactly the members it names."""
    if isinstance(node, list):
        return [closed(inner) for inner in node]
    if not isinstance(node, dict):
        return node
    inner = {name: closed(value) for name, value in node.items()}
    if node.get("type") == "object" and "properties" in node:
        inner["additionalProperties"] = False
    return inner


def test_what_a_student_gets_is_what_the_schema_says(
    schema: dict[str, Any], exam: Exam, student: User
) -> None:
    caller = with_token(student)
    password = {"username": "student", "password": factories.PASSWORD}
    check(schema, "post", "/api/v1/tokens", 201, json.loads(Caller().post("tokens", password).content))
    started = json.loads(caller.post(f"exams/{exam.pk}/attempts").content)
    check(schema, "post", "/api/v1/exams/{exam_id}/attempts", 201, started)
    saved = caller.put(f"attempts/{started['id']}/draft", {"answers": {"q1": "b"}, "token": None})
    check(schema, "put", "/api/v1/attempts/{attempt_id}/draft", 200, json.loads(saved.content))
    check(schema, "get", "/api/v1/exams", 200, json.loads(caller.get("exams").content))
    looked = json.loads(caller.get(f"attempts/{started['id']}").content)
    check(schema, "get", "/api/v1/attempts/{attempt_id}", 200, looked)
    standing = json.loads(caller.get(f"attempts/{started['id']}/standing").content)
    check(schema, "get", "/api/v1/attempts/{attempt_id}/standing", 200, standing)

    path = f"/api/v1/attempts/{started['id']}/submission"
    for status in (202, 200):
        answered = call_gate("POST", path, {"answers": {"q1": "b"}}, caller.token)
        assert answered[0] == status
        check(schema, "post", "/api/v1/attempts/{attempt_id}/submission", status, json.loads(answered[1]))
    receipt = json.loads(answered[1])

    looked = json.loads(caller.get(f"attempts/{started['id']}").content)
    assert looked["submission"]["id"] == receipt["id"]
    check(schema, "get", "/api/v1/attempts/{attempt_id}", 200, looked)
    check(schema, "get", "/api/v1/receipts", 200, json.loads(caller.get("receipts").content))
    shown = json.loads(caller.get(f"receipts/{receipt['id']}").content)
    check(schema, "get", "/api/v1/receipts/{receipt_id}", 200, shown)
    check(schema, "get", "/api/v1/receipt-keys", 200, json.loads(caller.get("receipt-keys").content))


def test_refusals_are_what_the_schema_says(
    schema: dict[str, Any], attempt: Attempt, student: User, other_student: User
) -> None:
    attempt_path = f"attempts/{attempt.pk}"
    hand_in(attempt)
    draft = {"answers": {"q1": "b"}, "token": None}
    refusals = [
        ("get", "/api/v1/attempts/{attempt_id}", with_token(other_student).get(attempt_path)),
        ("get", "/api/v1/attempts/{attempt_id}", Caller().get(attempt_path)),
        ("get", "/api/v1/attempts/{attempt_id}", Caller("x").get(attempt_path)),
        ("put", "/api/v1/attempts/{attempt_id}/draft", with_token(student).put(f"{attempt_path}/draft", {})),
        (
            "put",
            "/api/v1/attempts/{attempt_id}/draft",
            with_token(student).put(f"{attempt_path}/draft", draft),
        ),
        ("post", "/api/v1/tokens", Caller().post("tokens", {"username": "x", "password": "y"})),
        ("post", "/api/v1/tokens", Caller().post("tokens", {})),
    ]
    assert [response.status_code for _, _, response in refusals] == [404, 401, 401, 400, 409, 401, 400]
    for method, path, response in refusals:
        problem = json.loads(response.content)
        named = {
            name: problem[name]
            for name in problem.keys() & {"type", "title", "status", "detail", "code", "errors"}
        }
        check(schema, method, path, response.status_code, named)


def test_the_documentation_page_needs_nothing_from_elsewhere(client: Client) -> None:
    response = client.get("/api/v1/docs")
    page = response.content.decode()
    assert response.status_code == 200
    assert "http://" not in page
    assert "https://" not in page


def test_nothing_about_the_api_had_to_be_guessed() -> None:
    """The generator warns where it cannot see what a view takes or answers."""
    call_command("spectacular", "--fail-on-warn", "--validate", stdout=io.StringIO())
