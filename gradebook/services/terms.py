"""A term's marks stand still once it is locked. The transaction every door to a mark goes through, and who may lock and open terms.

Lock order inside it: term, column, cell (by key), event. Whoever writes marks shares the term; whoever locks it, opens it or signs an
amendment holds it alone. So the locker waits for the writers under way, nobody begins behind its back, and what a writer has
read of the term stays true until it commits. `Period.generation` is raised by all three: a page that was loaded at another one is
refused even if the term is open again, because its teacher has not seen what happened in between.
"""

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final, NamedTuple
from uuid import UUID

from django.db import OperationalError, connection, transaction

from gradebook import policies
from gradebook.errors import NoReasonGiven, TermIsBusy, TermIsLocked, TermIsOpen, TermMovedOn, TermNotFound
from gradebook.events import TermLocked, TermOpened, term_subject
from gradebook.models import Period, User
from gradebook.services.facts import event_by
from outbox.db import (
    LOCK_NOT_AVAILABLE,
    database_now,
    find_sqlstate,
    load_sql,
    require_transaction,
)
from outbox.log.publish import publish

TERMS: Final = 0x7465726D  # "term"; the other half of the advisory lock is a hash of the period's id
_PATIENCE: Final = (
    "2s"  # a writer's transaction takes milliseconds; one that takes longer is somebody's forgotten session
)
LONGEST_REASON: Final = 500


@contextmanager
def changing_marks(period_ids: Collection[UUID]) -> Iterator[Mapping[UUID, Period]]:
    """Open (or join) the transaction in which marks of these terms change together with their events; give the terms as they are.

    They stay like that until the transaction ends. What a locked one means is the caller's: see `require_open`.
    """
    with transaction.atomic():
        _run("share_terms", {"terms": list(period_ids)})
        yield Period.objects.in_bulk(period_ids)


class TermStanding(NamedTuple):
    """Of a term, what decides whether its marks may change."""

    is_locked: bool
    generation: int


def require_open(term: Period | TermStanding, generation: int | None = None) -> None:
    """Raise `TermIsLocked`, or `TermMovedOn` where the caller saw another generation of it (None: it has seen none)."""
    if term.is_locked:
        raise TermIsLocked
    if generation is not None and generation != term.generation:
        raise TermMovedOn


def lock_term(*, period_id: UUID, by: User) -> Period:
    """Lock a term: its marks stand still from the commit on, and its generation is raised. Locked already: nothing is done.

    Waits for those who are just saving. Raises `TermNotFound` when it is not theirs to lock, `TermIsBusy` when somebody holds on to it.
    """
    with transaction.atomic():
        term = hold_term(period_id, by=by)
        if not term.is_locked:
            term.locked_at, term.locked_by = database_now(), by
            raise_generation(term)
            _publish(TermLocked(term.school_id, term.pk, term.name, term.generation, by.full_name), term, by)
    return term


def open_term(*, period_id: UUID, reason: str, by: User) -> Period:
    """Open a locked term again, for a reason that the log keeps; its generation is raised.

    What machines could not post meanwhile waits as proposals; `gradebook.services.amendments` posts them. Raises as `lock_term`,
    and `TermIsOpen` or `NoReasonGiven`.
    """
    why = read_reason(reason)
    with transaction.atomic():
        term = hold_term(period_id, by=by)
        if not term.is_locked:
            raise TermIsOpen
        term.locked_at = term.locked_by = None
        raise_generation(term)
        _publish(TermOpened(term.school_id, term.pk, term.name, term.generation, by.full_name, why), term, by)
    return term


def hold_term(period_id: UUID, *, by: User) -> Period:
    """Hold a term alone until the transaction ends, and return it; for its lockers only."""
    if not policies.terms_lockable_by(by).filter(pk=period_id).exists():
        raise TermNotFound
    return hold_alone(period_id)


def hold_alone(period_id: UUID) -> Period:
    """Hold a term alone until the transaction ends, whoever asks; raises `TermIsBusy`. Needs a transaction."""
    try:
        with transaction.atomic():
            _run("hold_term", {"term": period_id}, patience=_PATIENCE)
    except OperationalError as error:
        if find_sqlstate(error) != LOCK_NOT_AVAILABLE:
            raise
        raise TermIsBusy from error
    return Period.objects.select_for_update(no_key=True).get(pk=period_id)


def raise_generation(term: Period) -> None:
    """Raise the generation of a term that the caller holds alone, and store how it stands."""
    term.generation += 1
    term.save(update_fields=["generation", "locked_at", "locked_by"])


def read_reason(text: str) -> str:
    """Return a reason somebody gave, or raise `NoReasonGiven`."""
    why = text.strip()
    if not why or len(why) > LONGEST_REASON or "\0" in why:
        raise NoReasonGiven
    return why


def _publish(fact: TermLocked | TermOpened, term: Period, by: User) -> None:
    publish([event_by(by, fact, subject=term_subject(term.pk), subject_version=term.generation)])


def _run(statement: str, parameters: Mapping[str, Any], *, patience: str | None = None) -> None:
    require_transaction()
    with connection.cursor() as cursor:
        if patience:
            cursor.execute(load_sql("outbox", "limit_lock_wait"), {"patience": patience})
        cursor.execute(load_sql("gradebook", statement), {"namespace": TERMS, **parameters})
