"""`manage.py import_exam`: a file becomes a revision, whole or not at all."""

import datetime as dt
from decimal import Decimal
from pathlib import Path
from uuid import UUID

import pytest
from django.core.management import CommandError, call_command

from exams.models import Exam, ExamRevision, Question
from gradebook.models import Course
from tests import factories

pytestmark = pytest.mark.django_db

GOOD = """\
// A small file of every kind
Read every question twice.

::Capital:: Capital of Estonia? {=Tallinn ~Tartu ~Narva}

Which are Baltic states? {~%50%Latvia ~%50%Lithuania ~%-50%Poland ~%-50%Finland}

Estonia lies by the sea. {T}

How many counties has Estonia? {#15}

A Finnish lake? {=Saimaa =%50%Päijänne}

Match. {=Latvia -> Riga =Lithuania -> Vilnius}

Describe a bog. {}
"""
BAD = "::Fine:: A? {T}\n\n::Cloze:: Capital {1:SA:=Riga}\n\n::Weights:: B? {~%50%a ~%20%b}\n"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return written(tmp_path, GOOD)


@pytest.fixture
def course() -> Course:
    school = factories.school(name="North School", time_zone="Europe/Tallinn")
    factories.period(school, name="Spring", starts_on="2027-01-01", ends_on="2027-05-31")
    factories.school_class(school, name="9B")
    return factories.course(school, code="GEO9")


NEW_EXAM = [
    "--title=Geography",
    "--course=GEO9",
    "--opens-at=2027-03-01T09:00",
    "--closes-at=2027-03-01T11:00+01:00",
]


TEXTS = ("title", "course", "school", "period", "class", "by")


def written(folder: Path, text: str) -> Path:
    path = folder / "questions.gift"
    path.write_text(text, encoding="utf-8")
    return path


def failure(*arguments: object) -> tuple[str, int]:
    with pytest.raises(CommandError) as caught:
        call_command("import_exam", *map(str, arguments))
    return str(caught.value), caught.value.returncode


def test_import_into_an_exam_adds_its_next_revision(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    exam = factories.published_revision().exam

    call_command("import_exam", str(file), f"--exam={exam.pk}")

    revision = exam.revisions.get(number=2)
    assert (revision.published_at, revision.instructions) == (None, "Read every question twice.")
    assert list(revision.questions.values_list("position", "kind", "title")) == [
        (1, "single_choice", "Capital"),
        (2, "multiple_choice", ""),
        (3, "true_false", ""),
        (4, "numeric", ""),
        (5, "short_text", ""),
        (6, "matching", ""),
        (7, "essay", ""),
    ]
    assert (
        "7 questions, 7 points: 1 single choice, 1 multiple choice, 1 true false" in capsys.readouterr().out
    )


def test_import_with_a_new_exam_makes_it_and_publishes(file: Path, course: Course) -> None:
    teacher = factories.teacher(course.school)

    call_command(
        "import_exam", str(file), *NEW_EXAM, "--class=9B", "--time-limit=45", "--attempts=2", "--publish",
        f"--by={teacher.username}",
    )  # fmt: skip

    exam = Exam.objects.get()
    revision = exam.revisions.get()
    assert (exam.title, exam.school, exam.period.name) == ("Geography", course.school, "Spring")
    assert exam.opens_at == dt.datetime(2027, 3, 1, 7, tzinfo=dt.UTC)  # the school's clock
    assert exam.closes_at == dt.datetime(2027, 3, 1, 10, tzinfo=dt.UTC)  # the offset that was given
    assert (exam.time_limit, exam.attempts_allowed) == (dt.timedelta(minutes=45), 2)
    assert exam.targets.get().school_class.name == "9B"
    assert (revision.published_by, revision.max_points) == (teacher, Decimal(7))
    assert len(revision.paper or []) == 7


def test_import_refuses_the_whole_file_and_names_every_fault(
    tmp_path: Path, course: Course, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(tmp_path, BAD)

    assert failure(path, *NEW_EXAM) == (f"{path} was not imported: 2 faults.", 1)
    assert capsys.readouterr().err.splitlines() == [
        "Line 3, “Cloze”: this is a question with gaps (cloze), which is not supported.",
        "Line 5, “Weights”: has right choices that add up to 70 %, not 100 %.",
    ]
    assert not Exam.objects.exists()


def test_import_that_only_checks_writes_nothing(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    call_command("import_exam", str(file), "--check")

    assert capsys.readouterr().out.splitlines()[1:] == [
        "Note: Line 2, “Read every question twice.”: has no answers, so it became the instructions."
    ]
    assert not ExamRevision.objects.exists()


def test_import_may_shuffle_choices(tmp_path: Path) -> None:
    exam = factories.exam()
    path = written(tmp_path, "\n\n".join(f"Q{n}? {{={n} ~a ~b ~c ~d ~e}}" for n in range(200)))

    call_command("import_exam", str(path), f"--exam={exam.pk}", "--shuffle")

    first = {question.options.all()[0].fraction for question in Question.objects.filter(revision__exam=exam)}
    assert first == {Decimal(0), Decimal(100)}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            [],
            "Say --exam ID, or for a new exam also --title, --course, --opens-at, --closes-at; or only --check.",
        ),
        (
            ["--title=X"],
            "Say --exam ID, or for a new exam also --course, --opens-at, --closes-at; or only --check.",
        ),
        ([f"--exam={UUID(int=1)}"], f"There is no exam {UUID(int=1)}."),
        ([*NEW_EXAM, "--course=ART"], "There is no course ART."),
        ([*NEW_EXAM, "--school=South School"], "There is no course GEO9 at South School."),
        ([*NEW_EXAM, "--period=Autumn"], "North School has no period called Autumn."),
        (
            [*NEW_EXAM, "--opens-at=2026-03-01T09:00"],
            "North School has no period on 2026-03-01; say --period.",
        ),
        ([*NEW_EXAM, "--class=9C"], "North School has no class 9C."),
        ([*NEW_EXAM, "--publish", "--by=ghost"], "There is nobody called ghost."),
        (
            [*NEW_EXAM, "--closes-at=2027-03-01T08:00"],
            "An exam closes after it opens.",
        ),
    ],
)
def test_import_names_what_it_cannot_find_and_writes_nothing(
    file: Path, course: Course, arguments: list[str], message: str
) -> None:
    assert failure(file, *arguments) == (message, 2)
    assert not Exam.objects.exists()


def test_import_is_not_published_in_the_name_of_a_student(file: Path, course: Course) -> None:
    student = factories.student(course.school, username="sam")
    message = "sam is a student; a paper is published by a teacher or an administrator."
    assert failure(file, *NEW_EXAM, "--publish", f"--by={student.username}") == (message, 2)
    assert not Exam.objects.exists()


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        ("--opens-at=soon", "argument --opens-at: 'soon' is not a time like 2027-03-01T09:00"),
        (
            "--opens-at=0001-01-01T00:00+14:00",
            "argument --opens-at: '0001-01-01T00:00+14:00' is not in a year from 2000 to 2199",
        ),
        (
            "--closes-at=9999-12-31T23:59-14:00",
            "argument --closes-at: '9999-12-31T23:59-14:00' is not in a year from 2000 to 2199",
        ),
        *(
            (
                f"--time-limit={minutes}",
                f"argument --time-limit: '{minutes}' is not a whole number of minutes from 1 to 20160",
            )
            for minutes in ("0", "-5", "20161", "9" * 30, "x")
        ),
        *((f"--{name}=\udcff", f"argument --{name}: '\\udcff' is not UTF-8") for name in TEXTS),
        ("--title=  ", "Say --exam ID, or for a new exam also --title; or only --check."),
    ],
)
def test_import_refuses_odd_arguments_in_one_line(
    file: Path, course: Course, argument: str, message: str
) -> None:
    assert failure(file, *NEW_EXAM, argument)[0].removeprefix("Error: ") == message
    assert not Exam.objects.exists()


def test_import_for_one_class_named_twice_targets_it_once(file: Path, course: Course) -> None:
    call_command("import_exam", str(file), *NEW_EXAM, "--class=9B", "--class=9B")
    assert Exam.objects.get().targets.get().school_class.name == "9B"


def test_import_asks_which_school_when_several_have_the_course(file: Path, course: Course) -> None:
    other = factories.course(factories.school(name="South School"), code="GEO9")

    assert failure(file, *NEW_EXAM) == (
        "Several schools have a course GEO9; say --school: North School, South School.",
        2,
    )
    factories.period(other.school, name="Always", starts_on="2020-01-01", ends_on="2030-01-01")
    call_command("import_exam", str(file), *NEW_EXAM, "--school=South School")
    assert Exam.objects.get().course == other


def test_import_of_a_file_that_is_not_there(tmp_path: Path) -> None:
    path = tmp_path / "none.gift"

    assert failure(path, "--check") == (f"{path} cannot be read: No such file or directory.", 2)
