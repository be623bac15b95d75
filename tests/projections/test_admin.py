"""The history in the administration: operators read it, nobody writes it."""

import pytest
from django.test import Client

from gradebook.models import User
from tests.projections.changes import Cell, project, record

pytestmark = pytest.mark.django_db(transaction=True)
LIST = "/admin/projections/markhistory/"


def test_history_is_read_by_operators_and_changed_by_nobody(admin: User, client: Client) -> None:
    cell = Cell()
    project(record(cell.change("5"), cell.change("7.5")))
    client.force_login(admin)
    assert "5 → 7.5, typed in the sheet" in client.get(LIST).content.decode()
    assert client.get(f"{LIST}add/").status_code == 403
    assert client.get(LIST, {"q": str(cell.sheet_id)}).context["cl"].result_count == 2
    assert client.get(LIST, {"q": "nonsense"}).context["cl"].result_count == 0


@pytest.mark.parametrize("person", ["teacher", "student"])
def test_history_in_the_administration_is_not_for_others(
    person: str, client: Client, request: pytest.FixtureRequest
) -> None:
    client.force_login(request.getfixturevalue(person))
    assert client.get(LIST).status_code == 302
