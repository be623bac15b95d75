"""A row of everything the administration lists of the gradebook, in one school. Commits: the log must number what was said."""

from decimal import Decimal

from gradebook.cells import CellKey
from gradebook.entries import Entry
from gradebook.models import LetterScale, User
from gradebook.services.cards import issue_cards
from gradebook.services.proposals import propose_amendment
from gradebook.services.terms import lock_term
from outbox.log.sequencer import sequence_events
from tests import factories
from tests.gradebook.marks import save
from tests.people import World


def fill_every_table(world: World, student: User, teacher: User) -> None:
    """Give the school a row of everything that is listed."""
    column = factories.column(world.sheet)
    save(column, student, "7", by=teacher)
    LetterScale.objects.create(school=world.school, name="Letters")
    office = factories.admin(username="hill_admin", school=world.school)
    lock_term(period_id=world.period.pk, by=office)
    sequence_events()
    issue_cards(period_id=world.period.pk, school_class=world.school_class, by=office)
    propose_amendment(
        sheet=column.sheet,
        key=CellKey(column.pk, student.pk),
        entry=Entry(Decimal(8)),
        reason="Miscounted.",
        by=teacher,
    )
