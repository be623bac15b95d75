"""A block from a spreadsheet is pasted into the grid: by key and by button, too large, half wrong, and after the term was locked."""

import re
from decimal import Decimal
from typing import Any

import pytest
from playwright.sync_api import expect

from gradebook.models import Column, User
from gradebook.services.columns import edit_column
from gradebook.services.terms import lock_term
from tests import factories
from tests.gradebook.marks import list_facts, list_steps, save, shown
from tests.journeys.marking import Desk, OpenPage, columns, open_sheet, students
from tests.people import World

__all__ = ["columns", "students"]

MODULES = "/static/gradebook/marksheet"
READ_ALL = """async ([modules, texts]) => {
    const { readBlock } = await import(`${modules}/block.js`);
    return texts.map(readBlock);
}"""
BLOCKS: dict[str, list[list[str]]] = {
    "7": [["7"]],
    "7\n": [["7"]],
    "7\r\n8\r\n": [["7"], ["8"]],
    "7\r8": [["7"], ["8"]],
    "7\t8,5\n\t9": [["7", "8,5"], ["", "9"]],
    "7\n\n9\n": [["7"], [""], ["9"]],  # a cell in the middle is empty
    "7\t\n": [["7", ""]],
    "\n": [[""]],
    '"7"\t"a ""b"""\n': [["7", 'a "b"']],
    '"two\r\nlines"\t"a\tb"\r\n9': [["two\r\nlines", "a\tb"], ["9"]],
    '"7\t8\n9': [['"7', "8"], ["9"]],  # never closed: a letter like any other
    '"7"x\t8': [['"7"x', "8"]],
    "": [[""]],
}


@pytest.fixture
def desk(open_page: OpenPage, teacher: User, columns: list[Column], students: list[User]) -> Desk:
    return _open(open_page, teacher, columns[0])


def _open(open_page: OpenPage, person: User, column: Column, **options: Any) -> Desk:
    allowed = {"permissions": ["clipboard-read", "clipboard-write"]}
    return open_sheet(open_page, person, column, **allowed | options)


def _copy(desk: Desk, text: str) -> None:
    """Put a text on the clipboard, as a spreadsheet does."""
    desk.page.evaluate("text => navigator.clipboard.writeText(text)", text)


def _texts(column: Column, students: list[User]) -> list[str | None]:
    return [shown(column, student) for student in students]


def test_block_is_read_as_spreadsheets_write_it(desk: Desk) -> None:
    """O18: the line end after the last row is an end, and no empty row."""
    found = desk.page.evaluate(READ_ALL, [MODULES, list(BLOCKS)])
    assert dict(zip(BLOCKS, found, strict=True)) == BLOCKS


def test_block_is_pasted_from_the_cursor_right_and_down(
    desk: Desk, columns: list[Column], students: list[User], teacher: User
) -> None:
    essay, test, oral = columns
    save(test, students[2], "5", by=teacher)
    desk.page.reload()
    desk.go_to(students[1], essay)
    _copy(desk, "17,5\t12\r\n a \t\r\n")  # what is not covered stays, an empty cell clears
    with desk.page.expect_request(lambda request: request.method == "POST") as sent:
        desk.press("Control+v")
    desk.expect_all_saved()
    body: Any = sent.value.post_data_json
    assert [change["how"] for change in body["changes"]] == ["pasted"] * 4
    desk.expect_cursor(students[1], essay)
    desk.expect_cell(students[1], essay, "17.5", "saved")
    expect(desk.notice("paste")).to_contain_text(
        "4 cells pasted. 1 mark cleared, because the copied cells are empty."
    )
    assert (_texts(essay, students), _texts(test, students), _texts(oral, students)) == (
        [None, "17.5", "absent"],
        [None, "12", ""],
        [None, None, None],
    )
    assert list_steps(test, students[2]) == [("typed", None, "5"), ("pasted", "5", "")]
    assert list_facts(essay, students[1])[0]["reason"] == "pasted"


def test_block_that_does_not_fit_is_refused_as_a_whole_and_says_what_would_be_left_over(
    desk: Desk, columns: list[Column], students: list[User]
) -> None:
    desk.go_to(students[1], columns[1])
    _copy(desk, "1\t2\t3\n4\t5\t\n7\t8\n\t\n")
    desk.press("Control+v")
    expect(desk.notice("paste")).to_contain_text(
        "Nothing was pasted, because it does not fit here: 4 rows copied, and 2 from Bo Berg down; 3 columns copied, "
        "and 2 from Test on. Left over would be “3”; “7”; “8”."
    )
    expect(desk.page.locator("td[data-state]")).to_have_count(0)
    desk.press(
        "ArrowLeft", "ArrowUp", "Control+v"
    )  # here it does fit: the blank row over the edge holds nothing
    desk.expect_all_saved()
    expect(desk.notice("paste")).to_have_count(0)
    assert [_texts(column, students) for column in columns] == [
        ["1", "4", "7"],
        ["2", "5", "8"],
        ["3", None, None],
    ]


def test_values_that_are_no_marks_are_kept_and_can_be_taken_out_at_once(
    desk: Desk, columns: list[Column], students: list[User], teacher: User
) -> None:
    save(columns[0], students[0], "5", by=teacher)
    desk.page.reload()
    desk.go_to(students[0], columns[0])
    _copy(desk, "Aino\n21\n19\n")
    desk.press("Control+v")
    desk.expect_cell(students[0], columns[0], "Aino", "invalid")
    desk.expect_cell(students[2], columns[0], "19", "saved")
    expect(desk.notice("paste")).to_contain_text(
        "3 cells pasted. Not saved: Aino Aalto, Essay: “Aino” is neither a number nor a code; "
        "Bo Berg, Essay: The most this column gives is 20."
    )
    assert desk.kept() == ["21", "Aino"]
    desk.page.get_by_role("button", name="Take these 2 out again").click()
    expect(desk.page.locator("td:focus")).to_have_count(
        1
    )  # the button is gone, and the cursor back in its cell
    desk.expect_cell(students[0], columns[0], "5")
    desk.expect_cell(students[1], columns[0], "")
    desk.expect_all_saved()
    assert (_texts(columns[0], students), desk.kept()) == (["5", None, "19"], [])


def test_what_is_wrong_of_every_paste_and_by_the_servers_judgement_is_named_and_taken_out_together(
    open_page: OpenPage, columns: list[Column], students: list[User], teacher: User
) -> None:
    essay = columns[0]
    desk = _open(open_page, teacher, essay, viewport={"width": 390, "height": 844})
    edit_column(column_id=essay.pk, sheet=essay.sheet, title="Essay", max_points=Decimal(18), by=teacher)
    desk.go_to(students[0], essay)
    _copy(desk, "Aino")
    desk.press("Control+v")
    expect(desk.page.get_by_role("button", name="Take it out again")).to_be_visible()
    desk.go_to(students[1], essay)
    _copy(desk, "21\n19\n")  # the page believes in 20
    desk.press("Control+v")
    expect(desk.notice("paste")).to_contain_text(
        "Not saved: Aino Aalto, Essay: “Aino” is neither a number nor a code; "
        "Bo Berg, Essay: The most this column gives is 20; Cleo Costa, Essay: The most this column gives is 18."
    )
    expect(desk.status).to_have_text("3 cells need your attention; everything else is saved.")
    desk.page.reload()
    desk.page.get_by_role("button", name="Show the next").click()
    desk.expect_cursor(students[1], essay)
    desk.page.get_by_role("button", name="Take these 3 out again").click()
    expect(desk.status).to_have_text("All marks are saved")
    expect(desk.notice("paste")).to_have_count(0)
    assert (_texts(essay, students), desk.kept()) == ([None, None, None], [])


def test_notice_of_a_paste_goes_when_what_was_wrong_has_been_typed_over(
    desk: Desk, columns: list[Column], students: list[User]
) -> None:
    desk.go_to(students[0], columns[0])
    _copy(desk, "Aino\nBo\n")
    desk.press("Control+v")
    expect(desk.page.get_by_role("button", name="Take these 2 out again")).to_be_visible()
    desk.write("7")
    expect(desk.page.get_by_role("button", name="Take it out again")).to_be_visible()
    desk.write("8")
    desk.expect_all_saved()
    expect(desk.notice("paste")).to_have_count(0)
    assert _texts(columns[0], students) == ["7", "8", None]


def test_block_pasted_into_an_open_field_goes_over_the_cells_and_a_single_value_into_the_field(
    desk: Desk, columns: list[Column], students: list[User]
) -> None:
    desk.go_to(students[0], columns[0])
    desk.page.keyboard.type("1")
    _copy(desk, "7\n")
    desk.press("Control+v")
    expect(desk.field).to_have_value("17")
    _copy(desk, "1\n2\n")
    desk.press("Control+v")
    desk.expect_all_saved()
    expect(desk.field).to_have_count(0)
    assert _texts(columns[0], students) == ["1", "2", None]


def test_what_is_pasted_over_a_colleagues_mark_is_asked_about(
    desk: Desk, world: World, columns: list[Column], students: list[User]
) -> None:
    colleague = factories.teacher(world.school, first_name="Maija", last_name="Virtanen")
    factories.assignment(colleague, world.school_class, world.course, world.period)
    save(columns[0], students[0], "6", by=colleague)
    desk.go_to(students[0], columns[0])
    _copy(desk, "7\n8")
    desk.press("Control+v")
    expect(desk.dialog).to_be_visible(timeout=15_000)
    expect(desk.dialog).to_contain_text("Maija Virtanen saved a mark here")
    desk.dialog.get_by_role("button", name="Use mine").click()
    desk.expect_all_saved()
    assert list_steps(columns[0], students[0]) == [("typed", None, "6"), ("pasted", "6", "7")]
    assert shown(columns[0], students[1]) == "8"


def test_paste_after_the_term_was_locked_is_refused_in_words_and_stays_to_be_seen(
    desk: Desk, open_page: OpenPage, world: World, columns: list[Column], students: list[User], teacher: User
) -> None:
    save(columns[0], students[0], "5", by=teacher)
    lock_term(period_id=world.period.pk, by=factories.admin(school=world.school))
    words = "This term is locked: its marks stand still. Propose an amendment instead."
    desk.go_to(students[0], columns[0])
    _copy(desk, "7\n8")
    desk.press("Control+v")
    expect(desk.status).to_contain_text(words)
    desk.expect_cell(students[0], columns[0], "7", "failed")
    desk.press("ArrowRight", "Control+v")  # once more, when it is known already
    desk.expect_cell(students[1], columns[1], "8", "failed")
    assert (_texts(columns[0], students), desk.kept()) == (["5", None, None], ["7", "7", "8", "8"])

    late = _open(open_page, teacher, columns[0])
    late.go_to(students[0], columns[0])
    _copy(late, "7\n8")
    late.press("Control+v")
    expect(late.notice("paste")).to_contain_text(words)
    late.expect_cell(students[0], columns[0], "5")


def test_paste_is_a_button_too_and_says_what_to_do_where_the_browser_forbids_it(
    desk: Desk, open_page: OpenPage, columns: list[Column], students: list[User], teacher: User
) -> None:
    desk.go_to(students[0], columns[0])
    _copy(desk, "7\n8")
    desk.page.get_by_role("button", name="Paste").click()
    desk.expect_all_saved()
    assert _texts(columns[0], students) == ["7", "8", None]

    other = open_sheet(open_page, teacher, columns[0], permissions=[])
    other.page.evaluate(
        "() => { navigator.clipboard.readText = () => Promise.reject(new DOMException('no', 'NotAllowedError')); }"
    )
    other.go_to(students[0], columns[0])
    other.page.get_by_role("button", name="Paste").click()
    expect(other.notice("paste")).to_contain_text(re.compile("press Ctrl V"))
