"""`manage.py effects list|replay`: how effects are, what failed for good, and trying it again."""

from typing import Any

from django.core.management.base import CommandError, CommandParser

from outbox.effects.failures import list_failed_effects, name_targets, replay_effects
from outbox.effects.registry import find_effect, list_effects
from outbox.effects.status import get_relay_status
from outbox.management.teaching import TeachingCommand

MOST_LISTED = 200


class Command(TeachingCommand):
    """Arguments and wiring; the reading and replaying is in `outbox.effects`."""

    help = """\
Look after effects: what the relay hands on because of events.

effects list           how far behind the relay is, what waits by effect, and what failed for good (at most 200), with its number
effects replay 17 21   try these again, from the first try on; --all or --effect NAME for many. Exit code 1 when one of the
                       numbers has not failed for good, or is unknown

An effect fails for good when its other end says that no repetition will help, or after its last try (some hours, for
webhooks two days). Trying again is safe for effects of the database. Mails and calls may happen a second time if
only the answer was lost; they carry the same key as before."""

    def add_arguments(self, parser: CommandParser) -> None:
        """Say what to do with which."""
        deeds = parser.add_subparsers(dest="deed", required=True, metavar="list|replay")
        listing = deeds.add_parser("list", help="show them")
        listing.add_argument("--effect", metavar="NAME", help=f"what failed of this effect only: {_names()}")
        replay = deeds.add_parser("replay", help="try them again")
        replay.add_argument("ids", nargs="*", type=int, metavar="NUMBER", help="as `effects list` shows it")
        replay.add_argument("--effect", metavar="NAME", help="all that failed of this effect")
        replay.add_argument("--all", action="store_true", help="all that failed")

    def handle(self, *, deed: str, **options: Any) -> None:
        """Do it."""
        if deed == "list":
            self._list(options["effect"])
        else:
            self._replay(options["ids"], options["effect"], everything=options["all"])

    def _list(self, effect: str | None) -> None:
        status = get_relay_status()
        self.stdout.write(f"The relay is {status.age.total_seconds():.0f} s behind.")
        for each in status.effects:
            self.stdout.write(
                f"{each.name}: {each.pending} waiting, {each.trying} at work, {each.failed} failed; "
                f"the oldest not done for {each.oldest.total_seconds():.0f} s"
            )
        failures = list_failed_effects(effect=_check(effect))
        for failed, target in name_targets(failures[:MOST_LISTED]):
            what = f"{failed.effect} {target}".strip()
            self.stdout.write(
                f"{failed.pk}  {what} of event {failed.event_id} (tries: {failed.tries}): {failed.error.partition(chr(10))[0]}"
            )
        count = failures.count()
        self.stdout.write(
            f"{count} failed for good{f'; the first {MOST_LISTED} are shown' if count > MOST_LISTED else ''}."
        )

    def _replay(self, ids: list[int], effect: str | None, *, everything: bool) -> None:
        if [bool(ids), bool(effect), everything].count(True) != 1:
            raise CommandError("Name some numbers, or --effect NAME, or --all: one of the three.")
        failed = set(list_failed_effects(effect=_check(effect)).values_list("pk", flat=True))
        chosen = set(ids) or failed
        self.stdout.write(f"{replay_effects(ids=chosen & failed)} will be tried again.")
        if chosen - failed:
            numbers = ", ".join(map(str, sorted(chosen - failed)))
            raise CommandError(
                f"Not among what failed for good: {numbers}. `effects list` shows the numbers."
            )


def _names() -> str:
    return ", ".join(effect.name for effect in list_effects())


def _check(effect: str | None) -> str | None:
    """Refuse a name that nothing is called; one of an earlier version may still have failures."""
    if effect and find_effect(effect) is None and not list_failed_effects(effect=effect).exists():
        raise CommandError(f"There is no effect {effect}. Known: {_names()}.")
    return effect
