"""`manage.py prepare`: everything between "the code is here" and "the processes may start", in one go."""

from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError, CommandParser

from config.grants import RoleMissing, grant_app_role, has_own_role
from config.keys import ensure_keys, read_keys
from config.schema_change import SchemaIsBusy, change_schema
from config.statics import collect_when_changed
from gradebook.models import School


class Command(BaseCommand):
    """Arguments and wiring."""

    help = (
        "Bring keys, database, the application's rights and the static files to the state this version needs. Safe to repeat; "
        "run it before the processes start, as `make run` and the container do. People may be at work meanwhile: a table that is in "
        "use is waited for without anybody waiting behind."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Take what to do about a demo school."""
        parser.add_argument(
            "--demo",
            action="store_true",
            help="load a demo school when there is no school yet (never on a database in use)",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Do all steps; each does nothing when there is nothing to do."""
        self._make_keys()
        self._change_schema()
        collect_when_changed()
        if options["demo"] and not School.objects.exists():
            call_command("load_demo", students=60, seed=1, allow_known_passwords=True)

    def _make_keys(self) -> None:
        """Make the keys; this process read its settings before they were there, so it reads them again."""
        ensure_keys(settings.KEYS_DIR)
        settings.TOKEN_KEYS = read_keys(settings.KEYS_DIR, "tokens")
        settings.RECEIPT_KEYS = read_keys(settings.KEYS_DIR, "receipts")

    def _change_schema(self) -> None:
        try:
            change_schema(self._migrate, say=self.stdout.write)
        except (SchemaIsBusy, RoleMissing) as refusal:
            raise CommandError(str(refusal)) from refusal

    def _migrate(self) -> None:
        """Apply what is missing, a transaction each, so that what was applied stays; then the rights."""
        call_command("migrate", database="owner", interactive=False, verbosity=0, stdout=self.stdout)
        if has_own_role():
            grant_app_role(settings.APP_ROLE_NAME)
