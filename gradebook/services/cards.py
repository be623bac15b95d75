"""Report cards are issued for a class of a locked term, replaced where what they say has changed, and released to the students.

The one thing to know: issuing twice is the same as once. A card whose content still holds is kept, whatever the term's generation is
by now, so that an amendment of one mark makes one new card and not a class of them. A student has one card of a term that counts: it is made by
the class they were in last, and replaces one that another class has made before they moved.
"""

import dataclasses
import datetime as dt
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

from django.conf import settings
from uuid_utils.compat import uuid7

from gradebook import policies
from gradebook.cards.codes import make_code, show_code
from gradebook.cards.content import CardContent, find_difference
from gradebook.errors import CardsRefused, TermNotFound
from gradebook.events import ReportCardIssued, card_subject, term_subject
from gradebook.models import CardRelease, Period, ReportCard, SchoolClass, User
from gradebook.moments import write_moment
from gradebook.queries.cards import (
    list_card_holders,
    list_counting_cards,
    list_current_cards,
    read_contents,
)
from gradebook.services.facts import event_by
from gradebook.services.terms import changing_marks
from outbox.db import database_now
from outbox.log.publish import NewEvent, publish
from outbox.log.reading import Position, find_entry, get_head
from outbox.models.log import Event


@dataclasses.dataclass(frozen=True, slots=True)
class Issue:
    """What issuing a class's cards came to."""

    issued: list[ReportCard]
    replaced: list[ReportCard]
    kept: list[ReportCard]


@dataclasses.dataclass(frozen=True, slots=True)
class Standing:
    """One student's card and how it stands: current, out of date (with what matters to it), or none yet."""

    student: str
    student_id: UUID
    card: ReportCard | None
    difference: list[dict[str, str]]
    same_state: bool


def name_state(term: Period) -> str:
    """Return the token of a term as it is now. Tokens are compared for equality and never taken apart."""
    return f"{term.pk}/{term.generation}"


def issue_cards(*, period_id: UUID, school_class: SchoolClass, by: User) -> Issue:
    """Issue the cards of a class that are not there yet or do not hold any more.

    Shares the term, so that nothing it reads moves, and locks its row, so that two who issue at once make one set of cards. Raises
    `TermNotFound` when the term is not theirs, and `CardsRefused` when it is open, the class is another school's, or the log has not
    numbered all that was said in it.
    """
    with changing_marks([period_id]) as terms:
        term = _require_locked(terms.get(period_id), school_class, by)
        Period.objects.select_for_update(no_key=True).get(pk=period_id)
        contents = read_contents(term, school_class, list_card_holders(term, school_class))
        current = list_current_cards(term, school_class) | list_counting_cards(term, contents)
        kept = [card for card in current.values() if _holds(card, contents)]
        stale = {card.student_id: card for card in current.values() if not _holds(card, contents)}
        now, head = database_now(), get_head()
        ReportCard.objects.filter(pk__in=[card.pk for card in stale.values()]).update(replaced_at=now)
        made = [
            _make(term, school_class, student_id, content, stale.get(student_id), (now, head, by))
            for student_id, content in contents.items()
            if student_id not in current or student_id in stale
        ]
        ReportCard.objects.bulk_create(made)
        publish(_describe(card, by) for card in made)
    return Issue(
        issued=[card for card in made if card.number == 1],
        replaced=[card for card in made if card.number > 1],
        kept=kept,
    )


def release_cards(
    *, period: Period, school_class: SchoolClass, release_at: dt.datetime | None, by: User
) -> CardRelease:
    """Let a class's students see their cards from a moment on, or hold them (None). Raises `TermNotFound`."""
    if not policies.terms_lockable_by(by).filter(pk=period.pk).exists():
        raise TermNotFound
    release, _ = CardRelease.objects.update_or_create(
        period=period, school_class=school_class, defaults={"release_at": release_at, "set_by": by}
    )
    return release


def find_standings(period: Period, school_class: SchoolClass) -> list[Standing]:
    """Return how the card of each student of a class stands, by name. Nine queries."""
    contents = read_contents(period, school_class, list_card_holders(period, school_class))
    current = list_counting_cards(period, contents)
    token = name_state(period)
    standings = []
    for student_id, content in contents.items():
        card = current.get(student_id)
        difference = find_difference(card.content, content.as_json()) if card else []
        standings.append(
            Standing(content.student, student_id, card, difference, bool(card and card.token == token))
        )
    return standings


def find_changes(card: ReportCard) -> list[dict[str, str]]:
    """Return what has changed since that matters to this card; empty while it holds."""
    people = list_card_holders(card.period, card.school_class)
    contents = read_contents(card.period, card.school_class, people, [card.student_id])
    content = contents.get(card.student_id)
    if content is None:
        return [{"what": "Class", "was": card.content["school_class"], "is": "not in this class any more"}]
    return find_difference(card.content, content.as_json())


def describe_card(card: ReportCard) -> dict[str, Any]:
    """Return a card as it is printed and shown."""
    return {
        "content": card.content,
        "issued_at": str(write_moment(card.issued_at, ZoneInfo(card.school.time_zone))),
        "token": card.token.rpartition("/")[2] if card.token.startswith(str(card.period_id)) else card.token,
        "position": str(Position(card.epoch, card.shard, card.pos)),
        "checksum": card.checksum,
        "code": show_code(card.code),
        "verify_url": f"{settings.SITE_URL}/verify/",
        "difference": card.difference,
    }


def _require_locked(term: Period | None, school_class: SchoolClass, by: User) -> Period:
    if term is None or not policies.terms_lockable_by(by).filter(pk=term.pk).exists():
        raise TermNotFound
    if school_class.school_id != term.school_id:
        raise CardsRefused("This class is not of the term's school.")
    if not term.is_locked:
        raise CardsRefused("Report cards are issued from a locked term: lock it first.")
    if not is_numbered(term):
        raise CardsRefused("The log has not caught up with the last marks yet. Please try again in a moment.")
    return term


def is_numbered(term: Period) -> bool:
    """Say whether the log has given a place to all that was said of this term's marks.

    The event that made the term what it is was published by somebody who held the term alone: whatever was said of its marks before
    was committed before, so it is numbered no later (ADR 0001). A term locked before there was a log has no such event.
    """
    last = Event.objects.filter(subject=term_subject(term.pk), subject_version=term.generation).first()
    return last is None or find_entry(last.event_id) is not None


def _holds(card: ReportCard, contents: dict[UUID, CardContent]) -> bool:
    """Say whether a card still says what is so. Of somebody who is in the class no longer it is kept as it is."""
    content = contents.get(card.student_id)
    return content is None or content.checksum == card.checksum


def _make(
    term: Period,
    school_class: SchoolClass,
    student_id: UUID,
    content: CardContent,
    before: ReportCard | None,
    made: tuple[dt.datetime, Position, User],
) -> ReportCard:
    now, head, by = made
    return ReportCard(
        id=uuid7(),
        school_id=term.school_id,
        period=term,
        school_class=school_class,
        student_id=student_id,
        number=before.number + 1 if before else 1,
        content=content.as_json(),
        checksum=content.checksum,
        token=name_state(term),
        epoch=head.epoch,
        shard=head.shard,
        pos=head.pos,
        code=make_code(),
        issued_by=by,
        issued_at=now,
        difference=find_difference(before.content, content.as_json()) if before else [],
    )


def _describe(card: ReportCard, by: User) -> NewEvent:
    fact = ReportCardIssued(
        school_id=card.school_id,
        period_id=card.period_id,
        student_id=card.student_id,
        card_id=card.pk,
        number=card.number,
        token=card.token,
        position=str(Position(card.epoch, card.shard, card.pos)),
        checksum=card.checksum,
        actor_name=by.full_name,
    )
    return event_by(
        by, fact, subject=card_subject(card.period_id, card.student_id), subject_version=card.number
    )
