"""What Celery's workers do for the outbox. A task is a hint: it reads PostgreSQL and finds there whether there is anything left to do."""

from uuid import UUID

from celery import shared_task

from outbox.effects.publishing import TASK
from outbox.effects.receipts import Message
from outbox.effects.running import run_message
from outbox.periodic import run_planned


@shared_task(name=TASK)  # type: ignore[untyped-decorator]
def run_effect(event_id: str, effect: str, target: str, pos: int) -> None:
    """Try one effect, unless it is done, in somebody else's hands, or not due. Another try is the sweeper's business, not Celery's."""
    run_message(Message(UUID(event_id), effect, target, pos))


@shared_task(name="outbox.run_planned")  # type: ignore[untyped-decorator]
def run_planned_work() -> None:
    """Do the periodic work whose moment has come and that nobody has taken yet."""
    run_planned()
