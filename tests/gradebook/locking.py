"""A column with a mark in it, and its term locked by the school's own administrator."""

import pytest

from gradebook.models import Column, Period, User
from gradebook.services.terms import lock_term
from tests import factories
from tests.gradebook.marks import save
from tests.people import World


@pytest.fixture
def column(world: World, student: User, teacher: User) -> Column:
    """Twenty points; the student has seven of them."""
    column = factories.column(world.sheet, title="Essay", max_points=20)
    save(column, student, "7", by=teacher)
    return column


@pytest.fixture
def head(world: World) -> User:
    """The school's own administrator."""
    return factories.admin(school=world.school, first_name="Helmi", last_name="Rehtori")


@pytest.fixture
def locked(world: World, head: User, column: Column) -> Period:
    """The term, locked after the mark."""
    return lock_term(period_id=world.period.pk, by=head)
