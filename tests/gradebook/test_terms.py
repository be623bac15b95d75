"""Terms are locked and opened, pages of an older generation refused; the doors that a lock closes are in `test_every_door.py`."""

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from gradebook.errors import NoReasonGiven, TermIsOpen, TermMovedOn, TermNotFound
from gradebook.models import Amendment, Column, Mark, Period, User
from gradebook.services.amendments import reopen_term
from gradebook.services.marks import save_marks
from gradebook.services.terms import lock_term, open_term
from outbox.models.log import Event
from tests import factories
from tests.gradebook.locking import column, head, locked
from tests.gradebook.marks import change, post, save, shown
from tests.people import World

__all__ = ["column", "head", "locked"]
pytestmark = pytest.mark.django_db


def _facts(period: Period) -> list[tuple[str, int, dict[str, Any]]]:
    events = Event.objects.filter(subject=f"term:{period.pk}").order_by("seq")
    return [(event.kind, event.subject_version, event.payload) for event in events]


def test_locking_raises_the_generation_once_and_says_so(world: World, head: User) -> None:
    assert (world.period.generation, world.period.is_locked) == (1, False)
    lock_term(period_id=world.period.pk, by=head)
    again = lock_term(period_id=world.period.pk, by=head)
    assert (again.generation, again.is_locked, again.locked_by) == (2, True, head)
    [(kind, version, fact)] = _facts(again)
    assert (kind, version, fact["generation"], fact["actor_name"]) == ("TermLocked", 2, 2, "Helmi Rehtori")


def test_opening_again_needs_a_reason_and_keeps_it(locked: Period, head: User) -> None:
    for nothing in ("", "  \n", "x" * 501, "a\0b"):
        with pytest.raises(NoReasonGiven):
            open_term(period_id=locked.pk, reason=nothing, by=head)
    opened = open_term(period_id=locked.pk, reason=" A class was forgotten. ", by=head)
    assert (opened.generation, opened.is_locked, opened.locked_by) == (3, False, None)
    assert [kind for kind, *_ in _facts(opened)] == ["TermLocked", "TermOpened"]
    assert _facts(opened)[-1][2]["reason"] == "A class was forgotten."
    with pytest.raises(TermIsOpen):
        open_term(period_id=locked.pk, reason="Again.", by=head)


def test_only_administrators_of_the_school_lock_its_terms(world: World, teacher: User, student: User) -> None:
    for stranger in (teacher, student, factories.admin(school=world.other_school)):
        with pytest.raises(TermNotFound):
            lock_term(period_id=world.period.pk, by=stranger)
    assert lock_term(period_id=world.period.pk, by=factories.admin()).is_locked


def test_page_of_an_older_generation_is_refused_even_when_the_term_is_open_again(
    locked: Period, head: User, column: Column, student: User, teacher: User
) -> None:
    opened = reopen_term(period_id=locked.pk, reason="A class was forgotten.", by=head)
    changes = [change(column, student, "9", 1)]
    with pytest.raises(TermMovedOn):
        save_marks(sheet=column.sheet, changes=changes, by=teacher, generation=1)
    assert save_marks(sheet=column.sheet, changes=changes, by=teacher, generation=opened.generation).saved


def test_results_that_waited_are_posted_when_the_term_opens(
    locked: Period, head: User, column: Column, other_student: User
) -> None:
    post(column, other_student, "9")
    reopen_term(period_id=locked.pk, reason="A class was forgotten.", by=head)
    assert shown(column, other_student) == "9"
    amendment = Amendment.objects.get()
    assert (amendment.state, amendment.decided_by) == ("signed", head)
    assert post(column, other_student, "9").unchanged == [(column.pk, other_student.pk)]


def test_other_terms_of_the_school_go_on(locked: Period, world: World, student: User, teacher: User) -> None:
    period = factories.period(world.school)
    factories.assignment(teacher, world.school_class, world.course, period)
    column = factories.column(factories.sheet(world.school_class, world.course, period))
    assert save(column, student, "3", by=teacher).saved
    assert Mark.objects.filter(column=column).count() == 1


class TestPages:
    """The terms' own pages."""

    def test_administrator_locks_and_opens(self, client: Client, world: World, head: User) -> None:
        client.force_login(head)
        url = reverse("gradebook:term", args=[world.period.pk])
        assert world.period.name in client.get(reverse("gradebook:terms")).content.decode()
        assert client.post(url, {"do": "lock"}).status_code == 302
        refused = client.post(url, {"do": "open", "reason": " "})
        assert (refused.status_code, "Say why" in refused.content.decode()) == (409, True)
        assert client.post(url, {"do": "open", "reason": "A class was forgotten."}).status_code == 302
        world.period.refresh_from_db()
        assert (world.period.is_locked, world.period.generation) == (False, 3)

    def test_nobody_else_sees_them(self, client: Client, world: World, teacher: User, student: User) -> None:
        url = reverse("gradebook:term", args=[world.period.pk])
        for person in (teacher, student):
            client.force_login(person)
            assert client.get(reverse("gradebook:terms")).status_code == 403
            assert client.post(url, {"do": "lock"}).status_code == 404
        client.force_login(factories.admin(school=world.other_school))
        assert client.get(url).status_code == 404

    def test_locked_sheet_is_for_reading_and_says_so(
        self, client: Client, locked: Period, column: Column, teacher: User
    ) -> None:
        client.force_login(teacher)
        page = client.get(reverse("gradebook:sheet", args=[column.sheet_id])).content.decode()
        assert "Term locked" in page
        assert "Propose an amendment" in page
        assert "data-editable" not in page
