"""People are listed by name as it is looked up, however the database sorts letters."""

import pytest

from gradebook.queries import list_students
from tests import factories
from tests.people import World

pytestmark = pytest.mark.django_db

IN_ORDER = (
    ("Ada", "Ángel"),
    ("Bo", "angel"),
    ("Ida", "de Vries"),
    ("Felix", "O'Brian"),
    ("Felix", "Ó'Brien"),
    ("Rosa", "Sánchez"),
    ("Élodie", "Singh"),
    ("Fay", "Singh"),
    ("Sanna", "Zhang"),
    ("Åse", "Ørsted"),  # no letter with a mark: after Z
)


def test_students_are_listed_by_name_as_it_is_looked_up(world: World) -> None:
    for first, last in reversed(IN_ORDER):
        person = factories.student(world.school, first_name=first, last_name=last)
        factories.enrolment(person, world.school_class)
    listed = [(person.first_name, person.last_name) for person in list_students(world.sheet)]
    assert listed == list(IN_ORDER)
