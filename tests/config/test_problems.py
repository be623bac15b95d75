"""The shape of a refusal, built from an exception alone."""

from outbox.problems import FieldError, Problem, describe_error


class Refused(Exception):
    """This is refused.

    More for the reader of the code.
    """

    code = "refused"
    status = 409

    def __init__(
        self,
        detail: str,
        pointer: str | None = None,
        retry_after: int | None = None,
        extra: dict[str, object] | None = None,
    ) -> None:
        super().__init__(detail)
        self.pointer = pointer
        self.retry_after = retry_after
        self.extra = extra


def test_problem_takes_its_title_from_the_class_and_its_detail_from_the_occurrence() -> None:
    problem = describe_error(Refused("Cell 7 is locked.", extra={"cell": 7}))
    assert problem is not None
    assert problem.body() == {
        "type": "urn:handover:problem:refused",
        "title": "This is refused.",
        "status": 409,
        "detail": "Cell 7 is locked.",
        "code": "refused",
        "cell": 7,
    }
    assert problem.headers() == {}


def test_problem_names_the_field_by_its_pointer() -> None:
    problem = describe_error(Refused("Not a number.", pointer="/answers/q1"))
    assert problem is not None
    assert problem.body()["errors"] == [
        {"pointer": "/answers/q1", "detail": "Not a number.", "code": "refused"}
    ]


def test_problem_lists_several_fields() -> None:
    fields = [
        FieldError("/a", "Missing.", "missing"),
        {"pointer": "/b", "detail": "Too long.", "code": "too_long"},
    ]
    problem = describe_error(Refused("Two faults.", extra={"errors": fields}))
    assert problem is not None
    assert problem.body()["errors"] == [
        {"pointer": "/a", "detail": "Missing.", "code": "missing"},
        {"pointer": "/b", "detail": "Too long.", "code": "too_long"},
    ]


def test_problem_says_when_to_come_back() -> None:
    problem = describe_error(Refused("Busy.", retry_after=3))
    assert problem is not None
    assert problem.headers() == {"Retry-After": "3"}


def test_exception_of_somebody_else_is_no_problem_of_ours() -> None:
    assert describe_error(ValueError("x")) is None
    assert describe_error(SystemExit(2)) is None  # type: ignore[arg-type] # it has a `code`, but no `status`


def test_problem_without_errors_has_no_errors_member() -> None:
    assert "errors" not in Problem("c", 400, "t", "d").body()
