"""A school's list of people: whole or not at all, adding and correcting only, and two people never one account."""

import csv
import datetime as dt
import io
import stat
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth import authenticate
from django.core.management import CommandError, call_command

from gradebook.imports import admitting
from gradebook.imports.reading import read_table
from gradebook.imports.roster import read_roster
from gradebook.imports.tables import MARKS, PEOPLE, BadFile
from gradebook.imports.texts import read_text
from gradebook.models import Enrolment, MarkSheet, Role, SchoolClass, TeachingAssignment, User
from tests import factories
from tests.gradebook import workbooks
from tests.people import World

pytestmark = pytest.mark.django_db
NEW = "username,first name,last name,class\nann,Ann,Lee,9A\nbo,Bo,Lee,9A\nann,Ann,Lee,Choir\n"


@pytest.fixture
def file(tmp_path: Path, world: World) -> Path:
    """Where the list will be; the school is there, with a class 9A and a class Choir."""
    for name in ("9A", "Choir"):
        factories.school_class(world.school, name=name)
    return tmp_path / "people.csv"


def _import(file: Path, content: str | bytes, **options: Any) -> list[str]:
    file.write_bytes(content.encode() if isinstance(content, str) else content)
    said = io.StringIO()
    call_command("import_people", str(file), **{"school": "Hill School", "stdout": said, **options})
    return [line.strip() for line in said.getvalue().splitlines()]


def _refusal(file: Path, content: str, **options: Any) -> list[str]:
    before = (User.objects.count(), SchoolClass.objects.count(), Enrolment.objects.count())
    with pytest.raises(CommandError) as refused:
        _import(file, content, **options)
    assert (User.objects.count(), SchoolClass.objects.count(), Enrolment.objects.count()) == before
    return str(refused.value).splitlines()


def _list_classes() -> list[tuple[str, str, dt.date]]:
    rows = Enrolment.objects.order_by("student__username", "school_class__name")
    return list(rows.values_list("student__username", "school_class__name", "starts_on"))


def test_people_come_into_their_classes_and_said_again_nothing_changes(file: Path, world: World) -> None:
    assert _import(file, NEW, starts_on=dt.date(2026, 9, 1)) == [
        "Done:",
        "2 new accounts",
        "0 corrected names or addresses",
        "0 new classes",
        "3 students into a class",
        "0 teachers to a class and course",
    ]
    first = dt.date(2026, 9, 1)
    assert _list_classes() == [("ann", "9A", first), ("ann", "Choir", first), ("bo", "9A", first)]
    ann = User.objects.get(username="ann")
    assert (ann.full_name, ann.role, ann.school, ann.has_usable_password()) == (
        "Ann Lee",
        Role.STUDENT,
        world.school,
        False,
    )
    assert not any(line[0] != "0" for line in _import(file, NEW)[1:])


def test_teachers_get_what_they_teach_with_its_sheet(file: Path, world: World) -> None:
    code = world.course.code
    text = f"Login;Given name;Surname;Role;E-mail;Class;Course;Room\ntia;Tia;Ek;Teacher;tia@x.test;9A;{code};12\n"
    assert _refusal(file, text) == [
        "Nothing of this list was taken.",
        "line 2: A teacher teaches for a term: say which with --period.",
    ]
    assert _import(file, text, period=world.period.name)[-2:] == [
        "1 teachers to a class and course",
        "Not looked at: Room.",
    ]
    (assignment,) = TeachingAssignment.objects.filter(teacher__username="tia")
    assert (assignment.school_class.name, assignment.course, assignment.teacher.email) == (
        "9A",
        world.course,
        "tia@x.test",
    )
    assert (
        MarkSheet.objects.filter(school_class__name="9A", course=world.course, period=world.period).count()
        == 1
    )
    assert not any(line[0] != "0" for line in _import(file, text, period=world.period.name)[1:-1])


def test_every_fault_is_named_with_its_line_and_nobody_is_taken(
    file: Path, world: World, teacher: User, student: User, other_student: User
) -> None:
    """One id for two people is a fault: the second would sit the first one's exams."""
    User.objects.filter(pk=other_student.pk).update(is_active=False)
    factories.student(world.other_school, username="far")
    text = (
        "username,first name,last name,role,class,course\nbach,Johann,Bach,,9A,\nbach,Carl,Bach,,9A,\n"
        "far,Fay,Ray,,,\nteacher,Te,Acher,,,\nother_student,O,S,,,\nann,Ann,Lee,boss,,\nbo,Bo,Lee,,9Z,\n"
        "cy,Cy,Lee,,9A,MA\ndi,Di,Lee,teacher,9A,\ned,Ed,Lee,teacher,9A,??\n,No,Body,,,\na b,A,B,,,\nfi,Fi,Lee,,9Z,\n"
    )
    assert _refusal(file, text, period=world.period.name) == [
        "Nothing of this list was taken.",
        "line 3: “bach” is on line 2 already, and somebody else there (Johann Bach, student).",
        "line 4: “far” is somebody's user name outside this school.",
        "line 5: “teacher” is here already, as teacher and not as student.",
        "line 6: “other_student” is here already, and switched off.",
        "line 7: “boss” is no role in a list of people: student or teacher.",
        "line 8: There is no class “9Z” in this school, here and on 1 more line. Should it be made? Say --make-classes.",
        "line 9: A student is in a class, not in a course.",
        "line 10: A teacher teaches a class in a course: say both, or neither.",
        "line 11: There is no course with the code “??” in this school.",
        "line 12: Username “”: This field cannot be blank.",
        "line 13: Username “a b”: Enter a valid username. This value may contain only letters, numbers, and @/./+/-/_ characters.",
    ]


def test_what_differs_only_in_case_or_in_how_accents_are_stored_is_no_other_person_or_class(
    file: Path, student: User
) -> None:
    """A second account for somebody would have none of their exams; the administration takes no such pair either."""
    text = (
        "username,first name,last name,class\nStudent,S,T,9A\nann,Ann,Lee,9a\nANN,Ann,Lee,9a\n"
        "bo,Bo,Lee,9\u00c9\nbo,Bo,Lee,9E\u0301\ncy,Cy,Lee,9\u00e9\n"
    )
    assert _refusal(file, text, make_classes=True) == [
        "Nothing of this list was taken.",
        "line 2: “Student” is somebody's user name already, written “student”.",
        "line 3: “9A” is written “9a”, here and on 1 more line: is it another class?",
        "line 4: “ANN” is “ann” on line 3: user names differ in more than case.",
        "line 7: “9\u00c9” is written “9\u00e9”: is it another class?",
    ]


def test_what_no_account_or_class_could_be_is_a_fault(file: Path, student: User) -> None:
    """A line that names nobody would also take an account's name away."""
    long = "9" * 61
    text = f"username,first name,last name,class\nstudent,,,9A\nann,Ann,Lee,{long}\n"
    assert _refusal(file, text, make_classes=True) == [
        "Nothing of this list was taken.",
        "line 2: Nobody is named in this row, neither by a first nor by a last name.",
        f"line 3: Class “{long[:40]}”: Ensure this value has at most 60 characters (it has 61).",
    ]


def test_list_of_all_of_a_city_is_taken(file: Path, django_assert_max_num_queries: Any) -> None:
    """Larger than any class's marks: both a file's bytes and a workbook's rows have bounds of their own here."""
    rows = [f"u{number},{'Ann ' * 15},Lee,9A" for number in range(20_000)]
    text = "\n".join(["username,first name,last name,class", *rows]).encode()
    assert len(text) > MARKS.file
    table = read_table(text, decimal_sign=".", bounds=PEOPLE)
    assert len(read_roster(table).lines) == 20_000
    people = [["username", "first name", "last name"], *[[f"u{number}", "A", "B"] for number in range(2_001)]]
    with django_assert_max_num_queries(20):
        assert "2,001 new accounts" in _import(file, workbooks.make({"People": people}), dry_run=True)


@pytest.mark.parametrize(
    ("header", "said"),
    [
        ("first name,last name", ["line 1: No header is “username”."]),
        (
            "username,login,first name",
            ["line 1: Several headers are “username”.", "line 1: No header is “last name”."],
        ),
    ],
)
def test_header_has_to_say_who_people_are(header: str, said: list[str]) -> None:
    with pytest.raises(BadFile) as refused:
        read_roster(read_text(f"{header}\nx,y,z\n".encode()))
    assert [str(fault) for fault in refused.value.faults][: len(said)] == said


def test_names_are_corrected_and_classes_made_where_somebody_says_so(
    file: Path, world: World, student: User
) -> None:
    text = "username,first name,last name,email,class\nstudent,Ada,Lovelace,,7C\n"
    User.objects.filter(pk=student.pk).update(email="kept@x.test")
    assert _import(file, text, make_classes=True, dry_run=True) == [
        "Would change:",
        "0 new accounts",
        "1 corrected names or addresses",
        "1 new classes",
        "1 students into a class",
        "0 teachers to a class and course",
        "new class: 7C",
    ]
    assert not SchoolClass.objects.filter(name="7C").exists()
    _import(file, text, make_classes=True)
    student.refresh_from_db()
    assert (student.full_name, student.email) == ("Ada Lovelace", "kept@x.test")
    assert ("student", "7C") in {row[:2] for row in _list_classes()}


def test_passwords_are_written_for_new_accounts_into_a_file_of_ones_own(file: Path, student: User) -> None:
    secret = file.with_name("passwords.csv")
    _import(file, f"{NEW}student,{student.first_name},{student.last_name},9A\n", passwords=secret)
    rows = list(csv.reader(io.StringIO(secret.read_text("utf-8-sig"))))
    assert [row[:2] for row in rows] == [["username", "name"], ["ann", "Ann Lee"], ["bo", "Bo Lee"]]
    assert len({row[2] for row in rows}) == 3
    assert stat.S_IMODE(secret.stat().st_mode) == 0o600
    for name, _, password in rows[1:]:
        person = authenticate(username=name, password=password)
        assert person is not None
    assert _refusal(file, NEW.replace("bo", "cy"), passwords=secret) == [
        f"{secret} cannot be made: File exists."
    ]


def test_name_is_no_formula_beside_the_passwords(file: Path) -> None:
    """It could send the cell beside it anywhere."""
    secret = file.with_name("passwords.csv")
    _import(file, "username,first name,last name\nann,=HYPERLINK(C2),Lee\n", passwords=secret)
    (_, row) = csv.reader(io.StringIO(secret.read_text("utf-8-sig")))
    assert row[:2] == ["ann", "'=HYPERLINK(C2) Lee"]


def test_nothing_is_left_of_either_where_one_of_people_and_passwords_fails(
    file: Path, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody makes the account after it was looked for."""
    prepare = admitting.prepare_roster

    def prepare_slowly(**given: Any) -> Any:
        plan = prepare(**given)
        factories.student(world.other_school, username="bo")
        return plan

    monkeypatch.setattr("gradebook.management.commands.import_people.prepare_roster", prepare_slowly)
    secret = file.with_name("passwords.csv")
    with pytest.raises(CommandError, match="Nothing was changed"):
        _import(file, NEW, passwords=secret)
    assert not User.objects.filter(username="ann").exists()
    assert not secret.exists()


def test_workbook_with_numbers_for_user_names_keeps_their_zeros(file: Path) -> None:
    rows: workbooks.Rows = [["username", "first name", "last name"], [(7123, "000000"), "Ann", "Lee"]]
    _import(file, workbooks.make({"9A": rows}))
    assert User.objects.filter(username="007123").exists()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"school": "Hell School"}, "There is no school 'Hell School'. There are: Hill School, Lake School."),
        ({"period": "Never"}, "There is no term 'Never' in this school."),
    ],
)
def test_place_that_is_not_there_is_said(file: Path, options: dict[str, str], said: str) -> None:
    assert _refusal(file, NEW, **options)[0].startswith(said)
