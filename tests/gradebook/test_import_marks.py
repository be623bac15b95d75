"""Marks from a CSV file: every fault with its line, everything or nothing, and the file and line in the history."""

import io
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from gradebook.imports.tables import BadFile, Row
from gradebook.imports.texts import read_text
from gradebook.models import Column, User
from tests import factories
from tests.gradebook import workbooks
from tests.gradebook.marks import count_events, list_facts, list_steps, save, shown
from tests.people import World


def _rows(text: str) -> list[tuple[int, list[str]]]:
    table = read_text(text.encode())
    return [(row.line, row.values) for row in (table.header, *table.rows)]


def _refusal(data: bytes) -> list[str]:
    with pytest.raises(BadFile) as refused:
        read_text(data)
    return [str(fault) for fault in refused.value.faults]


class TestTables:
    """A file as a table."""

    @pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
    @pytest.mark.parametrize("separator", [",", ";", "\t"])
    @pytest.mark.parametrize("mark", ["", "\ufeff"])
    def test_separator_mark_and_line_ends_are_found(self, separator: str, end: str, mark: str) -> None:
        """O20: a file of semicolons is not one column, and a byte order mark is no part of a name."""
        lines = [["username", "Essay, first"], ["anna", "18,5"], ["bo", ""]]
        text = end.join(separator.join(f'"{value}"' for value in line) for line in lines)
        assert _rows(mark + text + end) == [(1, lines[0]), (2, lines[1]), (3, lines[2])]

    def test_title_with_a_comma_does_not_hide_semicolons(self) -> None:
        assert _rows('username;"Essay, first, late"\nanna;7\n') == [
            (1, ["username", "Essay, first, late"]),
            (2, ["anna", "7"]),
        ]

    def test_line_that_only_names_the_separator_is_none(self) -> None:
        assert _rows("sep=;\r\nusername;Essay\r\nanna;7\r\n") == [
            (2, ["username", "Essay"]),
            (3, ["anna", "7"]),
        ]

    def test_rows_are_counted_by_the_lines_of_the_file(self) -> None:
        text = 'username,Essay,Words\n\n,,\nanna,7,"two\nlines"\nbo, "8",x\u2028y\n'
        assert _rows(text) == [
            (1, ["username", "Essay", "Words"]),
            (4, ["anna", "7", "two\nlines"]),
            (6, ["bo", "8", "x\u2028y"]),
        ]

    def test_row_of_another_width_is_a_fault_and_no_row(self) -> None:
        table = read_text(b"username,Essay,Test\nanna,18,5,7\nbo,3\ncleo,1,2\n")
        assert table.rows == [Row(4, ["cleo", "1", "2"])]
        assert [str(fault) for fault in table.faults] == [
            "line 2: 4 values in this row, but 3 columns in the header. A decimal comma needs quotes in a file with commas.",
            "line 3: 2 values in this row, but 3 columns in the header.",
        ]

    @pytest.mark.parametrize(
        ("data", "said"),
        [
            (b"", "There is nothing in this file."),
            (b"\xef\xbb\xbf\r\n ; \r\n", "There is nothing in this file."),
            (
                "username;Essay\nb\xf6;7\n".encode("cp1252"),
                "line 2: This file is not in UTF-8; perhaps in Windows-1252, with “ö” here.",
            ),
            ("username\tEssay\n".encode("utf-16"), "This file is in UTF-16, not in UTF-8."),
            (b"username,Essay\nanna,7\0\n", "line 2: There is a NUL here: this is no text."),
            (b'username,Essay\nanna,"7\nbo,8\n', "line 2: The quotes of this row do not fit together"),
        ],
    )
    def test_what_is_no_table_is_said(self, data: bytes, said: str) -> None:
        (fault,) = _refusal(data)
        assert fault.startswith(said)


@pytest.fixture
def column(world: World) -> Column:
    return factories.column(world.sheet, title="Essay", max_points=20)


@pytest.fixture
def oral(world: World) -> Column:
    return factories.column(world.sheet, title="Oral", max_points=10)


@pytest.fixture
def folder(tmp_path: Path, student: User, other_student: User, teacher: User) -> Path:
    """A folder to write files into, once the people of the class are there."""
    return tmp_path


def _write(folder: Path, text: str, name: str = "marks.csv") -> Path:
    file = folder / name
    file.write_bytes(text.encode())
    return file


def _import(file: Path, *columns: Column | str, by: str = "teacher", **options: object) -> list[str]:
    """Run the command; return what it says."""
    said = io.StringIO()
    names = [str(column.pk) if isinstance(column, Column) else column for column in columns]
    call_command(
        "import_marks", str(file), *(f"--column={name}" for name in names), by=by, stdout=said, **options
    )
    return said.getvalue().splitlines()


def _refused(file: Path, *columns: Column | str, **options: object) -> list[str]:
    with pytest.raises(CommandError) as refused:
        _import(file, *columns, **options)  # type: ignore[arg-type]
    return str(refused.value).splitlines()


pytestmark = pytest.mark.django_db


def test_marks_of_a_file_are_saved_with_file_and_line_in_the_log(
    folder: Path, column: Column, oral: Column, student: User, other_student: User, teacher: User
) -> None:
    save(column, student, "5", by=teacher)
    file = _write(folder, "Username;Name;Room;essay;Oral\nstudent;S;7;18,5;x\nother_student;O;;0;\n")
    assert _import(file, column, oral) == [
        "Imported: 3. There already: 0. Empty values: 1. Not looked at: Room."
    ]
    assert (shown(column, student), shown(column, other_student)) == ("18.5", "0")
    assert (shown(oral, student), shown(oral, other_student)) == ("exempt", None)
    assert list_steps(column, student) == [("typed", None, "5"), ("imported", "5", "18.5")]
    assert [fact.get("origin") for fact in list_facts(column, student)] == [None, "marks.csv, line 2"]
    assert list_facts(column, other_student)[0]["origin"] == "marks.csv, line 3"


def test_file_imported_again_changes_nothing(folder: Path, column: Column, student: User) -> None:
    """O23: what is there already is no change and no event."""
    file = _write(folder, "username,Essay\nstudent,7.50\n")
    _import(file, column)
    assert _import(file, column) == ["Imported: 0. There already: 1. Empty values: 0."]
    assert count_events([column]) == 1


def test_every_fault_is_named_with_its_line_and_nothing_is_imported(
    folder: Path, column: Column, student: User, other_student: User
) -> None:
    """O21: of two rows for one student neither counts. O06, O22: what is no mark is named, whatever it looks like."""
    text = (
        "username,Essay,Oral\nother_student,7,\nnobody,8,\n,9,\nother_student,9,\nteacher,1,\n"
        'student,21,\n"student",5\n'
    )
    assert _refused(_write(folder, text), column) == [
        "Nothing of this file was imported.",
        "line 3: “nobody” is no user name of a student in this mark sheet.",
        "line 4: No student is named in this row.",
        "line 5: “other_student” is on line 2 already: which row counts?",
        "line 6: “teacher” is no user name of a student in this mark sheet.",
        f"line 7: {student.full_name}, Essay, “21”: The most this column gives is 20.",
        "line 8: 2 values in this row, but 3 columns in the header.",
    ]
    assert (shown(column, other_student), count_events([column])) == (None, 0)


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("-1", "A mark is not below 0."),
        ("=HYPERLINK(1)", "“=HYPERLINK(1)” is neither a number nor a code."),
        ("--", "“--” is neither a number nor a code."),
        ('"1,234"', "“1,234” can be read two ways. Write 1234 or 1.234."),
        ("1.2345", "At most 3 decimals: a mark is never rounded silently."),
    ],
)
def test_value_is_judged_as_the_grid_does(
    folder: Path, column: Column, student: User, value: str, said: str
) -> None:
    refused = _refused(_write(folder, f"username,Essay\nstudent,{value}\n"), column)
    text = value.strip('"')
    assert refused[1:] == [f"line 2: {student.full_name}, Essay, “{text}”: {said}"]


def test_decimal_sign_can_be_said(folder: Path, column: Column, student: User) -> None:
    _import(_write(folder, "username;Essay\nstudent;1,234\n"), column, decimal_sign=",")
    assert shown(column, student) == "1.234"


def test_worksheet_of_a_workbook_can_be_said(folder: Path, column: Column, student: User) -> None:
    file = folder / "marks.xlsx"
    rows: workbooks.Rows = [["username", "Essay"], ["student", 1.234]]
    file.write_bytes(workbooks.make({"7a": rows, "7b": rows}))
    assert _refused(file, column) == [
        "There are several worksheets in this workbook: “7a”, “7b”. Which one is meant? Say it with --worksheet."
    ]
    _import(file, column, decimal_sign=",", worksheet="7b")
    assert shown(column, student) == "1.234"
    assert list_facts(column, student)[-1]["origin"] == "marks.xlsx, line 2"


@pytest.mark.parametrize("value", ["", "-", "\N{EN DASH}", "\N{EM DASH}"], ids=ascii)
def test_empty_value_leaves_a_mark_unless_it_shall_clear(
    folder: Path, column: Column, student: User, teacher: User, value: str
) -> None:
    """O19: none, zero and a code are three things by this way, too; other gradebooks write a dash for none."""
    save(column, student, "5", by=teacher)
    file = _write(folder, f"username,Essay\nstudent,{value}\n")
    assert _import(file, column) == ["Imported: 0. There already: 0. Empty values: 1."]
    assert shown(column, student) == "5"
    _import(file, column, clear_empty=True)
    assert list_steps(column, student) == [("typed", None, "5"), ("imported", "5", "")]


def test_headers_can_be_said_and_must_be_clear(folder: Path, column: Column, student: User) -> None:
    file = _write(folder, "SIS Login ID,Midterm (Real),Midterm (Real)\nstudent,7,8\n")
    assert _refused(file, f"{column.pk}=Final")[1:] == [
        "line 1: No header is “Final”. There are: “SIS Login ID”, “Midterm (Real)”, “Midterm (Real)”."
    ]
    assert _refused(file, f"{column.pk}=Midterm (Real)")[1:] == [
        "line 1: The header “Midterm (Real)” comes 2 times."
    ]
    assert _refused(file, column, students="Who")[1] == (
        "line 1: No header is “Who”. There are: “SIS Login ID”, “Midterm (Real)”, “Midterm (Real)”."
    )
    good = _write(folder, "Who,Midterm (Real)\nstudent,7\n")
    _import(good, f"{column.pk}=midterm (real)", students="Who")
    assert shown(column, student) == "7"


def test_dry_run_says_what_would_change_and_changes_nothing(
    folder: Path, column: Column, student: User, other_student: User, teacher: User
) -> None:
    save(column, student, "5", by=teacher)
    file = _write(folder, "username,Essay\nstudent,7.5\nother_student,a\n")
    assert _import(file, column, dry_run=True) == [
        f"line 2: {student.full_name}, Essay: 5 → 7.5",
        f"line 3: {other_student.full_name}, Essay: no mark → absent",
        "Would change: 2. There already: 0. Empty values: 0.",
    ]
    assert count_events([column]) == 1


def test_only_who_may_edit_the_sheet_may_import(
    folder: Path, world: World, column: Column, student: User, other_teacher: User
) -> None:
    factories.admin(school=world.school, username="office")
    file = _write(folder, "username,Essay\nstudent,7\n")
    assert _refused(file, column, by="office") == ["You may read this mark sheet, but not change its marks."]
    for stranger in ("other_teacher", "student"):
        assert _refused(file, column, by=stranger) == ["There is no such mark sheet among yours."]
    assert _refused(file, column, by="ghost") == ["There is nobody with the user name 'ghost'."]
    assert not count_events([column])


def test_columns_that_are_not_there_or_of_two_sheets_are_refused(
    folder: Path, world: World, column: Column
) -> None:
    elsewhere = factories.column(
        factories.sheet(world.school_class, factories.course(world.school), world.period)
    )
    file = _write(folder, "username,Essay\nstudent,7\n")
    assert _refused(file, str(world.sheet.pk)) == [f"There is no column {world.sheet.pk}."]
    assert _refused(file, "Essay")[0].startswith("A column is meant by its id")
    assert _refused(file, column, elsewhere) == [
        "These columns are of several mark sheets: import one at a time."
    ]
    assert _refused(folder / "none.csv", column) == [
        f"{folder / 'none.csv'} cannot be read: No such file or directory."
    ]
