"""`manage.py consumers list|pause|resume|release|adopt`: how consumers are, and what a person may tell them."""

from typing import Any

from django.core.management.base import CommandError, CommandParser

from outbox.consumers import registry
from outbox.consumers.consumer import ConsumerHandler
from outbox.consumers.cursors import adopt_epoch, pause_consumer, resume_consumer
from outbox.consumers.parking import list_parked_subjects, release_subject
from outbox.consumers.staleness import ConsumerStatus, list_consumer_statuses
from outbox.errors import OutboxError
from outbox.management.teaching import TeachingCommand, utf8
from outbox.models.consumers import Consumer, ParkedSubject


class Command(TeachingCommand):
    """Arguments and wiring; the work is in `outbox.consumers.cursors`, `outbox.consumers.parking` and `outbox.consumers.staleness`."""

    help = """\
The consumers of the event log: how far each is, what it had to set aside, and how to help.

  list                   one line each: state, position, head, seconds behind, budget; below it, what is parked and why
  pause NAME             stop it after its running batch, until resumed
  resume NAME            let it go on
  release NAME SUBJECT…  after the cause was mended: replay what waits for these subjects, in order (--all: for every one)
  adopt NAME             after a restore: go on at the same position in the log's new epoch. Right for a consumer whose
                         cursor came back together with the log; one that counts elsewhere must be told by hand.

Exit code 1 means that something asked for was not done, or that `list` found a consumer behind its budget or waiting to be adopted."""

    def add_arguments(self, parser: CommandParser) -> None:
        """Say what to do with whom."""
        deeds = parser.add_subparsers(dest="deed", required=True, metavar="list|pause|resume|release|adopt")
        deeds.add_parser("list", help="how they all are")
        for deed, meaning in (
            ("pause", "stop it"),
            ("resume", "let it go on"),
            ("adopt", "accept the new epoch"),
        ):
            deeds.add_parser(deed, help=meaning).add_argument("name", metavar="NAME")
        release = deeds.add_parser("release", help="replay what waits for a parked subject")
        release.add_argument("name", metavar="NAME")
        release.add_argument(
            "subjects", nargs="*", type=utf8, metavar="SUBJECT", help="as `list` shows them; or --all"
        )
        release.add_argument("--all", action="store_true", help="every parked subject of this consumer")

    def handle(self, **options: Any) -> None:
        """Do it."""
        deed = getattr(self, f"_{options['deed']}")
        try:
            deed(options)
        except Consumer.DoesNotExist:
            raise CommandError(f"{options['name']} never ran, so it has no cursor yet.") from None
        except OutboxError as refusal:
            raise CommandError(str(refusal)) from refusal

    def _list(self, options: dict[str, Any]) -> None:
        statuses = list_consumer_statuses()
        for status in statuses:
            self.stdout.write(describe_status(status))
            for parked in list_parked_subjects(status.name):
                headline = parked.error.splitlines()[0]
                self.stdout.write(f"  parked: {parked.subject} ({parked.tries} tries): {headline}")
        foreign = [status.name for status in statuses if status.is_of_another_epoch]
        if foreign:
            raise CommandError(
                f"Not running, because the log was restored or moved: {', '.join(foreign)}. See `adopt`."
            )
        late = [status.name for status in statuses if status.is_stale]
        if late:
            raise CommandError(f"Behind budget: {', '.join(late)}.")

    def _pause(self, options: dict[str, Any]) -> None:
        pause_consumer(registry.get_consumer(options["name"]).name)
        self.stdout.write(f"{options['name']} is paused.")

    def _resume(self, options: dict[str, Any]) -> None:
        resume_consumer(registry.get_consumer(options["name"]).name)
        self.stdout.write(f"{options['name']} goes on.")

    def _adopt(self, options: dict[str, Any]) -> None:
        position = adopt_epoch(registry.get_consumer(options["name"]).name)
        self.stdout.write(f"{options['name']} goes on at {position}.")

    def _release(self, options: dict[str, Any]) -> None:
        handler = registry.get_consumer(options["name"])
        if bool(options["subjects"]) == options["all"]:
            raise CommandError("Name the subjects to release, or say --all.")
        subjects = options["subjects"] or [parked.subject for parked in list_parked_subjects(handler.name)]
        if not subjects:
            self.stdout.write(f"{handler.name} has parked nothing.")
        failed = [subject for subject in subjects if not self._release_one(handler, subject)]
        if failed:
            raise CommandError(f"Still parked: {', '.join(failed)}.")

    def _release_one(self, handler: ConsumerHandler, subject: str) -> bool:
        try:
            release = release_subject(handler, subject)
        except ParkedSubject.DoesNotExist:
            raise CommandError(f"{handler.name} has not parked {subject}.") from None
        ending = (
            f"then position {release.poison.pos} failed: {release.poison.headline}"
            if release.poison
            else "free"
        )
        self.stdout.write(f"{subject}: {release.replayed} events replayed, {ending}")
        return release.poison is None


def describe_status(status: ConsumerStatus) -> str:
    """Return one consumer's line."""
    behind = f"{status.staleness.total_seconds():.1f} s behind (budget {status.budget.total_seconds():g} s)"
    last_beat = f"{status.heartbeat_at:%Y-%m-%d %H:%M:%S} UTC" if status.heartbeat_at else "never"
    state = "of another epoch of the log, so it does not run" if status.is_of_another_epoch else status.state
    return (
        f"{status.name}: {state}, at {status.position} of {status.head}, {behind}, last heartbeat {last_beat}"
    )
