"""Staff at the admin. Nothing here may import a model: pytest reads this file before Django is set up."""

from typing import Any

import pytest
from django.test import Client


@pytest.fixture
def desk(admin: Any) -> Client:
    """A browser in which the administrator is signed in."""
    return _signed_in(admin)


@pytest.fixture
def school_desk(world: Any) -> Client:
    """A browser of an administrator of the other school, who may do everything there."""
    from tests import factories  # noqa: PLC0415 - see above

    return _signed_in(factories.admin(username="lake_admin", school=world.other_school))


@pytest.fixture
def revision(world: Any) -> Any:
    """An empty revision of an exam in the school."""
    from tests import factories  # noqa: PLC0415 - see above

    return factories.draft_revision(factories.exam(course=world.course, period=world.period), [])


def _signed_in(person: Any) -> Client:
    client = Client()
    client.force_login(person)
    return client
