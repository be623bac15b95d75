"""Whose requests these are, where a test does not say otherwise: the student's own. Nothing here may import a model, see the admin's."""

from typing import Any

import pytest


@pytest.fixture
def caller(student: Any) -> Any:
    """The student's requests, with a token."""
    from tests.exams.api.callers import with_token  # noqa: PLC0415 - Django is set up by now

    return with_token(student)
