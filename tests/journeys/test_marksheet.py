"""A teacher at the grid, in a real browser: by keyboard, with errors, without a network, beside a colleague."""

import re
from typing import Any

import pytest
from playwright.sync_api import expect

from gradebook.models import Column, User
from tests import factories
from tests.gradebook.marks import list_steps, post, save, shown
from tests.journeys.conftest import PHONE, sign_in
from tests.journeys.marking import (
    Desk,
    OpenPage,
    columns,
    cut_saves_off,
    lose_answers_of_saves,
    open_sheet,
    students,
)
from tests.people import World

__all__ = ["columns", "students"]


@pytest.fixture
def colleague(world: World) -> User:
    """Teaches the same class in the same course and period."""
    person = factories.teacher(world.school, first_name="Maija", last_name="Virtanen")
    factories.assignment(person, world.school_class, world.course, world.period)
    return person


@pytest.fixture
def desk(open_page: OpenPage, teacher: User, columns: list[Column], students: list[User]) -> Desk:
    return open_sheet(open_page, teacher, columns[0])


def test_column_of_marks_is_entered_by_keyboard_alone(
    desk: Desk, columns: list[Column], students: list[User]
) -> None:
    essay, test, oral = columns
    desk.page.locator("#main").focus()
    while not desk.page.evaluate("document.activeElement.matches('td')"):
        desk.press("Tab")
    desk.expect_cursor(students[0], essay)

    desk.write("17")
    desk.write("18.5")
    desk.write("a", then="Shift+Enter")
    desk.expect_cursor(students[1], essay)
    desk.press("F2", "End", "Backspace", "Backspace", "Enter")
    desk.expect_cursor(students[2], essay)
    desk.press("ArrowUp", "ArrowUp", "ArrowRight")
    desk.write("12,25", then="Tab")
    desk.expect_cursor(students[0], oral)
    desk.write("0")
    desk.expect_cursor(students[1], test)  # Enter goes back to where the run of Tabs began
    desk.press("Control+d", "ArrowDown", "Control+D")  # the second as with Caps Lock on
    desk.expect_cursor(students[2], test)
    desk.expect_all_saved()

    assert [shown(essay, student) for student in students] == ["17", "18", "absent"]
    assert [shown(column, students[0]) for column in columns] == ["17", "12.25", "0"]
    assert [shown(test, student) for student in students] == ["12.25"] * 3
    desk.expect_cell(students[0], test, "12.25", "saved")


def test_escape_puts_back_and_delete_clears(
    desk: Desk, columns: list[Column], students: list[User], teacher: User
) -> None:
    desk.go_to(students[0], columns[0])
    desk.write("17")
    desk.expect_all_saved()
    desk.press("ArrowUp")
    desk.page.keyboard.type("3")
    desk.press("Escape")
    desk.expect_cursor(students[0], columns[0])
    desk.expect_cell(students[0], columns[0], "17", "saved")

    desk.press("Delete")
    desk.expect_cell(students[0], columns[0], "", "saved")
    desk.expect_all_saved()
    assert list_steps(columns[0], students[0]) == [("typed", None, "17"), ("cleared", "17", "")]


def test_tab_leaves_the_grid_at_the_end_of_the_row_and_escape_leaves_at_once(
    desk: Desk, columns: list[Column], students: list[User]
) -> None:
    desk.go_to(students[0], columns[1])
    desk.press("Tab")
    desk.expect_cursor(students[0], columns[2])
    desk.press("Tab")
    expect(desk.page.locator("summary", has_text="Keyboard")).to_be_focused()
    desk.press("Shift+Tab")
    desk.expect_cursor(students[0], columns[2])  # where the cursor was
    desk.press("Escape")
    expect(desk.page.locator("summary", has_text="Keyboard")).to_be_focused()


def test_cursor_moves_by_every_key_and_reaches_the_columns_heads(
    desk: Desk, columns: list[Column], students: list[User]
) -> None:
    desk.go_to(students[1], columns[1])
    for key, (row, column) in {
        "Home": (1, 0),
        "End": (1, 2),
        "PageDown": (2, 2),
        "PageUp": (0, 2),
        "Control+End": (2, 2),
        "Control+Home": (0, 0),
        "ArrowLeft": (0, 0),
        "ArrowRight": (0, 1),
        "ArrowDown": (1, 1),
    }.items():
        desk.press(key)
        desk.expect_cursor(students[row], columns[column])
    desk.press("ArrowUp", "ArrowUp", "Enter")
    expect(desk.page).to_have_url(re.compile(f"/columns/{columns[1].pk}/$"))


def test_exams_above_the_marks_do_not_stand_in_the_way_of_the_tab_key_and_are_reached_from_their_heads(
    open_page: OpenPage, world: World, teacher: User, students: list[User]
) -> None:
    factories.column(world.sheet, title="Homework")
    exam = factories.exam(course=world.course)
    linked = factories.column(world.sheet, title="Final", source="exam", source_id=exam.pk)
    desk = open_sheet(open_page, teacher, linked)
    desk.page.get_by_role("link", name="Figures").focus()
    desk.press("Tab")
    desk.expect_cursor(students[0], world.sheet.columns.get(title="Homework"))
    desk.press("ArrowRight", "ArrowUp", "Tab", "Enter")
    expect(desk.page).to_have_url(re.compile(f"/exams/marking/{exam.pk}/$"))


def test_left_and_right_follow_the_eye_on_a_page_from_right_to_left(
    desk: Desk, columns: list[Column], students: list[User]
) -> None:
    desk.page.evaluate("document.documentElement.dir = 'rtl'")
    desk.go_to(students[0], columns[0])
    desk.press("ArrowLeft")
    desk.expect_cursor(students[0], columns[1])
    desk.press("ArrowRight")
    desk.expect_cursor(students[0], columns[0])


def test_impossible_mark_is_told_at_once_and_kept_as_typed(
    desk: Desk, columns: list[Column], students: list[User]
) -> None:
    desk.go_to(students[0], columns[0])
    desk.page.keyboard.type("25")
    expect(desk.field).to_have_attribute("aria-invalid", "true")
    expect(desk.page.locator("#grid-hint")).to_have_text("The most this column gives is 20.")
    desk.press("Enter")
    desk.write("19")  # the next student, as if nothing had happened

    desk.expect_cell(students[0], columns[0], "25", "invalid")
    desk.expect_cell(students[1], columns[0], "19", "saved")
    expect(desk.status).to_have_text("1 cell needs your attention; everything else is saved.")
    expect(desk.cell(students[0], columns[0])).to_have_accessible_name(re.compile("not saved: The most"))
    assert (shown(columns[0], students[0]), desk.kept()) == (None, ["25"])

    desk.go_to(students[0], columns[0])
    desk.press("F2", "Backspace", "Enter")
    desk.expect_all_saved()
    assert (shown(columns[0], students[0]), desk.kept()) == ("2", [])


def test_decimals_are_typed_and_shown_as_the_readers_language_writes_them(
    open_page: OpenPage, teacher: User, columns: list[Column], students: list[User]
) -> None:
    desk = open_sheet(open_page, teacher, columns[0], locale="de-DE")
    desk.go_to(students[0], columns[0])
    desk.write("7,5")
    desk.write("7.25")
    desk.write("1.234")
    desk.expect_cell(students[0], columns[0], "7,5", "saved")
    desk.expect_cell(students[1], columns[0], "7,25", "saved")
    desk.expect_cell(students[2], columns[0], "1.234", "invalid")
    assert [shown(columns[0], student) for student in students] == ["7.5", "7.25", None]


def test_only_changed_cells_are_sent_with_the_version_they_are_based_on(
    desk: Desk, columns: list[Column], students: list[User], teacher: User
) -> None:
    desk.go_to(students[0], columns[0])
    desk.write("17")
    desk.expect_all_saved()
    desk.press("ArrowUp")
    with desk.page.expect_request(lambda request: request.method == "POST") as sent:
        desk.press("F2", "Enter")  # looked at, not changed
        desk.press("ArrowUp")
        desk.write("18")
    desk.expect_all_saved()
    assert sent.value.post_data_json == {
        "by": str(teacher.pk),
        "term": 1,
        "decimal_sign": ".",
        "changes": [
            {"column": str(columns[0].pk), "student": str(students[0].pk), "version": 1, "entry": "18"}
        ],
    }


class TestConflict:
    """O17: two people have the same sheet open."""

    @pytest.fixture
    def clash(self, desk: Desk, columns: list[Column], students: list[User], colleague: User) -> Desk:
        """The colleague has saved 6 since this page was read; 7 is typed here."""
        save(columns[0], students[0], "6", by=colleague)
        desk.go_to(students[0], columns[0])
        desk.write("7")
        desk.expect_cell(students[0], columns[0], "7", "conflict")
        return desk

    def test_conflict_shows_mine_theirs_who_and_when_and_asks(self, clash: Desk) -> None:
        expect(clash.dialog).to_be_visible()
        expect(clash.dialog.get_by_role("heading")).to_have_text("Aino Aalto: Essay")
        expect(clash.dialog.locator("[data-mine]")).to_have_text("7")
        expect(clash.dialog.locator("[data-theirs]")).to_have_text("6")
        expect(clash.dialog.locator("[data-story]")).to_contain_text("Maija Virtanen saved a mark here")
        expect(clash.dialog.locator("time")).to_have_text(re.compile(r"\d\d:\d\d:\d\d"))
        clash.press("Enter", "5")  # keys meant for the grid decide nothing
        expect(clash.dialog).to_be_visible()

    def test_mine_is_saved_on_their_version_when_chosen(
        self, clash: Desk, columns: list[Column], students: list[User]
    ) -> None:
        clash.dialog.get_by_role("button", name="Use mine").click()
        clash.expect_all_saved()
        clash.expect_cell(students[0], columns[0], "7", "saved")
        assert list_steps(columns[0], students[0]) == [("typed", None, "6"), ("typed", "6", "7")]

    def test_theirs_is_shown_and_nothing_sent_when_kept(
        self, clash: Desk, columns: list[Column], students: list[User]
    ) -> None:
        clash.dialog.get_by_role("button", name="Keep theirs").click()
        clash.expect_cell(students[0], columns[0], "6")
        clash.expect_all_saved()
        assert (list_steps(columns[0], students[0]), clash.kept()) == ([("typed", None, "6")], [])

    def test_decision_can_wait_and_nothing_is_lost_meanwhile(
        self, clash: Desk, columns: list[Column], students: list[User]
    ) -> None:
        expect(clash.dialog).to_be_visible()
        clash.press("Escape")
        expect(clash.dialog).to_be_hidden()
        clash.expect_cell(students[0], columns[0], "7", "conflict")
        expect(clash.status).to_have_text("1 cell needs your attention; everything else is saved.")
        clash.go_to(students[1], columns[0])
        clash.write("9")
        clash.expect_cell(students[1], columns[0], "9", "saved")
        clash.page.get_by_role("button", name="Review 1 conflict").click()
        clash.dialog.get_by_role("button", name="Use mine").click()
        clash.expect_all_saved()
        assert (shown(columns[0], students[0]), clash.kept()) == ("7", [])

    def test_mine_chosen_after_they_changed_it_again_is_a_conflict_again(
        self, clash: Desk, columns: list[Column], students: list[User], colleague: User
    ) -> None:
        expect(clash.dialog).to_be_visible()
        save(columns[0], students[0], "5", version=1, by=colleague)
        clash.dialog.get_by_role("button", name="Use mine").click()
        expect(clash.dialog.locator("[data-theirs]")).to_have_text("5")
        assert shown(columns[0], students[0]) == "5"

    def test_question_is_not_put_between_two_keys(
        self, desk: Desk, columns: list[Column], students: list[User], colleague: User
    ) -> None:
        save(columns[0], students[0], "6", by=colleague)
        desk.go_to(students[0], columns[0])
        desk.write("7")
        desk.page.keyboard.type("1")  # an editor is open while the answer comes
        desk.expect_cell(students[0], columns[0], "7", "conflict")
        expect(desk.dialog).to_be_hidden()
        desk.write("8")
        expect(desk.dialog).to_be_visible()
        assert shown(columns[0], students[1]) == "18"


def test_marks_of_a_colleague_appear_and_leave_the_open_editor_alone(
    desk: Desk, columns: list[Column], students: list[User], colleague: User
) -> None:
    desk.go_to(students[0], columns[0])
    desk.page.keyboard.type("1")
    save(columns[0], students[0], "6", by=colleague)
    save(columns[0], students[1], "9", by=colleague)
    post(columns[2], students[2], "4")
    desk.refresh()

    desk.expect_cell(students[1], columns[0], "9")
    desk.expect_cell(students[2], columns[2], "4")
    expect(desk.field).to_be_focused()
    desk.write("7")  # 17, based on what was there when the edit began: the server asks
    desk.expect_cell(students[0], columns[0], "17", "conflict")
    assert shown(columns[0], students[0]) == "6"


def test_edit_that_is_given_up_shows_what_came_meanwhile(
    desk: Desk, columns: list[Column], students: list[User], colleague: User
) -> None:
    desk.go_to(students[0], columns[0])
    desk.page.keyboard.type("1")
    save(columns[0], students[0], "6", by=colleague)
    desk.refresh()
    desk.press("Escape")
    desk.expect_cell(students[0], columns[0], "6")


def test_cell_that_was_only_looked_at_takes_what_came_meanwhile(
    desk: Desk, columns: list[Column], students: list[User], teacher: User, colleague: User
) -> None:
    desk.go_to(students[0], columns[0])
    desk.write("5")
    desk.expect_all_saved()
    desk.press("ArrowUp", "F2")
    save(columns[0], students[0], "6", version=1, by=colleague)
    desk.refresh()
    expect(desk.field).to_have_value("5")
    desk.press("Enter")
    desk.expect_cell(students[0], columns[0], "6")
    assert list_steps(columns[0], students[0]) == [("typed", None, "5"), ("typed", "5", "6")]


def test_new_column_of_a_colleague_is_announced(
    desk: Desk, world: World, columns: list[Column], students: list[User]
) -> None:
    factories.column(world.sheet, title="Project")
    desk.refresh()
    desk.notice("layout").get_by_role("button", name="Load it again").click()
    expect(desk.page.get_by_role("columnheader", name=re.compile("Project"))).to_be_visible()


class TestLostConnection:
    """Nothing typed is ever lost, and nothing is called saved before the server has said so."""

    def test_marks_typed_without_a_network_are_saved_when_it_is_back(
        self, desk: Desk, columns: list[Column], students: list[User]
    ) -> None:
        desk.page.context.set_offline(True)
        desk.go_to(students[0], columns[0])
        desk.write("17")
        desk.write("18")
        desk.expect_cell(students[0], columns[0], "17", "failed")
        desk.expect_cell(students[1], columns[0], "18", "failed")
        expect(desk.status).to_have_text("Not saved: no connection. 2 marks are kept on this device.")
        assert (desk.kept(), shown(columns[0], students[0])) == (["17", "18"], None)

        desk.page.context.set_offline(False)
        desk.expect_all_saved()
        assert [shown(columns[0], student) for student in students[:2]] == ["17", "18"]
        assert desk.kept() == []

    def test_save_whose_answer_is_lost_happens_once(
        self, desk: Desk, columns: list[Column], students: list[User]
    ) -> None:
        lose_answers_of_saves(desk.page)
        desk.go_to(students[0], columns[0])
        desk.write("17")
        desk.expect_cell(students[0], columns[0], "17", "failed")
        desk.page.unroute_all()
        desk.expect_all_saved()
        assert list_steps(columns[0], students[0]) == [("typed", None, "17")]

    def test_mark_typed_over_one_whose_answer_is_lost_does_not_conflict_with_oneself(
        self, desk: Desk, columns: list[Column], students: list[User]
    ) -> None:
        lose_answers_of_saves(desk.page)
        desk.go_to(students[0], columns[0])
        desk.write("17")
        desk.expect_cell(students[0], columns[0], "17", "failed")
        desk.press("ArrowUp")
        desk.write("18")
        desk.page.unroute_all()
        desk.expect_all_saved()
        assert list_steps(columns[0], students[0]) == [("typed", None, "17"), ("typed", "17", "18")]

    def test_reload_brings_back_what_was_not_saved_and_saves_it(
        self, desk: Desk, columns: list[Column], students: list[User]
    ) -> None:
        cut_saves_off(desk.page)
        desk.go_to(students[0], columns[0])
        desk.write("17")
        desk.write("99")  # above the maximum
        desk.expect_cell(students[0], columns[0], "17", "failed")
        desk.page.unroute_all()
        _reload_after_a_warning(desk)

        expect(desk.notice("restored")).to_contain_text("1 mark typed earlier on this device")
        desk.expect_cell(students[0], columns[0], "17", "saved")
        desk.expect_cell(students[1], columns[0], "99", "invalid")
        assert (shown(columns[0], students[0]), desk.kept()) == ("17", ["99"])

    def test_reload_opens_the_editor_again_with_the_unfinished_text(
        self, desk: Desk, columns: list[Column], students: list[User], colleague: User
    ) -> None:
        desk.go_to(students[0], columns[0])
        desk.page.keyboard.type("1")
        _reload_after_a_warning(desk)
        expect(desk.field).to_be_focused()
        expect(desk.field).to_have_value("1")
        desk.write("7")
        desk.expect_all_saved()
        assert (shown(columns[0], students[0]), desk.kept()) == ("17", [])

    def test_mark_restored_onto_a_changed_cell_is_a_conflict(
        self, desk: Desk, columns: list[Column], students: list[User], colleague: User
    ) -> None:
        cut_saves_off(desk.page)
        desk.go_to(students[0], columns[0])
        desk.write("17")
        desk.expect_cell(students[0], columns[0], "17", "failed")
        save(columns[0], students[0], "6", by=colleague)
        desk.page.unroute_all()
        _reload_after_a_warning(desk)
        desk.expect_cell(students[0], columns[0], "17", "conflict")
        assert shown(columns[0], students[0]) == "6"

    def test_marks_typed_after_the_session_ended_are_saved_after_signing_in_again(
        self, desk: Desk, columns: list[Column], students: list[User], teacher: User
    ) -> None:
        desk.page.context.clear_cookies()
        desk.go_to(students[0], columns[0])
        desk.write("17")
        expect(desk.notice("signed-out")).to_be_visible()
        expect(desk.status).to_have_text("You are signed out. 1 mark is kept on this device.")
        _sign_in_in_a_new_tab(desk, teacher)
        desk.page.get_by_role("button", name="Try now").click()
        desk.expect_all_saved()
        expect(desk.notice("signed-out")).to_be_hidden()
        assert shown(columns[0], students[0]) == "17"

    def test_nothing_is_saved_in_the_name_of_somebody_who_signed_in_meanwhile(
        self, desk: Desk, columns: list[Column], students: list[User], colleague: User, site: str
    ) -> None:
        sign_in(desk.page.context, colleague, site)
        desk.go_to(students[0], columns[0])
        desk.write("17")
        expect(desk.notice("signed-out")).to_be_visible()
        assert (shown(columns[0], students[0]), desk.kept()) == (None, ["17"])


def _sign_in_in_a_new_tab(desk: Desk, person: User) -> None:
    with desk.page.context.expect_page() as opened:
        desk.notice("signed-out").get_by_role("link", name="Sign in").click()
    page = opened.value
    page.get_by_label("Username").fill(person.username)
    page.get_by_label("Password").fill(factories.PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    expect(page).to_have_url(re.compile("/marksheets/$"))
    page.close()


def _reload_after_a_warning(desk: Desk) -> None:
    warnings: list[str] = []

    def leave(dialog: Any) -> None:
        warnings.append(dialog.type)
        dialog.accept()

    desk.page.once("dialog", leave)
    desk.page.reload()
    assert warnings == ["beforeunload"]


def test_history_of_the_cell_opens_with_a_key_and_gives_the_cursor_back(
    desk: Desk, columns: list[Column], students: list[User]
) -> None:
    desk.go_to(students[1], columns[1])
    desk.press("h")
    drawer = desk.page.locator("[data-history-drawer]")
    expect(drawer.get_by_role("heading", name="Bo Berg, Test")).to_be_visible()
    expect(drawer.get_by_role("status")).to_have_text("No changes.")
    desk.press("Escape")
    desk.expect_cursor(students[1], columns[1])


def test_administrator_reads_and_moves_but_cannot_type(
    open_page: OpenPage, admin: User, teacher: User, columns: list[Column], students: list[User]
) -> None:
    save(columns[0], students[0], "7", by=teacher)
    desk = open_sheet(open_page, admin, columns[0])
    expect(desk.page.get_by_role("grid")).to_have_attribute("aria-readonly", "true")
    desk.go_to(students[0], columns[0])
    desk.press("8", "Enter", "Delete", "ArrowDown")
    desk.expect_cursor(students[1], columns[0])
    desk.expect_cell(students[0], columns[0], "7")
    expect(desk.page.get_by_role("toolbar")).to_have_count(0)


def test_finger_edits_with_one_touch_and_has_buttons_for_codes(
    open_page: OpenPage, teacher: User, columns: list[Column], students: list[User]
) -> None:
    desk = open_sheet(open_page, teacher, columns[0], viewport=PHONE, has_touch=True, is_mobile=True)
    desk.cell(students[0], columns[0]).tap()
    expect(desk.field).to_be_focused()
    assert desk.field.get_attribute("inputmode") == "decimal"
    desk.write("17")
    desk.cell(students[1], columns[0]).tap()
    desk.page.get_by_role("button", name="Absent").tap()
    desk.expect_all_saved()
    assert [shown(columns[0], student) for student in students[:2]] == ["17", "absent"]
    assert desk.page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_marks_can_be_read_without_javascript(
    open_page: OpenPage, teacher: User, columns: list[Column], students: list[User]
) -> None:
    save(columns[0], students[0], "7.5", by=teacher)
    desk = open_sheet(open_page, teacher, columns[0], java_script_enabled=False)
    expect(desk.cell(students[0], columns[0])).to_have_text("7.5")
    expect(desk.page.get_by_role("table", name=re.compile("^Marks of"))).to_be_visible()


def test_grid_tells_a_screen_reader_where_it_is(
    desk: Desk, columns: list[Column], students: list[User]
) -> None:
    grid = desk.page.get_by_role("grid", name=re.compile("^Marks of"))
    expect(grid.get_by_role("gridcell")).to_have_count(9)
    expect(grid.get_by_role("rowheader", name="Aino Aalto")).to_be_visible()
    expect(grid.get_by_role("columnheader", name="Essay at most 20")).to_be_visible()
    desk.go_to(students[0], columns[0])
    desk.press("F2")
    expect(desk.page.get_by_role("textbox", name="Essay, Aino Aalto, at most 20")).to_be_focused()
