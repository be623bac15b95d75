"""A student photographs an answer in a real browser: with a cut network, a damaged file, a reload, by keyboard and on a phone."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import FilePayload, Locator, Page, Route, expect

from exams.models import AttachmentVersion, Exam
from gradebook.models import User
from tests.attachments import pictures
from tests.attachments.relaying import relay_everything
from tests.attachments.senders import photo_exam, read_object, sha256
from tests.exams.grading_room import grade_everything
from tests.journeys.conftest import PHONE
from tests.journeys.sitting import Desk, OpenPage, draft_of, expect_says, sit, submitted_by
from tests.people import World
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)

CHUNKS = "**/api/v1/attempts/*/attachments/*"
FIRST, SECOND = 2, 3  # the questions that ask for a photo
LARGE = pictures.jpeg(3000, 2000) + b"\0" * 700_000


@pytest.fixture
def exam(world: World) -> Exam:
    return photo_exam(world)


@pytest.fixture
def desk(open_page: OpenPage, student: User, exam: Exam) -> Desk:
    return sit(open_page, student, exam)


def photo(content: bytes, name: str = "page-1.jpg") -> FilePayload:
    return {"name": name, "mimeType": "image/jpeg", "buffer": content}


def choose(desk: Desk, content: bytes, name: str = "page-1.jpg", *, question: int = FIRST) -> None:
    chooser = desk.question(question).locator("input[type=file]").last
    chooser.set_input_files(photo(content, name))


def says(desk: Desk, words: str | re.Pattern[str], *, question: int = FIRST) -> None:
    expect_says(desk.question(question), words)


def thumbnail(desk: Desk, *, question: int = FIRST) -> Locator:
    return desk.question(question).locator("[data-picture] img")


def is_drawn(image: Locator) -> bool:
    return bool(image.evaluate("image => image.complete && image.naturalWidth > 0"))


def test_a_photo_goes_from_the_students_page_to_the_teachers(
    desk: Desk, open_page: OpenPage, student: User, teacher: User, exam: Exam
) -> None:
    content = pictures.photo_with_place(1600, 1200)
    choose(desk, content)
    says(desk, "Received: page-1.jpg")
    says(desk, "The picture is being prepared…")
    desk.expect_saved()
    assert draft_of(student) == {FIRST: sha256(content)}

    relay_everything()
    expect(thumbnail(desk)).to_be_visible(timeout=20_000)
    wait_until(lambda: is_drawn(thumbnail(desk)))
    desk.submit()
    expect_says(desk.outcome, "Submitted")

    assert submitted_by(student) == [{FIRST: sha256(content)}]
    assert read_object(AttachmentVersion.objects.get(), "original") == content
    grade_everything()
    page = open_page(teacher, f"/exams/marking/{exam.pk}/")
    shown = page.get_by_role("img", name="Photo handed in by")
    shown.scroll_into_view_if_needed()
    wait_until(lambda: is_drawn(shown))


def test_an_upload_goes_on_by_itself_after_the_network_was_away(desk: Desk, student: User) -> None:
    requests: list[str] = []
    desk.page.route(CHUNKS, _cut_after(2, requests))
    choose(desk, LARGE)
    says(desk, re.compile(r"The network is away\. page-1\.jpg goes on by itself"))
    assert draft_of(student) == {}

    desk.page.unroute(CHUNKS)
    desk.page.evaluate("window.dispatchEvent(new Event('online'))")
    says(desk, "Received: page-1.jpg")

    assert read_object(AttachmentVersion.objects.get(), "original") == LARGE
    assert requests[:2] == ["0", "131072"]


def test_a_page_that_was_left_in_the_middle_goes_on_with_the_same_file(desk: Desk, student: User) -> None:
    desk.page.route(CHUNKS, _cut_after(2, []))
    choose(desk, LARGE)
    says(desk, "The network is away.")
    desk.page.unroute(CHUNKS)
    arrived = AttachmentVersion.objects.get().received
    assert arrived > 0
    desk.page.on("dialog", lambda dialog: dialog.accept())
    desk.page.reload()
    says(desk, "page-1.jpg was cut off on its way.")

    offsets: list[str] = []
    desk.page.route(CHUNKS, _cut_after(1000, offsets))
    choose(desk, LARGE)
    says(desk, "Received: page-1.jpg")

    assert offsets[0] == str(arrived)
    assert AttachmentVersion.objects.get().state == "processing"


def test_a_damaged_photo_is_told_and_another_takes_its_place(desk: Desk, student: User) -> None:
    good = pictures.jpeg()
    choose(desk, pictures.truncated_jpeg(), "blurred.jpg")
    says(desk, "Received: blurred.jpg")
    relay_everything()
    says(desk, "Failed: blurred.jpg. This photo is damaged and cannot be shown. Please choose another file.")

    choose(desk, good, "sharp.jpg")
    says(desk, "Received: sharp.jpg")
    relay_everything()
    expect(thumbnail(desk)).to_be_visible(timeout=20_000)
    desk.expect_saved()

    assert draft_of(student) == {FIRST: sha256(good)}


def test_a_file_of_another_type_leaves_the_answer_as_it_was(desk: Desk, student: User) -> None:
    good = pictures.jpeg()
    choose(desk, good)
    says(desk, "Received: page-1.jpg")

    choose(desk, b"GIF89a" + b"x" * 500, "dance.gif")
    says(desk, "Not taken. This is not a photo (JPEG, PNG, WebP) and not a PDF.")
    says(desk, "Your answer is still the file you sent before.")
    desk.expect_saved()

    assert draft_of(student) == {FIRST: sha256(good)}


def test_an_answer_that_was_cleared_names_no_file(desk: Desk, student: User) -> None:
    choose(desk, pictures.jpeg())
    says(desk, "Received: page-1.jpg")
    desk.expect_saved()
    desk.question(FIRST).get_by_role("button", name="Clear answer").click()
    desk.expect_saved()

    assert draft_of(student) == {}
    expect(desk.question(FIRST).get_by_text("Choose a photo or PDF")).to_be_visible()


def test_who_submits_while_a_file_is_on_its_way_is_told_so(desk: Desk) -> None:
    desk.page.route(CHUNKS, _cut_after(1, []))
    choose(desk, LARGE)
    says(desk, "The network is away.")

    desk.page.get_by_role("button", name="Submit…").click()

    dialog = desk.page.get_by_role("dialog")
    expect(dialog).to_contain_text("A file is still being sent: question 2.")
    dialog.get_by_role("button", name="Go on working").click()
    desk.question(FIRST).get_by_role("button", name="Stop sending").click()
    says(desk, "page-1.jpg was cut off on its way.")


def test_a_file_is_chosen_by_keyboard_alone(desk: Desk) -> None:
    desk.page.locator("#question-1").get_by_role("radio").first.focus()
    desk.page.keyboard.press("Tab")
    with desk.page.expect_file_chooser() as chooser:
        # To ask for the chooser is a message of its own, which a key pressed at once may overtake.
        expect(desk.question(FIRST).locator("input:focus")).to_be_attached()
        desk.page.keyboard.press("Enter")

    chooser.value.set_files(photo(pictures.jpeg(), "by-keyboard.jpg"))

    says(desk, "Received: by-keyboard.jpg")


def test_a_phone_offers_its_camera_and_shows_the_photo_within_its_width(
    open_page: OpenPage, student: User, exam: Exam
) -> None:
    desk = sit(open_page, student, exam, viewport=PHONE, has_touch=True, is_mobile=True)
    camera = desk.question(FIRST).locator("input[capture=environment]")
    expect(desk.question(FIRST).get_by_text("Take a photo")).to_be_visible()
    camera.set_input_files(photo(pictures.jpeg(3000, 4000), "a-very-long-name-" * 8 + ".jpg"))
    says(desk, "Received:")
    relay_everything()
    expect(thumbnail(desk)).to_be_visible(timeout=20_000)

    assert _is_within_width(desk.page)


def _cut_after(count: int, seen: list[str]) -> Callable[[Route], Any]:
    """Let so many chunks through, and cut the network from then on; note where each began."""

    def handle(route: Route) -> None:
        offset = route.request.headers.get("upload-offset")
        if offset is not None:
            seen.append(offset)
        if len(seen) > count:
            route.abort("connectionreset")
        else:
            route.continue_()

    return handle


def _is_within_width(page: Page) -> bool:
    return bool(page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"))
