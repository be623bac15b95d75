"""A student's way through an exam: find it, start it, sit it, submit it, keep the receipt, see the result."""

import datetime as dt
import json

import pytest
from django.core.management import call_command
from playwright.sync_api import Locator, Page, expect

from exams.models import Attempt, Exam, Submission
from exams.receipt_keys import get_key_ring
from exams.receipts import SIGNED_MEMBERS, verify_receipt
from gradebook.models import User
from tests import factories
from tests.journeys.conftest import DESKTOP, PHONE
from tests.journeys.sitting import (
    ESSAY,
    MATCHING,
    MULTIPLE,
    NUMERIC,
    SAVED_AT,
    SHORT,
    SINGLE,
    TRUE_FALSE,
    OpenPage,
    draft_of,
    give_exam,
    now,
    sit,
    submitted_by,
)
from tests.people import World
from tests.waiting import wait_until


def tab_to(page: Page, target: Locator, *, most: int = 60) -> None:
    """Press Tab until the target has the focus, as somebody without a mouse has to."""
    for _ in range(most):
        page.keyboard.press("Tab")
        if target.evaluate("(element) => element === document.activeElement"):
            return
    pytest.fail(f"{target} cannot be reached with Tab")


def test_a_student_sits_every_kind_of_question_with_the_keyboard_alone(
    open_page: OpenPage, world: World, student: User
) -> None:
    give_exam(world, title="Geography")
    page = open_page(student, "/")
    keyboard = page.keyboard

    tab_to(page, page.get_by_role("link", name="Rules and start"))
    keyboard.press("Enter")
    tab_to(page, page.get_by_role("button", name="Start…"))
    keyboard.press("Enter")
    tab_to(page, page.get_by_role("dialog").get_by_role("button", name="Start", exact=True))
    keyboard.press("Enter")

    question = [page.locator(f"#question-{number}") for number in range(8)]
    question[SINGLE].wait_for()
    tab_to(page, question[SINGLE].get_by_role("radio").first)
    keyboard.press("ArrowDown")  # from "Wrong" to "Right"
    tab_to(page, question[MULTIPLE].get_by_label("Africa"))
    keyboard.press("Space")
    tab_to(page, question[MULTIPLE].get_by_label("Antarctica"))
    keyboard.press("Space")
    tab_to(page, question[TRUE_FALSE].get_by_role("radio").first)
    keyboard.press("Space")
    tab_to(page, question[NUMERIC].get_by_label("Your answer"))
    keyboard.type("3,14")
    tab_to(page, question[SHORT].get_by_label("Your answer"))
    keyboard.type("Paris")
    keyboard.press("Enter")  # in a field this must not hand anything in
    tab_to(page, question[MATCHING].get_by_label("France"))
    keyboard.type("Par")
    tab_to(page, question[ESSAY].get_by_label("Your answer"))
    keyboard.type("Two lines,\nwith ümläuts.")
    expect(page.locator("[data-save-state]")).to_have_text(SAVED_AT, use_inner_text=True, timeout=15_000)

    page.get_by_role("button", name="Submit…").focus()
    keyboard.press("Enter")
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("All 7 questions are answered.")
    tab_to(page, dialog.get_by_role("button", name="Submit now"))
    keyboard.press("Enter")
    page.wait_for_url("**/exams/receipts/*/")

    paper = Attempt.objects.get().revision.paper or []
    choice = {text["text"]: text["id"] for entry in paper for text in entry.get("choices", [])}
    prompt = {text["text"]: text["id"] for text in paper[MATCHING - 1]["prompts"]}
    assert submitted_by(student) == [
        {
            SINGLE: choice["Right"],
            MULTIPLE: sorted([choice["Africa"], choice["Antarctica"]]),
            TRUE_FALSE: True,
            NUMERIC: "3,14",
            SHORT: "Paris",
            MATCHING: {prompt["France"]: choice["Paris"]},
            ESSAY: "Two lines,\nwith ümläuts.",
        }
    ]


def test_the_receipt_shows_what_was_accepted_and_can_be_checked_offline(
    open_page: OpenPage, world: World, student: User
) -> None:
    desk = sit(open_page, student, give_exam(world, title="Geography"))
    page, dialogs = desk.page, list[str]()
    page.on("dialog", lambda dialog: dialogs.append(dialog.type))
    desk.write(SHORT, "Paris")
    desk.submit()
    page.wait_for_url("**/exams/receipts/*/")
    assert dialogs == []  # nobody who has submitted is asked whether to leave

    submission = Submission.objects.get()
    expect(page.get_by_role("heading", level=1)).to_have_text("Geography")
    with page.expect_download() as download:
        page.get_by_role("link", name="Save as a file").click()
    document = json.loads(download.value.path().read_text())
    verify_receipt(document, get_key_ring().public_keys())
    assert document["id"] == str(submission.pk)
    told = page.locator("article").inner_text()  # on paper too: everything that is signed
    signed = [str(document[name]) for name in SIGNED_MEMBERS]
    assert [fact for fact in signed if fact not in told] == []
    assert "On time" in told


def test_the_dialog_names_the_questions_that_are_not_answered_and_leads_to_them(
    open_page: OpenPage, world: World, student: User
) -> None:
    desk = sit(open_page, student, give_exam(world))
    desk.write(SHORT, "Paris")
    desk.question(TRUE_FALSE).get_by_label("False").check()
    desk.write(ESSAY, "   ")
    desk.page.get_by_role("button", name="Submit…").click()
    dialog = desk.page.get_by_role("dialog")
    expect(dialog).to_contain_text("2 of 7 questions are answered. Not answered yet: question 1, 2, 4, 6, 7.")
    dialog.get_by_role("link", name="4").click()
    expect(dialog).to_be_hidden()
    expect(desk.question(NUMERIC)).to_be_focused()
    assert submitted_by(student) == []


def test_a_number_is_told_back_as_it_will_be_read(open_page: OpenPage, world: World, student: User) -> None:
    desk = sit(open_page, student, give_exam(world))
    field = desk.field(NUMERIC)
    field.fill("1,234")
    field.press("Tab")
    expect(desk.question(NUMERIC)).to_contain_text("Read as 1.234", use_inner_text=True)
    field.fill("1 234")
    field.press("Tab")
    expect(desk.question(NUMERIC)).to_contain_text("This cannot be read as a number.", use_inner_text=True)
    expect(desk.field(NUMERIC)).to_have_attribute("aria-invalid", "true")
    desk.expect_saved()
    assert draft_of(student) == {NUMERIC: "1 234"}  # the page only tells; the grader judges


def test_an_answer_can_be_taken_back(open_page: OpenPage, world: World, student: User) -> None:
    desk = sit(open_page, student, give_exam(world))
    desk.question(SINGLE).get_by_label("Right", exact=True).check()
    desk.write(SHORT, "Paris")
    desk.expect_saved()
    desk.question(SINGLE).get_by_role("button", name="Clear answer").click()
    expect(desk.page.locator("[data-navigator] summary")).to_contain_text("1 of 7 answered")
    wait_until(lambda: draft_of(student) == {SHORT: "Paris"})


def test_my_exams_are_sorted_by_what_can_be_done(open_page: OpenPage, world: World, student: User) -> None:
    hour, today = dt.timedelta(hours=1), now()
    give_exam(world, title="Open")
    give_exam(world, title="Coming", opens_at=today + hour, closes_at=today + 2 * hour)
    give_exam(world, title="Missed", opens_at=today - 2 * hour, closes_at=today - hour)
    done = give_exam(world, title="Done")
    desk = sit(open_page, student, done)
    desk.submit()
    desk.page.wait_for_url("**/exams/receipts/*/")
    desk.page.goto("/exams/")
    groups = {
        group.get_by_role("heading", level=2).inner_text(): group.get_by_role(
            "heading", level=3
        ).all_inner_texts()
        for group in desk.page.locator(".exams-group").all()
    }
    assert groups == {"Open now": ["Open"], "Coming": ["Coming"], "Done": ["Done", "Missed"]}


def test_a_student_without_exams_is_told_what_will_happen(open_page: OpenPage, student: User) -> None:
    page = open_page(student, "/exams/")
    expect(page.get_by_role("heading", name="No exams yet")).to_be_visible()


def test_the_start_page_tells_the_personal_deadline_and_its_rule(
    open_page: OpenPage, world: World, student: User
) -> None:
    exam = give_exam(
        world,
        time_limit=dt.timedelta(minutes=20),
        closes_at=now() + dt.timedelta(hours=2),
        attempts_allowed=2,
    )
    factories.accommodation(student, factor="1.5")
    page = open_page(student, f"/exams/{exam.pk}/")
    expect(page.locator("main")).to_contain_text("30 min from now (time limit 20 min, x 1.5 extra time)")
    expect(page.locator("main")).to_contain_text("2 of 2 left; the best one counts")


def test_the_result_appears_on_the_receipt_once_it_is_released(
    open_page: OpenPage, world: World, student: User
) -> None:
    exam = give_exam(world, questions=[factories.a_question("short_text")])
    desk = sit(open_page, student, exam)
    desk.write(1, "Paris")
    desk.submit()
    page = desk.page
    page.wait_for_url("**/exams/receipts/*/")
    state = page.locator(".receipt__state")
    expect(state).to_contain_text("Waiting to be graded")
    call_command("run_worker", "--once")
    expect(state).to_contain_text("shown here once your school releases it", timeout=20_000)
    Exam.objects.filter(pk=exam.pk).update(scores_released_at=now())
    page.reload()
    expect(state).to_contain_text("1 of 1 points")


def test_a_question_in_html_is_shown_as_written_and_runs_nothing(
    open_page: OpenPage, world: World, student: User
) -> None:
    text = "<p>What is <b>H<sub>2</sub>O</b>?</p><script>document.title = 'broken'</script>"
    question = factories.a_question("short_text", text=text, text_format="html")
    desk = sit(open_page, student, give_exam(world, title="Chemistry", questions=[question]))
    expect(desk.question(1).locator("b sub")).to_have_text("2")
    assert desk.question(1).locator("script").count() == 0
    assert desk.page.title() == "Chemistry · Handover"


def test_a_page_without_javascript_says_so_before_the_time_runs(
    open_page: OpenPage, world: World, student: User
) -> None:
    exam = give_exam(world)
    page = open_page(student, f"/exams/{exam.pk}/", java_script_enabled=False)
    expect(page.locator("main")).to_contain_text("Exams need JavaScript", use_inner_text=True)
    expect(page.get_by_role("button", name="Start")).to_have_count(0)


@pytest.mark.parametrize("person", ["other_student", "teacher", "admin"])
def test_nobody_else_finds_a_students_pages(
    open_page: OpenPage, world: World, student: User, request: pytest.FixtureRequest, person: str
) -> None:
    desk = sit(open_page, student, give_exam(world))
    desk.submit()
    desk.page.wait_for_url("**/exams/receipts/*/")
    attempt, submission = Attempt.objects.get(), Submission.objects.get()
    page = open_page(request.getfixturevalue(person))
    paths = [
        f"/exams/attempts/{attempt.pk}/",
        f"/exams/receipts/{submission.pk}/",
        f"/exams/receipts/{submission.pk}/receipt.json",
    ]
    statuses = [page.request.get(path).status for path in paths]
    assert statuses == [404, 404, 404]


COVERED = """(element) => {
    const box = element.getBoundingClientRect();
    const [x, y] = [box.left + box.width / 2, box.top + box.height / 2];
    const top = document.elementFromPoint(x, y);
    return !(top && (element.contains(top) || top.contains(element) || element.closest("label")?.contains(top)));
}"""


@pytest.mark.parametrize("viewport", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_what_has_the_focus_is_never_under_the_bars(
    open_page: OpenPage, world: World, student: User, viewport: dict[str, int]
) -> None:
    exam = give_exam(world, questions=factories.questions(14))
    desk = sit(open_page, student, exam, viewport=viewport)
    keyboard, hidden, seen = desk.page.keyboard, list[str](), 0
    desk.page.get_by_role("button", name="Submit…").focus()
    for key in ["Tab"] * 60 + ["Shift+Tab"] * 59:
        keyboard.press(key)
        focused = desk.page.locator(":focus")
        seen += focused.count()
        if focused.count() and focused.evaluate(COVERED):
            hidden.append(f"{key}: {focused.evaluate('(element) => element.outerHTML.slice(0, 200)')}")
    assert hidden == []
    assert seen > 100


def test_the_page_is_not_wider_than_a_phone(open_page: OpenPage, world: World, student: User) -> None:
    wide = "<table><tr>" + "<td>a wide table</td>" * 30 + "</tr></table><p>" + "unbreakable" * 30 + "</p>"
    questions = [factories.a_question("short_text", text=wide, text_format="html"), *factories.questions()]
    desk = sit(open_page, student, give_exam(world, title="W" * 60, questions=questions), viewport=PHONE)
    attempt = Attempt.objects.get()
    widths = {"/exams/attempts/": width_of(desk.page)}
    desk.submit()
    desk.page.wait_for_url("**/exams/receipts/*/")
    widths["/exams/receipts/…"] = width_of(desk.page)
    for path in ("/exams/", f"/exams/{attempt.exam_id}/", "/exams/receipts/"):
        desk.page.goto(path)
        widths[path] = width_of(desk.page)
    assert widths == dict.fromkeys(widths, PHONE["width"])


def width_of(page: Page) -> int:
    """Return how wide the page is, scrolled out of sight or not."""
    return int(page.evaluate("document.documentElement.scrollWidth"))


def test_an_exam_of_sixty_questions_is_saved_and_submitted_whole(
    open_page: OpenPage, world: World, student: User
) -> None:
    questions = factories.questions(60, kinds=("short_text",))
    desk = sit(open_page, student, give_exam(world, questions=questions))
    for number in range(1, 61):
        desk.field(number).fill(f"Answer {number}")
    desk.expect_saved()
    desk.page.get_by_role("navigation", name="Questions").get_by_role(
        "link", name="Question 60, answered"
    ).click()
    expect(desk.question(60)).to_be_in_viewport()
    desk.submit()
    desk.page.wait_for_url("**/exams/receipts/*/")
    assert submitted_by(student) == [{number: f"Answer {number}" for number in range(1, 61)}]
