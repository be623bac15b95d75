"""`manage.py dead_letters list|show|replay`: jobs that were given up, and doing them again."""

import json
from typing import Any
from uuid import UUID

from django.core.management.base import CommandError, CommandParser

from outbox.effects.failures import list_failed_effects, list_refused_effects
from outbox.management.teaching import TeachingCommand, per_second
from outbox.models.jobs import Cause, DeadLetter, Lane
from outbox.queue.dead_letters import (
    REPLAYS_PER_SECOND,
    Replayed,
    find_dead_letter,
    list_dead_letters,
    replay_dead_letters,
)

LANES = {lane.name.lower(): lane for lane in Lane}
SENTENCES = {
    Replayed.QUEUED: "queued again",
    Replayed.ALREADY_WAITING: "closed: the same job is in the queue already",
    Replayed.ALREADY_REPLAYED: "nothing to do: it was replayed before",
    Replayed.UNKNOWN: "there is no such dead letter",
}


class Command(TeachingCommand):
    """Arguments and wiring; the work is in `outbox.queue.dead_letters`."""

    help = """\
Jobs that were given up, and why. Nothing is lost with them: what they were to work on is still there.

  exhausted    failed three times with an error that may pass (a database or network fault)
  lost_leases  three workers died or froze while they held it: it probably kills them
  defect       failed with an error that no repetition will cure, until somebody mends the program or the data

List them, look at one, remove the cause, then replay it: the job is queued as if it were new. Of several, so many a second
become due (--per-second), behind fresh work unless told otherwise. Exit code 1 means that something asked for was not done."""

    def add_arguments(self, parser: CommandParser) -> None:
        """Say what to do with which."""
        deeds = parser.add_subparsers(dest="deed", required=True, metavar="list|show|replay")
        listing = deeds.add_parser("list", help="one line for each that is open, oldest first")
        listing.add_argument("--replayed", action="store_true", help="those already replayed, instead")
        show = deeds.add_parser("show", help="everything known about one, as JSON")
        show.add_argument("id", type=UUID)
        replay = deeds.add_parser("replay", help="queue jobs again, with fresh counters")
        replay.add_argument("ids", type=UUID, nargs="*", metavar="ID", help="which; or --all")
        replay.add_argument(
            "--all", action="store_true", help="every open one that --kind and --cause let through"
        )
        replay.add_argument(
            "--lane", choices=LANES, default="backlog", help="backlog (default): behind fresh work"
        )
        replay.add_argument(
            "--per-second",
            type=per_second,
            default=REPLAYS_PER_SECOND,
            metavar="N",
            help="how many become due each second (default %(default)g)",
        )
        replay.add_argument("--by", type=UUID, help="id of the person who asks, for the record")
        for each in (listing, replay):
            each.add_argument("--kind", help="only jobs of this kind")
            each.add_argument("--cause", choices=Cause.values, help="only those given up for this cause")

    def handle(self, **options: Any) -> None:
        """Do it."""
        {"list": self._list, "show": self._show, "replay": self._replay}[options["deed"]](options)

    def _list(self, options: dict[str, Any]) -> None:
        letters = list_dead_letters(
            kind=options["kind"], cause=options["cause"], replayed=options["replayed"]
        )
        shown = 0
        for shown, letter in enumerate(letters.iterator(), start=1):  # noqa: B007 - how many there were
            self.stdout.write(_summarise(letter))
        if not shown:
            self.stdout.write(_describe_none(options, replayed=options["replayed"]))
        if not (options["kind"] or options["cause"] or options["replayed"]):
            self._mention_effects()

    def _mention_effects(self) -> None:
        """Say what else did not happen, and where it is found."""
        failed, refused = list_failed_effects().count(), list_refused_effects().count()
        if failed:
            self.stderr.write(
                f"Also failed for good, but no jobs: {failed} side effects; see `manage.py effects list`."
            )
        if refused:
            self.stderr.write(
                f"Refused, no fault: {refused} side effects; see `manage.py effects list --refused`."
            )

    def _show(self, options: dict[str, Any]) -> None:
        letter = find_dead_letter(options["id"])
        if letter is None:
            raise CommandError(f"There is no dead letter {options['id']}.")
        facts = {name: value for name, value in vars(letter).items() if name != "_state"}
        self.stdout.write(json.dumps(facts, indent=2, default=str, ensure_ascii=False))

    def _replay(self, options: dict[str, Any]) -> None:
        if bool(options["ids"]) == options["all"]:
            raise CommandError("Name the dead letters to replay, or say --all.")
        ids = options["ids"] or [
            letter.id for letter in list_dead_letters(kind=options["kind"], cause=options["cause"])
        ]
        if not ids:
            self.stdout.write(_describe_none(options))
        outcomes = replay_dead_letters(
            ids=ids, by=options["by"], lane=LANES[options["lane"]], per_second=options["per_second"]
        )
        for dead_letter_id, outcome in outcomes.items():
            self.stdout.write(f"{dead_letter_id}: {SENTENCES[outcome]}")
        if {Replayed.UNKNOWN, Replayed.ALREADY_REPLAYED} & set(outcomes.values()):
            raise CommandError("Not all of them could be replayed.")


def _describe_none(options: dict[str, Any], *, replayed: bool = False) -> str:
    """Say that there is none, and of which."""
    chosen = [f" of the {name} {options[name]}" for name in ("kind", "cause") if options[name]]
    return f"There is no {'replayed' if replayed else 'open'} dead letter{' and'.join(chosen)}."


def _summarise(letter: DeadLetter) -> str:
    """Return one line; the error is cut to its first words."""
    what = f"{letter.id}  {letter.died_at:%Y-%m-%d %H:%M:%S} UTC  {letter.kind}  {letter.subject_id}  {letter.cause}"
    error = f"  {letter.error_class}: {' '.join(letter.error_detail.split())[:80]}"
    return what + (error if letter.error_class else "")
