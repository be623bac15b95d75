"""Marks that were pasted: judged like typed ones, and called pasted ever after."""

import pytest
from django.test import Client
from django.urls import reverse

from gradebook.models import Column, User
from tests import factories
from tests.gradebook.marks import list_steps, save, shown
from tests.people import World

pytestmark = pytest.mark.django_db


@pytest.fixture
def column(world: World) -> Column:
    return factories.column(world.sheet, title="Essay", max_points=20)


def test_pasted_marks_are_one_batch_and_history_calls_them_pasted(
    client: Client, world: World, column: Column, student: User, other_student: User, teacher: User
) -> None:
    save(column, other_student, "5", by=teacher)
    client.force_login(teacher)
    cells = [(student, 0, "7,5", {"how": "pasted"}), (other_student, 1, "", {"how": "pasted"})]
    body = {
        "by": str(teacher.pk),
        "term": 1,
        "decimal_sign": ",",
        "changes": [
            {"column": str(column.pk), "student": str(person.pk), "version": version, "entry": text} | how
            for person, version, text, how in cells
        ],
    }
    url = reverse("gradebook:marks", args=[world.sheet.pk])
    answer = client.post(url, body, content_type="application/json").json()
    assert (len(answer["saved"]), answer["conflicts"], answer["refused"]) == (2, [], [])
    assert (shown(column, student), shown(column, other_student)) == ("7.5", "")
    assert list_steps(column, student) == [("pasted", None, "7.5")]
    assert list_steps(column, other_student) == [("typed", None, "5"), ("pasted", "5", "")]
