"""An Excel workbook as a table: what its reader sees is what is read, and what cannot be known is asked or refused."""

import datetime as dt
import io
import zipfile
from collections.abc import Callable

import pytest

from gradebook.entries import DecimalSign
from gradebook.imports.reading import read_table
from gradebook.imports.tables import BadFile
from gradebook.imports.workbooks import TURNS, WorkbookNotRead, WorksheetNotNamed
from gradebook.imports.worksheets import BROKEN, say_number
from tests.gradebook import workbooks

HEADER = ["username", "Essay"]
FIRST_SHEET = "xl/worksheets/sheet1.xml"
LAUGHS = "".join(
    f'<!ENTITY l{level} "{f"&l{level - 1};" * 10 if level else "lol" * 10}">' for level in range(9)
)


def _read(data: bytes, sign: DecimalSign = ".", worksheet: str = "") -> list[tuple[int, list[str]]]:
    table = read_table(data, decimal_sign=sign, worksheet=worksheet)
    assert table.faults == []
    return [(row.line, row.values) for row in (table.header, *table.rows)]


def _refusal(data: bytes, worksheet: str = "") -> str:
    with pytest.raises(BadFile) as refused:
        read_table(data, decimal_sign=".", worksheet=worksheet)
    (fault,) = refused.value.faults
    return str(fault)


def test_rows_keep_their_numbers_and_are_of_one_width() -> None:
    data = workbooks.make({"Marks": [[], HEADER, ["anna", 86.66, None, "late"], [None, " "], ["'=bo"]]})
    assert _read(data) == [
        (2, ["username", "Essay", "", ""]),
        (3, ["anna", "86.66", "", "late"]),
        (5, ["=bo", "", "", ""]),
    ]


@pytest.mark.parametrize(
    ("value", "number_format", "sign", "text"),
    [
        (18, "General", ".", "18"),
        (18.0, "0.00", ".", "18"),
        (7.5, "General", ",", "7,5"),
        (0.1 + 0.2, "General", ".", "0.3"),
        (1234.5, "#,##0.00", ".", "1234.5"),
        (-2.5, "General", ".", "-2.5"),
        (0.855, "0%", ".", "85.5%"),
        (85, '0" %"', ".", "85%"),
        (85, "0\\%", ".", "85%"),
        (42, "00000", ".", "00042"),
        (1e20, "General", ".", "100000000000000000000"),
        (86.6666666666667, "0.00", ".", "86.6666666666667"),
    ],
)
def test_number_is_said_as_its_reader_sees_it(
    value: float, number_format: str, sign: DecimalSign, text: str
) -> None:
    """A percentage is no mark, a number of a student has its zeros, and nothing is rounded."""
    assert say_number(value, number_format, sign) == text


def test_what_is_no_number_is_said_so_that_it_is_no_mark() -> None:
    """What a spreadsheet makes of "1.5" is a day in May: nobody's mark."""
    day, moment = dt.datetime(2026, 5, 1), dt.datetime(2026, 5, 1, 9, 30)  # noqa: DTZ001 - a workbook knows no zone
    values = [day, moment, dt.time(9, 30), True, "#DIV/0!", "7,5 "]
    data = workbooks.make({"Marks": [HEADER, *[["anna", value] for value in values]]})
    assert [values[1] for _, values in _read(data)[1:]] == [
        "2026-05-01",
        "2026-05-01 09:30:00",
        "09:30:00",
        "TRUE",
        "#DIV/0!",
        "7,5",
    ]


def test_only_worksheet_that_says_something_is_meant() -> None:
    data = workbooks.make(
        {"Sheet1": [], "Secret": [["x"]], "Marks": [HEADER, ["anna", 7]]}, hidden=["Secret"]
    )
    assert _read(data) == [(1, HEADER), (2, ["anna", "7"])]


def test_one_of_several_worksheets_has_to_be_named() -> None:
    data = workbooks.make({"7a": [HEADER, ["anna", 7]], "Empty": [], "7b": [HEADER, ["bo", 8]]})
    with pytest.raises(WorksheetNotNamed) as asked:
        read_table(data, decimal_sign=".")
    assert asked.value.worksheets == ["7a", "7b"]
    assert _read(data, worksheet="7b") == [(1, HEADER), (2, ["bo", "8"])]
    assert _refusal(data, "7c") == (
        "There is no worksheet “7c” in this workbook. There are: “7a”, “Empty”, “7b”."
    )


def test_formula_counts_by_its_value_and_is_named_where_it_has_none() -> None:
    data = workbooks.make({"Marks": [HEADER, ["anna", "=3+4"]]})
    assert _refusal(data).startswith("B2 is a formula that was never worked out.")
    assert _read(workbooks.rewrite(data, FIRST_SHEET, "<v />", "<v>7</v>"))[1] == (2, ["anna", "7"])


def test_formula_that_came_to_an_empty_text_is_an_empty_cell() -> None:
    """=IF(A2="","",7), filled down to rows that nobody needs yet: Excel gives its value the type of a text, and no letters."""
    data = workbooks.make({"Marks": [HEADER, ["anna", "=7"], [None, "=7"]]})
    for cell in ("B2", "B3"):
        data = workbooks.rewrite(data, FIRST_SHEET, f'<c r="{cell}">', f'<c r="{cell}" t="str">')
    assert _read(data) == [(1, HEADER), (2, ["anna", ""])]


def test_what_stands_behind_the_cells_is_not_looked_at() -> None:
    """openpyxl comes to grief over a validation of a kind that it does not know; no mark depends on one."""
    data = workbooks.make({"Marks": [HEADER, ["anna", 7]]})
    odd = '</sheetData><dataValidations><dataValidation type="odd" sqref="B2" /></dataValidations>'
    assert _read(workbooks.rewrite(data, FIRST_SHEET, "</sheetData>", odd)) == [
        (1, HEADER),
        (2, ["anna", "7"]),
    ]


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: b"", "There is nothing in this file."),
        (lambda: workbooks.make({"Marks": []}), "There is nothing in this file."),
        (lambda: b"PK\x03\x04rest", BROKEN),
        (lambda: workbooks.make({"Marks": [HEADER]})[:-40], BROKEN),
        (lambda: b"\xd0\xcf\x11\xe0\xa1\xb1", "This is an old Excel workbook (.xls), or one that is locked"),
        (lambda: b"x" * (1024 * 1024 + 1), "This file is larger than 1024 KiB"),
        (lambda: workbooks.make_far(5, 501), "This worksheet has more than 500 columns"),
        (lambda: workbooks.make({"Marks": [["x"]] * 2_001}), "This worksheet has more than 2,000 rows"),
        (lambda: b"x,y\n" + b"x\n" * 2_000, "This file has more than 2,000 rows"),
        (lambda: b"x" + b"," * 500, "line 1: This file has more than 500 columns"),
        (lambda: workbooks.make({"Marks": [["x" * 1_001]]}), "A1 holds a text of 1,001 letters"),
    ],
)
def test_what_is_no_table_is_said(make: Callable[[], bytes], said: str) -> None:
    assert _refusal(make()).startswith(said)


@pytest.mark.parametrize(
    ("part", "content", "said"),
    [
        (
            "mimetype",
            "application/vnd.oasis.opendocument.spreadsheet",
            "This is a LibreOffice workbook (.ods).",
        ),
        ("xl/workbook.bin", "", "This is a binary Excel workbook (.xlsb)."),
        ("word/document.xml", "<document />", "This is a packed file, but no Excel workbook."),
    ],
)
def test_packed_file_of_another_kind_is_named(part: str, content: str, said: str) -> None:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as written:
        written.writestr(part, content)
    assert _refusal(file.getvalue()).startswith(said)


def test_strict_workbook_is_named_and_not_called_empty() -> None:
    data = workbooks.make({"Marks": [HEADER, ["anna", 7]]})
    for part in (FIRST_SHEET, "xl/workbook.xml"):
        usual = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
        data = workbooks.rewrite(data, part, usual, "http://purl.oclc.org/ooxml/spreadsheetml/main")
    assert _refusal(data).startswith("This is an Excel workbook of the kind “Strict Open XML”.")


def test_whoever_comes_while_others_are_looked_into_may_come_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files that take their time, one after the other: they must not hold all that answers teachers' pages."""
    monkeypatch.setattr("gradebook.imports.workbooks.TURN_SECONDS", 0.0)
    data = workbooks.make({"Marks": [HEADER, ["anna", 7]]})
    with TURNS, TURNS, pytest.raises(WorkbookNotRead):
        _read(data)
    assert _read(data) == [(1, HEADER), (2, ["anna", "7"])]


def test_value_in_the_last_row_there_can_be_is_found() -> None:
    assert _read(workbooks.make_far(1_048_576, 1)) == [(1, HEADER), (1_048_576, ["7", ""])]


def test_entities_that_grow_are_not_followed() -> None:
    data = workbooks.make({"Marks": [HEADER]})
    bomb = workbooks.rewrite(data, FIRST_SHEET, "<worksheet", f"<!DOCTYPE worksheet [{LAUGHS}]><worksheet")
    assert _refusal(workbooks.rewrite(bomb, FIRST_SHEET, "Essay", "&l8;")) == BROKEN
