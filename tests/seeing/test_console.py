"""The console: who may see it, what it shows in every state, and that its deeds are done once, by somebody who is written down."""

import re
from uuid import UUID, uuid4

import pytest
from django.contrib.admin.models import LogEntry
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from config.console.overview import forget_overview, read_overview
from config.health import overall
from config.metrics.figures import figures
from exams.models import Attempt, Exam
from gradebook.models import User
from outbox.consumers.cursors import register_consumer
from outbox.consumers.registry import get_consumer
from outbox.log.sequencer import start_epoch
from outbox.models import (
    Consumer,
    DeadLetter,
    EffectReceipt,
    Event,
    EventPosition,
    Job,
    ParkedEvent,
    ParkedSubject,
)
from outbox.processes import Heart
from tests import factories
from tests.exams.grading_room import grade_everything, post_everything
from tests.outbox.queue.burying import bury
from tests.people import World
from tests.sitting import hand_in

pytestmark = pytest.mark.django_db(transaction=True)

NAME = "gradebook_marks"
PEOPLE = ("student", "teacher", "other_teacher", "school_admin", "plain_staff", "admin", "nobody")


@pytest.fixture(autouse=True)
def fresh() -> None:
    forget_overview()


@pytest.fixture
def operator(client: Client, admin: User) -> User:
    """The administrator of everything, signed in."""
    client.force_login(admin)
    return admin


@pytest.fixture
def school_admin(world: World) -> User:
    """A superuser of one school: an administrator of that school only."""
    return factories.admin(username="school_admin", school=world.other_school)


@pytest.fixture
def plain_staff(world: World) -> User:
    """Staff without a school, but no superuser."""
    return factories.admin(username="plain_staff", is_superuser=False)


def fail_effect() -> EffectReceipt:
    return EffectReceipt.objects.create(
        event_id=uuid4(), effect="mail_receipt", target="x", pos=1, state="failed", tries=9,
        ended_at="2026-01-01T00:00Z", error="550 no such mailbox",
    )  # fmt: skip


def refuse_effect() -> EffectReceipt:
    return EffectReceipt.objects.create(
        event_id=uuid4(), effect="render_attachment", pos=1, state="refused", tries=1,
        ended_at="2026-01-01T00:00Z", error="This photo is damaged and cannot be shown. (SyntaxError: broken)",
    )  # fmt: skip


def park(subject: str = "attempt:1") -> ParkedSubject:
    register_consumer(get_consumer(NAME))
    return ParkedSubject.objects.create(consumer_id=NAME, subject=subject, error="KeyError: 'q7'", tries=3)


def list_addresses() -> dict[str, str]:
    """Every address of the console, leading to something that is there."""
    (letter,) = bury()
    exam = factories.exam()
    return {
        "overview": "/console/",
        "live": "/console/live/",
        "exam": f"/console/exams/{exam.pk}/",
        "dead_letters": "/console/dead-letters/",
        "dead_letter": f"/console/dead-letters/{letter.pk}/",
        "effect": f"/console/effects/{fail_effect().pk}/",
        "consumer": f"/console/consumers/{NAME}/",
    }


def test_every_address_of_the_console_is_in_the_matrix() -> None:
    from config.console.urls import urlpatterns  # noqa: PLC0415

    assert {pattern.name for pattern in urlpatterns} == set(list_addresses())


@pytest.mark.parametrize("who", PEOPLE)
def test_console_is_for_operators_only(client: Client, who: str, request: pytest.FixtureRequest) -> None:
    person = request.getfixturevalue(who)
    if person is not None:
        client.force_login(person)
    expected = {"admin": 200, "nobody": 302}.get(who, 404)
    for name, address in list_addresses().items():
        assert (name, client.get(address).status_code) == (name, expected)


@pytest.mark.parametrize("who", [who for who in PEOPLE if who != "admin"])
def test_deeds_are_for_operators_only(client: Client, who: str, request: pytest.FixtureRequest) -> None:
    person = request.getfixturevalue(who)
    if person is not None:
        client.force_login(person)
    addresses, parked = list_addresses(), park()
    expected = 302 if who == "nobody" else 404
    letter = str(DeadLetter.objects.get().pk)
    for name in ("dead_letters", "dead_letter", "effect", "consumer"):
        body = {"deed": "pause", "subject": parked.subject, "letter": letter}
        answer = client.post(addresses[name], body)
        assert (name, answer.status_code) == (name, expected)
        assert not answer.headers.get("Location", "").startswith("/console/")
    assert (Job.objects.count(), LogEntry.objects.count()) == (0, 0)
    assert Consumer.objects.get(pk=NAME).state == "running"
    assert EffectReceipt.objects.get().state == "failed"


def test_deed_needs_a_token_against_forgery(admin: User) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(admin)
    (letter,) = bury()
    assert client.post(f"/console/dead-letters/{letter.pk}/").status_code == 403
    assert Job.objects.count() == 0


def test_nobody_is_asked_to_sign_in_and_comes_back(client: Client) -> None:
    assert client.get("/console/").headers["Location"] == "/accounts/login/?next=/console/"


def test_console_says_that_all_is_well(client: Client, operator: User) -> None:
    for role in overall.list_expected_roles():
        Heart(role).beat()
    page = client.get("/console/").content.decode()
    assert '<h2 id="alarms">All is well</h2>' in page
    assert re.findall(r"<p class=\"soft\">(.*?)</p>", page) == [
        "No exam is being sat, and none has ended within the last hour.",
        "No job was given up.",
        "Every effect has happened or is on its way.",
        "Nothing yet. Whatever somebody replays, pauses or releases is listed here, with who did it.",
    ]


def test_console_names_what_is_wrong(client: Client, operator: User) -> None:
    bury(2)
    park()
    fail_effect()
    page = client.get("/console/").content.decode()
    alarms = re.findall(r"<li>(.*?)</li>", page[page.index('id="alarms"') : page.index('id="path"')])
    assert alarms == [
        f"No sign of life for 15 seconds: {', '.join(overall.list_expected_roles())}.",
        "2 jobs were given up and wait for a person.",
        "gradebook_marks has set aside subjects whose event fails: 1.",
        "Effects that failed for good: 1.",
    ]
    assert "⚠ Workers" in page
    assert "Workers (away): silent" in page


def test_strangers_bad_file_is_told_apart_and_rings_no_alarm(client: Client, operator: User) -> None:
    for role in overall.list_expected_roles():
        Heart(role).beat()
    receipt = refuse_effect()
    page = client.get("/console/").content.decode()
    assert '<h2 id="alarms">All is well</h2>' in page
    assert "badge--bad" not in page
    part = page[page.index('id="refused"') : page.index('id="deeds"')]
    assert f'href="/console/effects/{receipt.pk}/"' in part
    assert "This photo is damaged and cannot be shown. (SyntaxError: broken)" in part


def test_refused_effect_is_tried_again_when_an_operator_says_so(client: Client, operator: User) -> None:
    receipt = refuse_effect()
    address = f"/console/effects/{receipt.pk}/"
    assert "Nothing is broken here" in client.get(address).content.decode()
    assert press(client, address) == "It will be tried again."
    receipt.refresh_from_db()
    assert (receipt.state, receipt.tries) == ("pending", 0)
    assert list_written_down() == [("admin", "Console: let a refused effect be tried again")]


def test_console_shows_exams_in_progress(
    client: Client, operator: User, attempt: Attempt, other_student: User
) -> None:
    Exam.objects.update(title="<b>Maths & more</b>")
    factories.attempt(attempt.revision, other_student)
    hand_in(attempt)
    page = client.get("/console/live/").content.decode()
    row = page[page.index("<tbody>") : page.index("</tbody>")]
    assert re.findall(r'<td class="number">(\d+)', row) == ["1", "1", "1", "0", "0", "0"]
    assert "<bdi>&lt;b&gt;Maths &amp; more&lt;/b&gt;</bdi>" in row


@pytest.mark.parametrize(
    ("state", "numbers"),
    [("graded", ["0", "1", "1", "1", "0", "0"]), ("needs_marking", ["0", "1", "1", "0", "1", "0"])],
)
def test_what_was_handed_in_stays_handed_in_once_it_is_graded(
    client: Client, operator: User, attempt: Attempt, state: str, numbers: list[str]
) -> None:
    hand_in(attempt)
    Attempt.objects.update(state=state)
    page = client.get("/console/live/").content.decode()
    row = page[page.index("<tbody>") : page.index("</tbody>")]
    assert re.findall(r'<td class="number">(\d+)', row) == numbers


def test_fragment_is_the_middle_of_the_page(client: Client, operator: User) -> None:
    page, fragment = (client.get(f"/console/{part}").content.decode() for part in ("", "live/"))
    assert "<html" not in fragment
    assert fragment in page


def count_queries(client: Client, address: str) -> tuple[int, int]:
    """Return how many it takes to read the overview, and how many the page makes when that is there."""
    figures.forget()
    figures.get()
    with CaptureQueriesContext(connection) as reading:
        read_overview()
        queries = len(reading)  # now: the next request begins the list anew
    forget_overview()
    assert client.get(address).status_code == 200
    with CaptureQueriesContext(connection) as showing:
        assert client.get(address).status_code == 200
    return queries, len(showing)


def fill(count: int) -> None:
    DeadLetter.objects.all().delete()
    bury(count)
    for _ in range(count):
        fail_effect()
        park(f"attempt:{uuid4()}")
        factories.attempt()


@pytest.mark.parametrize(
    "address", ["/console/", "/console/live/", f"/console/consumers/{NAME}/", "/console/dead-letters/"]
)
def test_console_costs_as_many_queries_for_three_as_for_one(
    client: Client, operator: User, address: str
) -> None:
    fill(1)
    client.get(address)
    once = count_queries(client, address)
    fill(3)
    assert count_queries(client, address) == once
    assert max(once) <= 10


def test_console_asks_the_database_once_however_many_look(client: Client, operator: User) -> None:
    client.get("/console/live/")
    with CaptureQueriesContext(connection) as captured:
        client.get("/console/live/")
    assert [query["sql"].partition(" FROM ")[2].split()[0] for query in captured] == [
        '"django_session"',
        '"gradebook_user"',
    ]


def press(client: Client, address: str, **body: str) -> str:
    """Post a deed; return what the next page says of it."""
    answer = client.post(address, body, follow=True)
    assert answer.redirect_chain == [("/console/", 302)]
    (message,) = answer.context["messages"]
    return str(message)


def list_written_down() -> list[tuple[str, str]]:
    return list(LogEntry.objects.order_by("pk").values_list("user__username", "change_message"))


def test_dead_letter_is_replayed_once_and_by_whom_is_kept(client: Client, operator: User) -> None:
    (letter,) = bury()
    address = f"/console/dead-letters/{letter.pk}/"
    assert "no key for question 7" in client.get(address).content.decode()
    assert press(client, address) == "It is queued again."
    assert press(client, address) == "It was replayed before; nothing was done."
    letter.refresh_from_db()
    assert (letter.replayed_by, Job.objects.count()) == (operator.pk, 1)
    assert list_written_down()[0] == ("admin", "Console: replayed a dead letter (queued)")
    assert "It was replayed on" in client.get(address).content.decode()


def test_all_dead_letters_that_were_seen_are_replayed_and_no_other(client: Client, operator: User) -> None:
    bury(2)
    page = client.get("/console/dead-letters/").content.decode()
    seen = re.findall(r'name="letter" value="(.*?)"', page)
    assert len(seen) == 2
    late = DeadLetter.objects.create(
        tenant_id=uuid4(),
        group_id=uuid4(),
        job_id=uuid4(),
        kind="grade",
        subject_id=uuid4(),
        cause="defect",
        tries=1,
    )
    answer = client.post("/console/dead-letters/", {"letter": [*seen, str(UUID(int=9))]}, follow=True)
    assert [str(message) for message in answer.context["messages"]] == ["2 of 2 are queued again."]
    assert list(DeadLetter.objects.filter(replayed_at=None)) == [late]


def test_failed_effect_is_tried_again_once(client: Client, operator: User) -> None:
    receipt = fail_effect()
    address = f"/console/effects/{receipt.pk}/"
    assert "550 no such mailbox" in client.get(address).content.decode()
    assert press(client, address) == "It will be tried again."
    assert press(client, address) == "It is being tried again already, or has happened; nothing was done."
    receipt.refresh_from_db()
    assert (receipt.state, receipt.tries) == ("pending", 0)
    assert list_written_down() == [("admin", "Console: let a failed effect be tried again")]


def test_consumer_is_paused_and_goes_on(client: Client, operator: User) -> None:
    register_consumer(get_consumer(NAME))
    address = f"/console/consumers/{NAME}/"
    assert press(client, address, deed="pause") == "gradebook_marks is paused."
    assert Consumer.objects.get(pk=NAME).state == "paused"
    assert 'value="resume"' in client.get(address).content.decode()
    assert (
        "gradebook_marks is paused, and nothing waits for it yet." in client.get("/console/").content.decode()
    )
    assert press(client, address, deed="resume") == "gradebook_marks goes on."
    assert Consumer.objects.get(pk=NAME).state == "running"
    assert list_written_down() == [
        ("admin", "Console: paused the consumer"),
        ("admin", "Console: let the consumer go on"),
    ]


def test_consumer_of_another_epoch_is_named_and_goes_on_once_somebody_has_looked(
    client: Client, operator: User
) -> None:
    register_consumer(get_consumer(NAME))
    start_epoch(using="default")
    address = f"/console/consumers/{NAME}/"
    assert f"{NAME} does not run: the log was restored or moved" in client.get("/console/").content.decode()
    assert 'value="adopt"' in client.get(address).content.decode()
    assert press(client, address, deed="adopt") == "gradebook_marks goes on at 1.0.0."
    assert f"{NAME} does not run" not in client.get("/console/").content.decode()
    assert 'value="pause"' in client.get(address).content.decode()
    assert list_written_down() == [
        ("admin", "Console: let the consumer go on in the log's new epoch (1.0.0)")
    ]


def test_parked_subject_is_released(client: Client, operator: User, attempt: Attempt) -> None:
    hand_in(attempt)
    grade_everything()
    post_everything()
    parked = park(f"attempt:{attempt.pk}")
    graded = Event.objects.get(kind="SubmissionGraded")
    ParkedEvent.objects.create(parked_subject=parked, pos=EventPosition.objects.get(seq=graded.seq).pos)
    address = f"/console/consumers/{NAME}/"
    assert "KeyError: &#x27;q7&#x27;" in client.get(address).content.decode()
    words = press(client, address, deed="release", subject=parked.subject)
    assert words == f"1 events were replayed; {parked.subject} is free."
    assert ParkedSubject.objects.count() == 0
    assert (
        press(client, address, deed="release", subject=parked.subject)
        == "It is no longer set aside; nothing was done."
    )


@pytest.mark.parametrize("body", [{}, {"deed": "rebuild"}])
def test_deed_that_does_not_exist_is_not_found(client: Client, operator: User, body: dict[str, str]) -> None:
    register_consumer(get_consumer(NAME))
    assert client.post(f"/console/consumers/{NAME}/", body).status_code == 404


def test_what_does_not_exist_is_not_found(client: Client, operator: User) -> None:
    for part in (f"exams/{uuid4()}", f"dead-letters/{uuid4()}", "effects/1", "consumers/nobody"):
        assert (part, client.get(f"/console/{part}/").status_code) == (part, 404)


def test_exam_page_names_the_differences(client: Client, operator: User, attempt: Attempt) -> None:
    hand_in(attempt)
    address = f"/console/exams/{attempt.exam_id}/"
    page = client.get(address).content.decode()
    assert "Not everything has arrived yet" in page
    assert 'Submissions that wait for a worker: 1 <span class="badge badge--warn">on its way</span>' in page
    Job.objects.all().delete()
    page = client.get(address).content.decode()
    assert "Something is missing" in page
    assert (
        'Submissions with neither a result nor a job: 1 <span class="badge badge--bad">fault</span>' in page
    )
