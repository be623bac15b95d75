"""A column that was removed has no figures any more, and they are those of a rebuild."""

from decimal import Decimal

import pytest

from gradebook.models import User
from gradebook.services.columns import add_column, edit_column, remove_column
from outbox.consumers.batches import run_batch
from outbox.consumers.beside import rebuild_beside
from outbox.log.sequencer import sequence_events
from outbox.stopping import Stop
from projections.analytics.projector import Analytics
from projections.analytics.queries import list_column_figures
from tests.people import World

pytestmark = pytest.mark.django_db(transaction=True)


def catch_up() -> None:
    sequence_events()
    while run_batch(Analytics()).more:
        pass


@pytest.mark.parametrize("is_read_between", [True, False], ids=["in two batches", "in one"])
def test_figures_of_a_removed_column_are_gone(world: World, teacher: User, is_read_between: bool) -> None:
    stays, goes = (
        add_column(sheet=world.sheet, title=title, max_points=Decimal(20), by=teacher)
        for title in ("Essay", "Added by mistake")
    )
    edit_column(column_id=goes.pk, sheet=world.sheet, title="Mistake", max_points=Decimal(5), by=teacher)
    if is_read_between:
        catch_up()
        assert [each.title for each in list_column_figures(sheet_id=world.sheet.pk)] == ["Essay", "Mistake"]
    remove_column(column_id=goes.pk, sheet=world.sheet, by=teacher)
    catch_up()
    assert [each.column_id for each in list_column_figures(sheet_id=world.sheet.pk)] == [stays.pk]
    with Stop() as stop:
        comparison = rebuild_beside(Analytics(), stop, report=lambda *_: None)
    assert comparison is not None
    assert comparison.total == 0
