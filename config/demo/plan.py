"""What the demo consists of, as plain data: two schools, their classes and courses, and who teaches what."""

import dataclasses

STUDENTS_PER_CLASS = 24
SHARE_OF_FIRST_SCHOOL = 0.8


@dataclasses.dataclass(frozen=True, slots=True)
class ColumnPlan:
    """A column that teachers fill by hand: its title and maximum, and how well the class did (0 to 1)."""

    title: str
    max_points: int
    level: float


@dataclasses.dataclass(frozen=True, slots=True)
class CoursePlan:
    """A course and what is assessed in it."""

    code: str
    title: str
    columns: tuple[ColumnPlan, ...]


@dataclasses.dataclass(frozen=True, slots=True)
class SchoolPlan:
    """A school: its clock, the names of its classes as far as they are needed, its courses."""

    name: str
    time_zone: str
    class_names: tuple[str, ...]
    courses: tuple[CoursePlan, ...]


MATHEMATICS = CoursePlan(
    "MAT9",
    "Mathematics 9",
    (
        ColumnPlan("Homework 1", 10, 0.8),
        ColumnPlan("Quiz: fractions", 20, 0.65),
        ColumnPlan("Project", 30, 0.75),
    ),
)
SCIENCE = CoursePlan(
    "SCI9", "Science 9", (ColumnPlan("Lab report", 12, 0.7), ColumnPlan("Quiz: cells", 20, 0.6))
)

SCHOOLS = (
    SchoolPlan(
        "Lindholm School",
        "Europe/Helsinki",
        tuple(f"9{letter}" for letter in "ABCDEFGHJKLMN"),
        (MATHEMATICS, SCIENCE),
    ),
    SchoolPlan(
        "Colegio San Martín",
        "America/Bogota",
        tuple(f"Noveno {number}" for number in range(1, 10)),
        (MATHEMATICS, SCIENCE),
    ),
)
