"""A mark of a locked term changes with a reason and two people, and in no other way."""

import re
from decimal import Decimal

import pytest
from django.test import Client
from django.urls import reverse

from gradebook.cells import CellKey
from gradebook.entries import BLANK, Entry
from gradebook.errors import AmendmentNotFound, AmendmentRefused, MarksAreReadOnly, SheetNotFound
from gradebook.models import Amendment, Column, Mark, Period, User
from gradebook.services.amendments import refuse_amendment, sign_amendment, withdraw_amendment
from gradebook.services.proposals import propose_amendment
from outbox.models.log import Event
from tests import factories
from tests.gradebook.locking import column, head, locked
from tests.gradebook.marks import list_facts, list_steps, post, shown
from tests.people import World

__all__ = ["column", "head", "locked"]
pytestmark = pytest.mark.django_db


@pytest.fixture
def colleague(world: World) -> User:
    person = factories.teacher(world.school)
    factories.assignment(person, world.school_class, world.course, world.period)
    return person


def _propose(column: Column, student: User, by: User, entry: Entry = Entry(Decimal(9))) -> Amendment:  # noqa: B008 - a tuple
    key = CellKey(column.pk, student.pk)
    return propose_amendment(sheet=column.sheet, key=key, entry=entry, reason="Miscounted.", by=by)


@pytest.fixture
def proposal(locked: Period, column: Column, student: User, teacher: User) -> Amendment:
    return _propose(column, student, teacher)


def test_proposal_changes_nothing(proposal: Amendment, column: Column, student: User) -> None:
    assert (proposal.old_value, proposal.old_version, proposal.state) == (Decimal(7), 1, "proposed")
    assert shown(column, student) == "7"


def test_signature_changes_the_mark_raises_the_generation_and_says_who(
    proposal: Amendment, column: Column, student: User, teacher: User, head: User
) -> None:
    sign_amendment(amendment_id=proposal.pk, by=head)

    mark = Mark.objects.get()
    assert (mark.value, mark.version, mark.updated_by) == (Decimal(9), 2, teacher)
    assert list_steps(column, student) == [("typed", None, "7"), ("amended", "7", "9")]
    assert list_facts(column, student)[-1]["actor_name"] == f"{teacher.full_name}, signed by {head.full_name}"
    event = Event.objects.get(kind="TermAmended")
    assert (event.subject_version, event.actor_id, event.payload["reason"]) == (3, head.pk, "Miscounted.")
    assert event.batch_id == Event.objects.get(kind="MarkChanged", subject_version=2).batch_id
    period = column.sheet.period
    period.refresh_from_db()
    assert (period.generation, period.is_locked) == (3, True)


def test_first_mark_and_no_mark_can_be_proposed(
    locked: Period, column: Column, student: User, other_student: User, teacher: User, head: User
) -> None:
    sign_amendment(amendment_id=_propose(column, other_student, teacher).pk, by=head)
    sign_amendment(amendment_id=_propose(column, student, teacher, BLANK).pk, by=head)
    assert (shown(column, other_student), shown(column, student)) == ("9", "")


def test_nobody_decides_alone(proposal: Amendment, teacher: User, colleague: User) -> None:
    with pytest.raises(AmendmentRefused, match="second person"):
        sign_amendment(amendment_id=proposal.pk, by=teacher)
    with pytest.raises(AmendmentRefused, match="second person"):
        refuse_amendment(amendment_id=proposal.pk, note="No.", by=teacher)
    assert sign_amendment(amendment_id=proposal.pk, by=colleague).state == "signed"


def test_decision_is_taken_once(proposal: Amendment, head: User, teacher: User) -> None:
    refuse_amendment(amendment_id=proposal.pk, note="It was right.", by=head)
    with pytest.raises(AmendmentRefused, match="refused already"):
        sign_amendment(amendment_id=proposal.pk, by=head)
    with pytest.raises(AmendmentRefused, match="refused already"):
        withdraw_amendment(amendment_id=proposal.pk, by=teacher)


def test_own_proposal_is_taken_back(proposal: Amendment, teacher: User, colleague: User) -> None:
    with pytest.raises(AmendmentRefused, match="Only who proposed"):
        withdraw_amendment(amendment_id=proposal.pk, by=colleague)
    assert withdraw_amendment(amendment_id=proposal.pk, by=teacher).state == "withdrawn"


def test_strangers_do_not_find_it(
    proposal: Amendment, other_teacher: User, student: User, other_school_teacher: User, client: Client
) -> None:
    for stranger in (other_teacher, student, other_school_teacher):
        with pytest.raises(AmendmentNotFound):
            sign_amendment(amendment_id=proposal.pk, by=stranger)
        client.force_login(stranger)
        assert client.get(reverse("gradebook:amendment", args=[proposal.pk])).status_code == 404


def test_senseless_proposals_are_refused(
    locked: Period, column: Column, student: User, teacher: User, head: User, other_teacher: User
) -> None:
    for entry, why in (
        (Entry(Decimal(7)), "shows that already"),
        (Entry(Decimal(21)), "The most this column gives is 20"),
    ):
        with pytest.raises(AmendmentRefused, match=why):
            _propose(column, student, teacher, entry)
    with pytest.raises(AmendmentRefused, match="not in this class"):
        _propose(column, factories.student(column.sheet.school), teacher)
    with pytest.raises(AmendmentRefused, match="not in this mark sheet"):
        propose_amendment(
            sheet=column.sheet,
            key=CellKey(factories.column().pk, student.pk),
            entry=Entry(Decimal(1)),
            reason="Miscounted.",
            by=teacher,
        )
    with pytest.raises(MarksAreReadOnly):
        _propose(column, student, head)
    with pytest.raises(SheetNotFound):
        _propose(column, student, other_teacher)
    _propose(column, student, teacher)
    with pytest.raises(AmendmentRefused, match="already waits"):
        _propose(column, student, teacher, Entry(Decimal(8)))


def test_open_term_has_no_amendments(column: Column, student: User, teacher: User) -> None:
    with pytest.raises(AmendmentRefused, match="not locked"):
        _propose(column, student, teacher)


def test_cell_that_moved_on_is_not_overwritten(
    proposal: Amendment, column: Column, student: User, head: User
) -> None:
    post(column, student, "8")
    late = Amendment.objects.get(source="automatic")
    sign_amendment(amendment_id=late.pk, by=head)  # a teacher's own mark: the result is kept beside it
    with pytest.raises(AmendmentRefused, match="changed since"):
        sign_amendment(amendment_id=proposal.pk, by=head)
    assert (shown(column, student), Mark.objects.get().automatic_value) == ("7", Decimal(8))


def test_late_result_is_signed_by_one_person_and_not_proposed_again(
    locked: Period, column: Column, other_student: User, head: User
) -> None:
    post(column, other_student, "8")
    late = Amendment.objects.get()
    sign_amendment(amendment_id=late.pk, by=head)
    assert shown(column, other_student) == "8"
    assert post(column, other_student, "8").unchanged == [(column.pk, other_student.pk)]


def test_refused_result_is_not_proposed_again(
    locked: Period, column: Column, other_student: User, head: User
) -> None:
    post(column, other_student, "8")
    refuse_amendment(amendment_id=Amendment.objects.get().pk, note="Not in this term.", by=head)
    assert post(column, other_student, "8").unchanged == [(column.pk, other_student.pk)]
    assert post(column, other_student, "9", minute=5).proposed == [(column.pk, other_student.pk)]


def test_journey_through_the_pages(
    client: Client, locked: Period, column: Column, student: User, teacher: User, head: User
) -> None:
    client.force_login(teacher)
    url = reverse("gradebook:amendments", args=[column.sheet_id])
    form = {"student": str(student.pk), "column": str(column.pk), "entry": "25", "reason": "Miscounted."}
    assert "The most this column gives is 20." in client.post(url, form).content.decode()
    proposed = client.post(url, form | {"entry": "9"})
    assert proposed.status_code == 302
    own = client.get(proposed["Location"]).content.decode()
    assert ("Take it back" in own, "Sign: change the mark" in own) == (True, False)
    refused = client.post(proposed["Location"], {"do": "sign"})
    assert (refused.status_code, "A second person decides" in refused.content.decode()) == (409, True)
    client.force_login(head)
    page = client.get(proposed["Location"]).content.decode()
    assert f"the report card of <bdi>{student.full_name}</bdi>" in page
    assert client.post(proposed["Location"], {"do": "sign"}).status_code == 302
    assert shown(column, student) == "9"


def test_marks_of_an_amendment_are_shown_as_they_were_typed(
    client: Client, locked: Period, column: Column, student: User, teacher: User, head: User
) -> None:
    amendment = _propose(column, student, teacher, Entry(Decimal("3.25")))
    client.force_login(head)
    urls = [
        reverse("gradebook:amendment", args=[amendment.pk]),
        reverse("gradebook:amendments", args=[column.sheet_id]),
        reverse("gradebook:term", args=[locked.pk]),
    ]
    for url in urls:
        page = client.get(url, headers={"accept-language": "de"}).content.decode()
        assert re.search(r">\s*7\s*→ (<b>)?3,25\b", page), url
