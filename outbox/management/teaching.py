"""A base for commands whose `--help` teaches: the paragraphs of `help` are printed as they are written."""

from argparse import ArgumentTypeError, RawDescriptionHelpFormatter
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser, DjangoHelpFormatter

from outbox.queue.claim import LARGEST_BATCH


class _Formatter(RawDescriptionHelpFormatter, DjangoHelpFormatter):
    """Django's order of options (ours first), without re-wrapping the text above them."""


class TeachingCommand(BaseCommand):
    """A command whose help text keeps its paragraphs.

    None runs Django's checks: they are about the code and not about this moment, `prepare` has run them for this version, and they
    would load every view, for a quarter of the time that a process takes to start.
    """

    requires_system_checks = []

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        """Make the parser with our formatter."""
        return super().create_parser(prog_name, subcommand, formatter_class=_Formatter, **kwargs)

    def execute(self, *args: Any, **options: Any) -> str | None:
        """Run it, unless a text it was given is none: no name in the database is like that."""
        for value in options.values():
            for text in value if isinstance(value, list) else [value]:
                if isinstance(text, str) and not _is_utf8(text):
                    raise CommandError(f"{text!r} is not UTF-8.", returncode=2)
        return super().execute(*args, **options)


def read_file(path: Path) -> bytes:
    """Return what is in a file that was named on the command line."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise CommandError(f"{path} cannot be read: {error.strerror}.") from error


def batch_size(text: str) -> int:
    """Read a number from 1 to LARGEST_BATCH from the command line."""
    if not (text.isdecimal() and 1 <= int(text) <= LARGEST_BATCH):
        raise ArgumentTypeError(f"{text!r} is not a number from 1 to {LARGEST_BATCH}")
    return int(text)


def seconds(text: str) -> float:
    """Read a number of seconds, more than none, from the command line."""
    return _positive(text, "a number of seconds")


def per_second(text: str) -> float:
    """Read how many a second, more than none, from the command line."""
    return _positive(text, "a number")


def _positive(text: str, what: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number < float("inf"):
        raise ArgumentTypeError(f"{text!r} is not {what} above 0")
    return number


def utf8(text: str) -> str:
    """Take a text from the command line; bytes that are no UTF-8 reach us as half characters, which no database stores."""
    if not _is_utf8(text):
        raise ArgumentTypeError(f"{text!r} is not UTF-8")
    return text


def _is_utf8(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
