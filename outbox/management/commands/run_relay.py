"""`manage.py run_relay`: see to it that what follows from events happens, until told to stop."""

from typing import Any

from django.conf import settings
from django.core.management.base import CommandError

from outbox.consumers import registry
from outbox.consumers.following import follow
from outbox.effects.relay import NAME
from outbox.effects.runners import make_runners
from outbox.errors import OutboxError
from outbox.management.teaching import TeachingCommand
from outbox.stopping import Stop, stop_on_signals


class Command(TeachingCommand):
    """Arguments and wiring; the relay is in `outbox.effects.relay`, its runners are in `outbox.effects`."""

    help = """\
Follow the log and see to it that every effect of an event happens: mails, notifications, webhooks and the like.

With CELERY_BROKER_URL each effect is published to the broker, and the cursor moves only when the broker has confirmed; Celery's
workers act on it. While the broker is away the relay waits and tries again. Without a broker this process does the work
itself, in threads of its own.

One is enough; a second one stands by. What failed for good: `manage.py effects list`. SIGTERM or Ctrl-C ends it
with exit code 0."""

    def handle(self, **_: Any) -> None:
        """Run it."""
        with stop_on_signals() as stop:
            failures: list[Exception] = []
            runners = [] if settings.CELERY_BROKER_URL else make_runners(stop, failures)
            for runner in runners:
                runner.start()
            try:
                self._follow(stop)
            finally:
                stop.set()
                for runner in runners:
                    runner.join()
        if failures:
            raise failures[0]

    def _follow(self, stop: Stop) -> None:
        try:
            follow(registry.get_consumer(NAME), stop)
        except OutboxError as refusal:
            raise CommandError(str(refusal)) from refusal
