"""Strangers' files are looked into by programs of their own, each in a process that limits itself before it imports a decoder.

The one thing to know: decoders have holes, and a small file can decode to a huge one. Such a program knows neither the database nor the
settings, says what it found as one JSON object, and whatever becomes of it, nobody else dies. This module is imported on both sides, and
imports nothing but the standard library.
"""

import errno
import io
import json
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any, Final

ROOT: Final = Path(__file__).resolve().parents[1]
NOT_THE_FILE: Final = 70  # how such a program ends when it could not judge the file
MOST_WRITTEN: Final = (
    16 * 1024 * 1024
)  # bytes of one file: of what it says too, which whoever asked reads as a whole
LONGEST_DIAGNOSIS: Final = 2_000
_LEAST_PATIENCE: Final = 20  # on a busy machine a start alone takes seconds
_FAULTS_OF_THE_DISK: Final = {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO}
# The kernel kills whoever is too large for the machine at that moment; that says nothing about the file.
_NOT_THE_FILES_FAULT: Final = {-signal.SIGKILL, -signal.SIGTERM, -signal.SIGINT}


class LookInterrupted(Exception):
    """The program did not get to its end, for no reason of the file's: it may work the next time."""


class Unreadable(Exception):
    """The program came to grief over the file; the message is a diagnosis for staff."""


def look_into(content: IO[bytes], program: str, *arguments: str, seconds: int) -> dict[str, Any]:
    """Run a program (`python -m program arguments`) with a file as its standard input; return the JSON object that it says.

    Raises `Unreadable` and `LookInterrupted`. `seconds` is the processor time that the program allows itself; twice that is waited, at least
    20 s, and whoever has not got their share of the processor by then may have it the next time.
    """
    patience = max(2 * seconds, _LEAST_PATIENCE)
    with (
        tempfile.TemporaryFile() as source,
        tempfile.TemporaryFile() as said,
        tempfile.TemporaryFile() as words,
    ):
        shutil.copyfileobj(content, source)
        source.seek(0)
        try:
            run = subprocess.run(
                [sys.executable, "-m", program, *arguments],
                stdin=source,
                stdout=said,
                stderr=words,
                cwd=ROOT,
                env={},
                timeout=patience,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise LookInterrupted(f"The decoder did not end within {patience} s.") from error
        _require_end(run.returncode, _read_end(words))
        said.seek(0)
        found: dict[str, Any] = json.load(said)
        return found


def _require_end(code: int, words: str) -> None:
    """Raise what a program ended with, where that was not its end."""
    if code in _NOT_THE_FILES_FAULT:
        raise LookInterrupted(f"The decoder was ended by signal {-code}.")
    if code == NOT_THE_FILE:
        raise LookInterrupted(f"The decoder could not look into the file. {words}")
    if code:
        raise Unreadable(f"The decoder ended with {code}. {words}")


def _read_end(words: IO[bytes]) -> str:
    size = words.seek(0, io.SEEK_END)
    words.seek(max(0, size - LONGEST_DIAGNOSIS))
    return words.read().decode(errors="replace")


def limit_resources(*, memory: int, seconds: int) -> None:
    """Take no more memory and seconds of processor time, and write no more, whatever the file makes one believe.

    No core is dumped: it would hold the file.
    """
    _limit(resource.RLIMIT_AS, memory, memory)
    # At the first of the two comes a signal that says whose fault it was; at the second the one that the kernel ends anybody with.
    _limit(resource.RLIMIT_CPU, seconds, seconds + 1)
    _limit(resource.RLIMIT_CORE, 0, 0)
    # Python would make an error of it, as of a full disk; the signal says that it was the file: a small one repeats a long text often.
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    _limit(resource.RLIMIT_FSIZE, MOST_WRITTEN, MOST_WRITTEN)


def _limit(what: int, soft: int, hard: int) -> None:
    """Set a limit, or the stricter one that is there already."""
    _, allowed = resource.getrlimit(what)
    if allowed != resource.RLIM_INFINITY:
        soft, hard = min(soft, allowed), min(hard, allowed)
    resource.setrlimit(what, (soft, hard))


def say(look: Callable[[IO[bytes]], dict[str, Any]]) -> None:
    """Look into the file on standard input, and say on standard output what it is. What no file can cause ends with `NOT_THE_FILE`."""
    try:
        json.dump(look(sys.stdin.buffer), sys.stdout)
    except (ImportError, OSError) as error:
        sys.stderr.write(f"{type(error).__name__}: {error}")
        sys.exit(NOT_THE_FILE)


def is_of_this_machine(error: Exception) -> bool:
    """Say whether the file has no part in it: no decoder is installed, or the disk takes or gives nothing."""
    return isinstance(error, ImportError) or (
        isinstance(error, OSError) and error.errno in _FAULTS_OF_THE_DISK
    )
