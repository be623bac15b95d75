"""What the relay's process does for files that have arrived, without the process."""

from django.db.models.functions import Now

from exams.attachments.effects import NAME
from outbox.consumers.batches import run_batch
from outbox.effects import find_effect
from outbox.effects.relay import Relay
from outbox.effects.running import run_due_effects
from outbox.log.sequencer import sequence_events
from outbox.models import EffectReceipt


def relay_everything() -> None:
    """Number the events, let the relay note what follows from them, and do what is due of it."""
    sequence_events()
    relay = Relay()
    while run_batch(relay).more:
        pass
    render_what_is_due()


def render_what_is_due() -> None:
    """Let the next try be due now, and do it."""
    EffectReceipt.objects.filter(effect=NAME, state="pending").update(due_at=Now())
    effect = find_effect(NAME)
    assert effect is not None
    run_due_effects([effect])
