"""`manage.py rehearsals list|put-away`: see config.rehearsal.keeping."""

from typing import Any

from django.core.management.base import CommandError, CommandParser

from config.rehearsal.keeping import NotPutAway, list_rehearsals, put_away_rehearsal
from outbox.management.teaching import TeachingCommand

STAYS = (
    "Its school, accounts, attempts, submissions, results, marks and log stay: submissions and the log can be deleted by nobody, and what"
    " they point at stays with them. No list shows them."
)


class Command(TeachingCommand):
    """Arguments and wiring."""

    help = """\
What `rehearse_deadline` has made in this database, and putting it away.

`rehearse_deadline` puts its own rehearsal away when it ends. One that was killed, or run with --keep, is put away here: accounts are
deactivated, their tokens die, drafts and notifications are deleted. Submissions and the log can be deleted by nobody, and what they
point at stays with them; no list of the administration and no count of the console shows it once the rehearsal is over. Whoever
wants no trace rehearses on a restored backup.

  manage.py rehearsals list
  manage.py rehearsals put-away "Rehearsal 2026-11-30 01:15:00.000000"
  manage.py rehearsals put-away --all

A school that is no rehearsal is refused, and so is a rehearsal that is still running."""

    def add_arguments(self, parser: CommandParser) -> None:
        """Say what to do with which."""
        deeds = parser.add_subparsers(dest="deed", required=True, metavar="list|put-away")
        deeds.add_parser("list", help="one line for each, the latest first")
        away = deeds.add_parser("put-away", help="close rehearsals that are over")
        away.add_argument("names", nargs="*", metavar="SCHOOL", help="which; or --all")
        away.add_argument("--all", action="store_true", help="every one that is not put away yet")

    def handle(self, **options: Any) -> None:
        """Do it."""
        if options["deed"] == "list":
            self._list()
        else:
            self._put_away(options["names"], is_all=options["all"])

    def _list(self) -> None:
        rehearsals = list_rehearsals()
        if not rehearsals:
            self.stdout.write("There is no rehearsal in this database.")
        for kept in rehearsals:
            state = f"{kept.active:,} accounts active" if kept.active else "put away"
            self.stdout.write(
                f"{kept.name}  closed {kept.closed_at:%Y-%m-%d %H:%M} UTC  {kept.attempts:,} attempts  {state}"
            )

    def _put_away(self, names: list[str], *, is_all: bool) -> None:
        if bool(names) == is_all:
            raise CommandError("Name the schools (`rehearsals list` does), or say --all.")
        chosen = [kept.name for kept in list_rehearsals() if kept.active] if is_all else names
        if not chosen:
            self.stdout.write("Every rehearsal has been put away.")
        refused = [str(problem) for name in chosen if (problem := self._put_one_away(name))]
        if len(refused) < len(chosen):
            self.stdout.write(STAYS)
        if refused:
            raise CommandError("\n".join(refused))

    def _put_one_away(self, name: str) -> NotPutAway | None:
        try:
            done = put_away_rehearsal(name)
        except NotPutAway as problem:
            return problem
        self.stdout.write(
            f"{name}: {done.accounts:,} accounts deactivated, {done.drafts:,} drafts and {done.notifications:,} notifications deleted."
        )
        return None
