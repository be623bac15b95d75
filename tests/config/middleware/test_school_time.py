"""Pages show the time of the school's clock, whoever used the thread before."""

import pytest
from django.test import Client
from django.utils import timezone

from gradebook.models import User
from tests.people import World
from tests.projections.changes import Cell, project, record

pytestmark = pytest.mark.django_db(transaction=True)


def _shown(person: User, sheet_id: object) -> str:
    client = Client()
    client.force_login(person)
    return client.get(f"/marksheets/{sheet_id}/history/").content.decode()


def test_times_are_shown_in_the_schools_zone_and_in_utc_for_those_without_a_school(
    teacher: User, admin: User, world: World
) -> None:
    cell = Cell(sheet_id=world.sheet.pk)
    project(record(cell.change("5")))
    assert ">UTC+02:00<" in _shown(teacher, cell.sheet_id) or ">UTC+03:00<" in _shown(teacher, cell.sheet_id)
    assert ">UTC<" in _shown(admin, cell.sheet_id)
    timezone.deactivate()
