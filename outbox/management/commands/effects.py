"""`manage.py effects list|replay`: how effects are, what failed for good, and trying it again."""

from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.db.models import QuerySet

from outbox.effects.failures import (
    list_failed_effects,
    list_refused_effects,
    name_targets,
    replay_effects,
)
from outbox.effects.registry import find_effect, list_effects
from outbox.effects.status import get_relay_status
from outbox.management.teaching import TeachingCommand
from outbox.models import EffectReceipt

MOST_LISTED = 200


class Command(TeachingCommand):
    """Arguments and wiring; the reading and replaying is in `outbox.effects`."""

    help = """\
Look after effects: what the relay hands on because of events.

effects list           how far behind the relay is, what waits by effect, and what failed for good (at most 200), with its number
effects list --refused what was refused (a damaged photo, a removed endpoint): no fault, nothing to do; forgotten after 90 days
effects replay 17 21   try these again, from the first try on; --all or --effect NAME for many, with --refused for those refused.
                       Exit code 1 when one of the numbers neither failed for good nor was refused, or is unknown

An effect fails for good when its other end says that no repetition will help, or after its last try (some hours, for
webhooks two days). Trying again is safe for effects of the database. Mails and calls may happen a second time if
only the answer was lost; they carry the same key as before."""

    def add_arguments(self, parser: CommandParser) -> None:
        """Say what to do with which."""
        deeds = parser.add_subparsers(dest="deed", required=True, metavar="list|replay")
        listing = deeds.add_parser("list", help="show them")
        listing.add_argument("--effect", metavar="NAME", help=f"what failed of this effect only: {_names()}")
        replay = deeds.add_parser("replay", help="try them again")
        listing.add_argument("--refused", action="store_true", help="what was refused, instead")
        replay.add_argument("ids", nargs="*", type=int, metavar="NUMBER", help="as `effects list` shows it")
        replay.add_argument("--effect", metavar="NAME", help="all that failed of this effect")
        replay.add_argument("--all", action="store_true", help="all that failed")
        replay.add_argument(
            "--refused", action="store_true", help="with --effect or --all: those that were refused, instead"
        )

    def handle(self, *, deed: str, **options: Any) -> None:
        """Do it."""
        if deed == "list":
            self._list(_check(options["effect"]), refused=options["refused"])
        else:
            self._replay(_choose(options), set(options["ids"]))

    def _list(self, effect: str | None, *, refused: bool) -> None:
        status = get_relay_status()
        self.stdout.write(f"The relay is {status.age.total_seconds():.0f} s behind.")
        for each in status.effects:
            self.stdout.write(
                f"{each.name}: {each.pending} waiting, {each.trying} at work, {each.failed} failed, {each.refused} refused; "
                f"the oldest not done for {each.oldest.total_seconds():.0f} s"
            )
        if refused:
            self._show(list_refused_effects(effect=effect), "refused")
            return
        self._show(list_failed_effects(effect=effect), "failed for good")
        if status.refused:
            self.stdout.write(f"{status.refused} refused, no fault; see `manage.py effects list --refused`.")

    def _show(self, receipts: QuerySet[EffectReceipt], what: str) -> None:
        for receipt, target in name_targets(receipts[:MOST_LISTED]):
            name = f"{receipt.effect} {target}".strip()
            words = receipt.error.partition("\n")[0]
            self.stdout.write(
                f"{receipt.pk}  {name} of event {receipt.event_id} (tries: {receipt.tries}): {words}"
            )
        count = receipts.count()
        self.stdout.write(
            f"{count} {what}{f'; the first {MOST_LISTED} are shown' if count > MOST_LISTED else ''}."
        )

    def _replay(self, offered: set[int], numbers: set[int]) -> None:
        chosen = numbers or offered
        self.stdout.write(f"{replay_effects(ids=chosen & offered)} will be tried again.")
        if chosen - offered:
            unknown = ", ".join(map(str, sorted(chosen - offered)))
            raise CommandError(
                f"Not among what failed for good or was refused: {unknown}. `effects list` shows the numbers."
            )


def _choose(options: dict[str, Any]) -> set[int]:
    """Return the numbers that may be meant: of what failed, of what was refused, or where numbers were given, of either."""
    if [bool(options["ids"]), bool(options["effect"]), options["all"]].count(True) != 1:
        raise CommandError("Name some numbers, or --effect NAME, or --all: one of the three.")
    effect = _check(options["effect"])
    offered = set[int]()
    if options["ids"] or not options["refused"]:
        offered |= set(list_failed_effects(effect=effect).values_list("pk", flat=True))
    if options["ids"] or options["refused"]:
        offered |= set(list_refused_effects(effect=effect).values_list("pk", flat=True))
    return offered


def _names() -> str:
    return ", ".join(effect.name for effect in list_effects())


def _check(effect: str | None) -> str | None:
    """Refuse a name that nothing is called; one of an earlier version may have left some."""
    if (
        effect
        and find_effect(effect) is None
        and not any(
            receipts.exists()
            for receipts in (list_failed_effects(effect=effect), list_refused_effects(effect=effect))
        )
    ):
        raise CommandError(f"There is no effect {effect}. Known: {_names()}.")
    return effect
