"""The one shape of a refusal at every door: RFC 9457 problem details with a stable `code`.

Pure data: the gate (no Django), DRF's handler and the pages all build the same body from the same exception.
"""

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any

CONTENT_TYPE = "application/problem+json"


@dataclasses.dataclass(frozen=True, slots=True)
class FieldError:
    """One thing wrong with the body; `pointer` is a JSON pointer (RFC 6901) into it."""

    pointer: str
    detail: str
    code: str


@dataclasses.dataclass(frozen=True, slots=True)
class Problem:
    """One refusal. `title` is the same for every occurrence of a code; `detail` speaks of this one."""

    code: str
    status: int
    title: str
    detail: str
    errors: tuple[FieldError, ...] = ()
    retry_after: int | None = None
    extra: Mapping[str, Any] = dataclasses.field(default_factory=dict)

    def body(self) -> dict[str, Any]:
        """Return the JSON object: the standard members, `code`, `errors` if any, and the code's own members."""
        body = {
            "type": f"urn:handover:problem:{self.code}",
            "title": self.title,
            "status": self.status,
            "detail": self.detail,
            "code": self.code,
        }
        if self.errors:
            body["errors"] = [dataclasses.asdict(error) for error in self.errors]
        return body | dict(self.extra)

    def headers(self) -> dict[str, str]:
        """Return the headers that belong to this refusal, beside the content type."""
        return {} if self.retry_after is None else {"Retry-After": str(self.retry_after)}


def describe_error(error: Exception) -> Problem | None:
    """Return the problem a domain error stands for, or None when it is not one of ours (no `code` and `status`).

    The class's docstring is the title. One `pointer` on the error, or `errors` among its extras, names the fields.
    """
    code, status = getattr(error, "code", None), getattr(error, "status", None)
    if not isinstance(code, str) or not isinstance(status, int):
        return None
    extra = dict(getattr(error, "extra", None) or {})
    detail = str(error)
    return Problem(
        code=code,
        status=status,
        title=(type(error).__doc__ or code).strip().splitlines()[0],
        detail=detail,
        errors=_field_errors(getattr(error, "pointer", None), detail, code, extra.pop("errors", ())),
        retry_after=getattr(error, "retry_after", None),
        extra=extra,
    )


def _field_errors(
    pointer: str | None, detail: str, code: str, several: Iterable[FieldError | Mapping[str, str]]
) -> tuple[FieldError, ...]:
    found = [error if isinstance(error, FieldError) else FieldError(**error) for error in several]
    if not found and pointer is not None:
        found = [FieldError(pointer=pointer, detail=detail, code=code)]
    return tuple(found)
