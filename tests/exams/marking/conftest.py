"""Essays that wait. Nothing here may import a model: pytest reads this file before Django is set up."""

from typing import Any

import pytest


@pytest.fixture
def exam(world: Any) -> Any:
    """Two essays beside a question for the machine."""
    from tests.exams.marking.essays import essay_exam  # noqa: PLC0415 - see above

    return essay_exam(world)


@pytest.fixture
def submission(exam: Any, student: Any) -> Any:
    """The student has handed both essays in, and they wait."""
    from tests.exams.marking.essays import sit  # noqa: PLC0415 - see above

    return sit(exam, student)


@pytest.fixture
def second_teacher(world: Any) -> Any:
    """Teaches the same class in the same course and period."""
    from tests import factories  # noqa: PLC0415 - see above

    person = factories.teacher(world.school, first_name="Maija", last_name="Virtanen")
    factories.assignment(person, world.school_class, world.course, world.period)
    return person
