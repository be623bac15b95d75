"""Amendments are decided here: signed by a second person, refused, or taken back by who proposed them.

The one thing to know: a signature holds the term alone, changes the one cell, raises the term's generation and says all of it in
the log, in one transaction. The database refuses a change of a locked term from anybody who has not said `amending`.
"""

from decimal import Decimal
from typing import cast
from uuid import UUID

from django.db import connection, transaction
from uuid_utils.compat import uuid7

from gradebook import policies
from gradebook.cells import AutomaticMark, CellKey, StoredCell, after_teacher
from gradebook.entries import Entry
from gradebook.errors import AmendmentNotFound, AmendmentRefused
from gradebook.events import TermAmended, term_subject
from gradebook.models import Amendment, AmendmentState, Column, MarkSource, Period, User
from gradebook.services.facts import event_by
from gradebook.services.marks.facts import Change, Names, describe_change, record_changes
from gradebook.services.marks.posting import AUTOMATIC_GRADING, write_posts
from gradebook.services.marks.rows import Place, insert_blank_cells, lock_cells
from gradebook.services.terms import hold_alone, open_term, raise_generation, read_reason
from outbox.db import database_now
from outbox.log.publish import Actor, publish
from outbox.models.log import ActorType

POSTED_ON_OPENING = "Posted when the term was opened again."


def sign_amendment(*, amendment_id: UUID, by: User) -> Amendment:
    """Change the cell as proposed, and raise the term's generation.

    Raises `AmendmentNotFound` when it is not theirs to see, `AmendmentRefused` when it is their own, decided already, or the cell has
    changed since it was proposed, `TermIsBusy` when somebody holds on to the term.
    """
    with transaction.atomic():
        term = hold_alone(_find(amendment_id, by).period_id)
        amendment = _lock(amendment_id, by)
        _require_second_person(amendment, by)
        _allow_amending()
        raise_generation(term)
        batch_id = uuid7()
        _carry_out(amendment, by, batch_id)
        _decide(amendment, AmendmentState.SIGNED, by)
        _publish(amendment, term, by, batch_id)
    return amendment


def refuse_amendment(*, amendment_id: UUID, note: str, by: User) -> Amendment:
    """Refuse a proposal, with a reason for who proposed it. Raises as `sign_amendment`, and `NoReasonGiven`."""
    why = read_reason(note)
    with transaction.atomic():
        amendment = _lock(amendment_id, by)
        _require_second_person(amendment, by)
        _decide(amendment, AmendmentState.REFUSED, by, note=why)
    return amendment


def withdraw_amendment(*, amendment_id: UUID, by: User) -> Amendment:
    """Take one's own proposal back. Raises `AmendmentNotFound`, or `AmendmentRefused` when it is not theirs or decided already."""
    with transaction.atomic():
        amendment = _lock(amendment_id, by)
        if amendment.proposed_by_id != by.pk:
            raise AmendmentRefused("Only who proposed an amendment takes it back.")
        _decide(amendment, AmendmentState.WITHDRAWN, by)
    return amendment


def reopen_term(*, period_id: UUID, reason: str, by: User) -> Period:
    """Open a locked term again, and post the results that waited for it. Raises as `gradebook.services.terms.open_term`."""
    with transaction.atomic():
        term = open_term(period_id=period_id, reason=reason, by=by)
        waiting = list(
            Amendment.objects.select_for_update().filter(
                period=term, source=MarkSource.AUTOMATIC, state=AmendmentState.PROPOSED
            )
        )
        columns = Column.objects.select_related("sheet").in_bulk({each.column_id for each in waiting})
        write_posts([_as_post(each) for each in waiting], columns, by=AUTOMATIC_GRADING)
        for each in waiting:
            _decide(each, AmendmentState.SIGNED, by, note=POSTED_ON_OPENING)
    return term


def _find(amendment_id: UUID, by: User) -> Amendment:
    amendment = Amendment.objects.filter(pk=amendment_id).first()
    if amendment is None or not policies.may_view_sheet(by, amendment.sheet_id):
        raise AmendmentNotFound
    return amendment


def _lock(amendment_id: UUID, by: User) -> Amendment:
    """Lock an amendment that still waits, and return it."""
    _find(amendment_id, by)
    amendment = Amendment.objects.select_for_update().get(pk=amendment_id)
    if amendment.state != AmendmentState.PROPOSED:
        raise AmendmentRefused(f"This amendment is {amendment.get_state_display().lower()} already.")
    return amendment


def _require_second_person(amendment: Amendment, by: User) -> None:
    if not policies.may_decide(by, amendment):
        raise AmendmentRefused("A second person decides: you proposed this yourself.")


def _allow_amending() -> None:
    """Tell the database's own guard that this transaction is a signed amendment (migration 0006)."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config('handover.amending', 'on', true)")


def _carry_out(amendment: Amendment, by: User, batch_id: UUID) -> None:
    if amendment.source == MarkSource.AUTOMATIC:
        columns = Column.objects.select_related("sheet").in_bulk([amendment.column_id])
        write_posts(
            [_as_post(amendment)], columns, by=AUTOMATIC_GRADING, actor=Actor(ActorType.PERSON, by.pk)
        )
        return
    proposer = cast("User", amendment.proposed_by)
    before = _lock_cell(amendment, proposer)
    entry = Entry(amendment.value, amendment.code)
    after = after_teacher(before, entry, by_id=proposer.pk)
    change = Change(before, after, "amended")
    names = Names(
        amendment.sheet.school_id,
        amendment.column.title,
        amendment.student.full_name,
        f"{proposer.full_name}, signed by {by.full_name}",
    )
    event = describe_change(change, names, by=Actor(ActorType.PERSON, by.pk), batch_id=batch_id)
    record_changes([after], [event])


def _lock_cell(amendment: Amendment, proposer: User) -> StoredCell:
    """Lock the cell, making it where there was no mark yet; raise when it is not what it was when this was proposed."""
    key = CellKey(amendment.column_id, amendment.student_id)
    place = Place(key, amendment.sheet_id, amendment.sheet.school_id)
    if amendment.old_version == 0:
        insert_blank_cells([place], source=MarkSource.TEACHER, by_id=proposer.pk)
    cell = lock_cells([place])[key]
    if cell.version != amendment.old_version:
        raise AmendmentRefused(
            "The mark has changed since this was proposed. It has to be refused, and proposed again."
        )
    return cell


def _as_post(amendment: Amendment) -> AutomaticMark:
    assert amendment.automatic_at is not None  # a constraint: automatic ones have it
    return AutomaticMark(
        CellKey(amendment.column_id, amendment.student_id),
        cast("Decimal", amendment.value),
        amendment.automatic_at,
        amendment.cause_id,
    )


def _decide(amendment: Amendment, state: AmendmentState, by: User, *, note: str = "") -> None:
    amendment.state, amendment.decided_by, amendment.decided_at = state, by, database_now()
    amendment.note = note
    amendment.save(update_fields=["state", "decided_by", "decided_at", "note"])


def _publish(amendment: Amendment, term: Period, by: User, batch_id: UUID) -> None:
    fact = TermAmended(
        school_id=term.school_id,
        period_id=term.pk,
        period_name=term.name,
        generation=term.generation,
        amendment_id=amendment.pk,
        sheet_id=amendment.sheet_id,
        column_id=amendment.column_id,
        student_id=amendment.student_id,
        reason=amendment.reason,
        proposed_by=amendment.proposed_by.full_name if amendment.proposed_by else AUTOMATIC_GRADING,
        signed_by=by.full_name,
    )
    subject = term_subject(term.pk)
    publish([event_by(by, fact, subject=subject, subject_version=term.generation, batch_id=batch_id)])
