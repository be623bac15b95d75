"""`manage.py grant_app_role`: see config.grants."""

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from config.grants import RoleMissing, grant_app_role
from outbox.management.teaching import utf8


class Command(BaseCommand):
    """Arguments and wiring."""

    help = (
        "Give the application's database role its rights: all it works with, but never UPDATE or DELETE on the event log, nor "
        "TRUNCATE on anything but what can be filled again from it. "
        "Run it as the owner after every migration; `manage.py prepare` does."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Take the role's name."""
        parser.add_argument(
            "--role",
            type=utf8,
            default=settings.APP_ROLE_NAME,
            help="the role (default: HANDOVER_APP_ROLE, %(default)s)",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Grant."""
        try:
            grant_app_role(options["role"])
        except RoleMissing as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"{options['role']} may work with every table, and only add to the event log.")
