"""Report cards: issued from a locked term, replaced only where they do not hold, verified without revealing a mark."""

import datetime as dt
import io
import zipfile
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from django.core.management import CommandError, call_command
from django.db import IntegrityError, transaction
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pypdf import PdfReader

from gradebook.cards.codes import make_code, read_code, show_code
from gradebook.cards.content import find_checksum
from gradebook.cards.pdf import Printer
from gradebook.cells import CellKey
from gradebook.entries import Entry
from gradebook.errors import CardsRefused, TermNotFound
from gradebook.models import Column, Enrolment, Period, ReportCard, User
from gradebook.services.amendments import reopen_term, sign_amendment
from gradebook.services.cards import (
    describe_card,
    find_changes,
    find_standings,
    issue_cards,
    release_cards,
)
from gradebook.services.proposals import propose_amendment
from gradebook.services.terms import lock_term
from outbox.log.sequencer import sequence_events
from outbox.models.log import Event
from tests import factories
from tests.gradebook.marks import save
from tests.people import World

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def column(world: World, student: User, other_student: User, teacher: User) -> Column:
    column = factories.column(world.sheet, title="Essay", max_points=20)
    save(column, student, "17", by=teacher)
    save(column, other_student, "9", by=teacher)
    return column


@pytest.fixture
def head(world: World) -> User:
    return factories.admin(school=world.school)


@pytest.fixture
def locked(world: World, head: User, column: Column) -> Period:
    term = lock_term(period_id=world.period.pk, by=head)
    sequence_events()
    return term


@pytest.fixture
def card(locked: Period, world: World, head: User, student: User) -> ReportCard:
    """The student's card; the other student has one too."""
    issue_cards(period_id=locked.pk, school_class=world.school_class, by=head)
    return ReportCard.objects.get(student=student)


def _amend(column: Column, student: User, value: int, teacher: User, head: User) -> None:
    proposal = propose_amendment(
        sheet=column.sheet,
        key=CellKey(column.pk, student.pk),
        entry=Entry(Decimal(value)),
        reason="Miscounted.",
        by=teacher,
    )
    sign_amendment(amendment_id=proposal.pk, by=head)
    sequence_events()


def test_card_says_what_the_marks_make(card: ReportCard, world: World, student: User) -> None:
    [course] = card.content["courses"]
    assert (course["course"], course["state"], course["total"]) == (world.course.title, "result", "85.00")
    assert course["marks"] == [{"title": "Essay", "mark": "17", "out_of": "20", "part": "counted"}]
    assert card.content["student"] == student.full_name
    assert (card.checksum, card.token) == (find_checksum(card.content), f"{world.period.pk}/2")
    assert card.pos == Event.objects.exclude(kind="ReportCardIssued").count()
    fact = Event.objects.get(kind="ReportCardIssued", payload__student_id=str(student.pk)).payload
    assert (fact["checksum"], fact["number"]) == (card.checksum, 1)
    assert "85" not in str(
        {name: value for name, value in fact.items() if name not in {"checksum", "token"}}.get("total")
    )


def test_issuing_again_keeps_every_card(card: ReportCard, world: World, head: User) -> None:
    again = issue_cards(period_id=world.period.pk, school_class=world.school_class, by=head)
    assert (len(again.issued), len(again.replaced), len(again.kept)) == (0, 0, 2)


def test_amendment_makes_one_card_stale_says_why_and_replaces_that_one_only(
    card: ReportCard, column: Column, world: World, student: User, teacher: User, head: User
) -> None:
    _amend(column, student, 18, teacher, head)

    lines = [
        {"what": f"{world.course.title}: total", "was": "85.00 %", "is": "90.00 %"},
        {"what": f"{world.course.title}: Essay", "was": "17 of 20", "is": "18 of 20"},
    ]
    assert find_changes(card) == lines
    world.period.refresh_from_db()
    standings = find_standings(world.period, world.school_class)
    assert [(bool(each.difference), each.same_state) for each in standings] == [(True, False), (False, False)]

    issue = issue_cards(period_id=world.period.pk, school_class=world.school_class, by=head)
    assert ([each.number for each in issue.replaced], len(issue.kept)) == ([2], 1)
    assert issue.replaced[0].difference == lines
    card.refresh_from_db()
    assert card.replaced_at is not None


def test_page_of_a_replaced_card_leads_to_the_one_that_counts(
    card: ReportCard, client: Client, column: Column, world: World, student: User, teacher: User, head: User
) -> None:
    _amend(column, student, 18, teacher, head)
    [newer] = issue_cards(period_id=world.period.pk, school_class=world.school_class, by=head).replaced
    client.force_login(head)
    link = f'<a href="{reverse("gradebook:card", args=[newer.pk])}">The one that counts</a>'
    pages = [client.get(reverse("gradebook:card", args=[each.pk])).content.decode() for each in (card, newer)]
    assert [link in page for page in pages] == [True, False]
    assert ["Out of date" in page for page in pages] == [False, False]
    assert ["Letter" in page for page in pages] == [False, False]  # this school gives none


def test_card_of_who_moved_in_mid_term_comes_from_the_class_they_came_to(
    world: World, column: Column, head: User, student: User, other_student: User
) -> None:
    """Both classes have them on their sheets; the earlier card, made before anybody had noted the move, is replaced."""
    lock_term(period_id=world.period.pk, by=head)
    sequence_events()
    issue_cards(period_id=world.period.pk, school_class=world.school_class, by=head)
    new_class = factories.school_class(world.school, name="9Z")
    factories.sheet(new_class, world.course, world.period)
    moved_on = world.period.starts_on + dt.timedelta(days=30)
    Enrolment.objects.filter(student=student).update(ends_on=moved_on - dt.timedelta(days=1))
    factories.enrolment(student, new_class, starts_on=moved_on)

    first = ReportCard.objects.get(student=student)
    assert find_changes(first)[0]["is"] == "not in this class any more"
    (standing,) = find_standings(world.period, new_class)
    assert (standing.card, standing.difference[0]["is"]) == (first, "9Z")
    for school_class, counts in (
        (new_class, (0, 1, 0)),
        (world.school_class, (0, 0, 1)),
        (new_class, (0, 0, 1)),
    ):
        issue = issue_cards(period_id=world.period.pk, school_class=school_class, by=head)
        assert (len(issue.issued), len(issue.replaced), len(issue.kept)) == counts
    cards = ReportCard.objects.filter(student=student).order_by("number")
    assert [(card.school_class, card.number, card.replaced_at is None) for card in cards] == [
        (world.school_class, 1, False),
        (new_class, 2, True),
    ]
    assert [each.student_id for each in find_standings(world.period, world.school_class)] == [
        other_student.pk
    ]
    assert find_changes(cards[1]) == []


def test_student_learns_that_a_released_card_is_out_of_date_and_not_what_the_new_mark_is(
    card: ReportCard, client: Client, column: Column, world: World, student: User, teacher: User, head: User
) -> None:
    release_cards(period=world.period, school_class=world.school_class, release_at=timezone.now(), by=head)
    client.force_login(student)
    url = reverse("gradebook:card", args=[card.pk])
    said = "Something on this card has changed since it was issued."
    before = client.get(url).content.decode()
    _amend(column, student, 18, teacher, head)
    after = client.get(url).content.decode()
    assert (said in before, said in after, "90.00" in after) == (False, True, False)


def test_cards_are_refused_from_an_open_term_and_by_strangers(
    world: World, column: Column, head: User, teacher: User
) -> None:
    with pytest.raises(CardsRefused, match="locked term"):
        issue_cards(period_id=world.period.pk, school_class=world.school_class, by=head)
    for stranger in (teacher, factories.admin(school=world.other_school)):
        with pytest.raises(TermNotFound):
            issue_cards(period_id=world.period.pk, school_class=world.school_class, by=stranger)


def test_cards_wait_for_the_log_to_have_numbered_the_marks(world: World, column: Column, head: User) -> None:
    lock_term(period_id=world.period.pk, by=head)
    with pytest.raises(CardsRefused, match="not caught up"):
        issue_cards(period_id=world.period.pk, school_class=world.school_class, by=head)


def test_token_of_an_older_format_is_a_string_that_does_not_match(
    card: ReportCard, world: World, client: Client, head: User
) -> None:
    ReportCard.objects.filter(pk=card.pk).update(replaced_at=timezone.now())
    card.pk, card.number, card.code, card.token = uuid4(), 2, make_code(), "LOCK#77:v1"
    card.save(force_insert=True)
    [mine, _] = find_standings(world.period, world.school_class)
    assert (mine.same_state, mine.difference) == (False, [])
    client.force_login(head)
    assert "LOCK#77:v1" in client.get(reverse("gradebook:card", args=[card.pk])).content.decode()


class TestRelease:
    """Held, released, at a time."""

    def test_student_sees_a_card_only_once_it_is_released(
        self, card: ReportCard, client: Client, world: World, student: User, other_student: User, head: User
    ) -> None:
        url = reverse("gradebook:card", args=[card.pk])
        client.force_login(student)
        tomorrow = timezone.now() + dt.timedelta(days=1)
        for release_at in (None, tomorrow):
            release_cards(
                period=world.period, school_class=world.school_class, release_at=release_at, by=head
            )
            assert client.get(url).status_code == 404
            assert "Nothing yet" in client.get(reverse("gradebook:my_cards")).content.decode()
        release_cards(
            period=world.period, school_class=world.school_class, release_at=timezone.now(), by=head
        )
        assert "85.00" in client.get(url).content.decode()
        client.force_login(other_student)
        assert client.get(url).status_code == 404


class TestVerify:
    """Anybody may ask; nobody learns a mark."""

    def _ask(self, client: Client, code: str) -> tuple[int, str]:
        answer = client.get(reverse("gradebook:verify"), {"code": code})
        return answer.status_code, answer.content.decode()

    def test_code_tells_what_has_become_of_the_card(
        self,
        card: ReportCard,
        client: Client,
        column: Column,
        world: World,
        student: User,
        teacher: User,
        head: User,
    ) -> None:
        code = show_code(card.code).lower().replace("-", " ")
        status, page = self._ask(client, code)
        assert (status, "It holds as it was printed" in page, card.checksum in page) == (200, True, True)
        assert ("85.00" in page, student.last_name in page, "Essay" in page) == (
            False,
            False,
            False,
        )
        _amend(column, student, 18, teacher, head)
        assert "out of date" in self._ask(client, code)[1]
        issue_cards(period_id=world.period.pk, school_class=world.school_class, by=head)
        assert "replaced by a newer one" in self._ask(client, code)[1]

    @pytest.mark.parametrize("code", ["x", "0" * 26, "é\u202e", "a" * 500, "%00"])
    def test_wrong_code_is_told_so(self, client: Client, code: str) -> None:
        status, page = self._ask(client, code)
        assert (status, "There is no card with this code" in page) == (404, True)

    def test_codes_survive_how_people_type_them(self) -> None:
        code = make_code()
        assert len(code) == 26
        assert not set(code) & set("ILOU")
        assert read_code(f" {show_code(code).lower()} ") == code
        assert read_code("oIl") == "011"


class TestPrinting:
    """PDF, by typst."""

    def test_names_are_data_and_never_markup(
        self, client: Client, world: World, column: Column, teacher: User, head: User
    ) -> None:
        strange = factories.student(
            world.school, first_name="#strong[x] *", last_name='Ø "\\\n $a$ العربية'.replace("\n", "")
        )
        factories.enrolment(strange, world.school_class)
        lock_term(period_id=world.period.pk, by=head)
        sequence_events()
        issue_cards(period_id=world.period.pk, school_class=world.school_class, by=head)
        client.force_login(head)
        url = reverse("gradebook:card_archive", args=[world.period.pk, world.school_class.pk])
        with zipfile.ZipFile(io.BytesIO(client.get(url).content)) as packed:
            texts = [_read(packed.read(name)) for name in packed.namelist()]
        assert len(texts) == 3
        [found] = [text for text in texts if "#strong[x]" in text]
        assert "no result" in found

    def test_longest_names_and_those_of_other_scripts_make_files_that_can_be_unpacked_and_read(
        self, world: World, column: Column, head: User, teacher: User, client: Client, tmp_path: Path
    ) -> None:
        for first, last in (("A" * 150, "B" * 150), ("李" * 150, "小" * 150), ("محمد", "علي")):
            factories.enrolment(
                factories.student(world.school, first_name=first, last_name=last), world.school_class
            )
        Column.objects.filter(pk=column.pk).update(title="عنوان")
        lock_term(period_id=world.period.pk, by=head)
        sequence_events()
        call_command("issue_cards", str(world.period.pk), by=head.username, pdf=tmp_path)
        client.force_login(head)
        url = reverse("gradebook:card_archive", args=[world.period.pk, world.school_class.pk])
        with zipfile.ZipFile(io.BytesIO(client.get(url).content)) as packed:
            packed.extractall(tmp_path / "unpacked")
        for folder in ("unpacked", "[!u]*"):
            names = [file.name for file in tmp_path.glob(f"{folder}/*.pdf")]
            assert (len(names), sum("محمد-علي" in name for name in names)) == (5, 1)

    def test_long_words_break_and_a_title_from_right_to_left_does_not_turn_the_marks_round(
        self, card: ReportCard
    ) -> None:
        course = card.content["courses"][0]
        course["marks"][0]["title"] = "عنوان"
        card.content |= {"student": "A" * 150, "school_class": "B" * 150}
        text = _read(Printer("report_card").print(describe_card(card)))
        assert max(map(len, text.splitlines())) < 100
        assert (
            "عنوان 17 / 20" in text
        )  # without the box round the title, the numbers stand before it, and the wrong way round
        assert not {"\u200b", "\u2068", "\u2069"} & set(text)

    def test_card_and_class_list(self, card: ReportCard, client: Client, world: World, head: User) -> None:
        client.force_login(head)
        printed = client.get(reverse("gradebook:card_pdf", args=[card.pk]))
        assert printed["Content-Type"] == "application/pdf"
        text = _read(printed.content)
        assert "85.00 %" in text
        assert show_code(card.code) in text
        pdf = client.get(reverse("gradebook:class_list_pdf", args=[world.period.pk, world.school_class.pk]))
        page = client.get(reverse("gradebook:class_list", args=[world.period.pk, world.school_class.pk]))
        assert [row["totals"] for row in page.context["rows"]] == [["85.00"], ["45.00"]]
        texts = _read(pdf.content), page.content.decode()
        for said in ("85.00", page.context["checksum"], f"log position {page.context['position']}"):
            assert [said in each for each in texts] == [True, True]

    def test_class_list_of_an_open_term_says_that_it_may_change_and_names_no_place(
        self, client: Client, world: World, column: Column, head: User, teacher: User
    ) -> None:
        urls = [
            reverse(f"gradebook:{name}", args=[world.period.pk, world.school_class.pk])
            for name in ("class_list", "class_list_pdf")
        ]
        client.force_login(head)
        page, pdf = (client.get(url) for url in urls)
        assert (page.context["position"], "may still change" in page.content.decode()) == ("", True)
        assert "may still change" in _read(pdf.content)
        client.force_login(teacher)
        assert [client.get(url).status_code for url in urls] == [404, 404]

    def test_command_issues_and_prints_a_term(
        self, locked: Period, head: User, tmp_path: Path, capsys: Any
    ) -> None:
        call_command("issue_cards", str(locked.pk), by=head.username, pdf=tmp_path)
        assert capsys.readouterr().out == "2 issued, 0 replaced, 0 still hold.\n"
        assert len(list(tmp_path.rglob("*.pdf"))) == 2
        there = rf"There is no term 'Autumn' at 'Hill'. There are: {locked.name} \(Hill School\)."
        with pytest.raises(CommandError, match=there):
            call_command("issue_cards", "Autumn", school="Hill", by=head.username)
        (tmp_path / "file").touch()
        with pytest.raises(
            CommandError, match=r"its cards are issued, but cannot be written to .*: Not a directory\."
        ):
            call_command("issue_cards", str(locked.pk), by=head.username, pdf=tmp_path / "file")
        with pytest.raises(CommandError, match="nobody called"):
            call_command("issue_cards", str(locked.pk), by="nobody")

    def test_command_recalculates_a_term(self, locked: Period, capsys: Any) -> None:
        call_command("recalculate_totals", locked.name)
        assert capsys.readouterr().out.startswith("2 totals looked at, 2 written: 2 for the first time")


def test_administrator_issues_and_releases_through_the_pages(
    client: Client, locked: Period, world: World, head: User, teacher: User
) -> None:
    url = reverse("gradebook:class_cards", args=[locked.pk, world.school_class.pk])
    client.force_login(teacher)
    assert client.get(url).status_code == 404
    client.force_login(head)
    assert "none yet" in client.get(url).content.decode()
    reopen_term(period_id=locked.pk, reason="A class was marked wrongly.", by=head)
    assert client.post(url, {"do": "issue"}).status_code == 409
    page = client.get(url).content.decode()
    assert ("Issue cards" in page, "Cards are issued once it is" in page) == (False, True)
    lock_term(period_id=locked.pk, by=head)
    sequence_events()
    assert client.post(url, {"do": "issue"}).status_code == 302
    assert "holds" in client.get(url).content.decode()
    for typed in (
        "2020-02-30T10:00",
        "9999-12-31T23:59",
        "0001-01-01T00:00",
    ):  # the last two could never be read again
        refused = client.post(url, {"do": "release", "at": typed})
        assert (refused.status_code, f'value="{typed}"' in refused.content.decode()) == (409, True)
    later = client.post(url, {"do": "release", "at": "2099-01-01T10:00"}, follow=True).content.decode()
    assert "Students see their cards from Thu 1 Jan 2099, 10:00 UTC+02:00 on." in later
    assert "Students see them from" in later
    assert "Released." in client.post(url, {"do": "release"}, follow=True).content.decode()
    assert (
        world.school_class.name
        in client.get(reverse("gradebook:term_cards", args=[locked.pk])).content.decode()
    )


def _read(pdf: bytes) -> str:
    return "\n".join(page.extract_text() for page in PdfReader(io.BytesIO(pdf)).pages)


def test_issued_card_never_changes_or_goes_and_is_replaced_once(card: ReportCard) -> None:
    """Whichever door somebody comes through: the paper is in a family's drawer, and its checksum is in the log."""
    rows, now = ReportCard.objects.filter(pk=card.pk), timezone.now()

    def refuse(change: Callable[[], object]) -> None:
        with pytest.raises(IntegrityError, match="issued and never changes"), transaction.atomic():
            change()

    refuse(lambda: rows.update(content={}))
    refuse(lambda: rows.update(replaced_at=now, content={}))
    refuse(rows.delete)
    assert rows.update(replaced_at=now) == 1
    refuse(lambda: rows.update(replaced_at=None))
    assert rows.get().content == card.content
