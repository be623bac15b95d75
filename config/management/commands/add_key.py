"""`manage.py add_key KIND`: rotate a signing key. See config.keys."""

from typing import Any

from django.conf import settings
from django.core.management.base import CommandParser

from config.keys import KINDS, add_key, ensure_keys
from outbox.management.teaching import TeachingCommand


class Command(TeachingCommand):
    """Arguments and wiring."""

    help = """\
Make a new signing key and print its id. It signs from the next start of each process on; the older ones still verify.

  tokens     the secret of the API's bearer tokens. Delete an old file once the tokens it signed have run out
             (TOKEN_HOURS); deleting it at once revokes all of them.
  receipts   the Ed25519 key of receipts. Never delete an old one: its public half must stay published, or the receipts it
             signed can no longer be verified.

Keys are files below HANDOVER_KEYS, which must be backed up, and be the same on every machine that serves."""

    def add_arguments(self, parser: CommandParser) -> None:
        """Say which kind."""
        parser.add_argument("kind", choices=sorted(KINDS))

    def handle(self, *, kind: str, **_: Any) -> None:
        """Make it."""
        ensure_keys(settings.KEYS_DIR)
        self.stdout.write(add_key(settings.KEYS_DIR, kind))
