"""The relay's effect for photographed answers: when a file has arrived, make what is shown of it.

A file at fault is refused at once and its receipt says why: the student is told, no operator is called. A machine at fault is tried again. When all tries are used up the student
is told that the file could not be prepared, and nothing else about it changes. A failed one that is tried again, by a person's wish (`manage.py effects
replay`) or because its process died before the receipt was written, is judged anew from the original.
"""

from uuid import UUID

from exams.attachments.limits import RENDER_SECONDS
from exams.attachments.publication import GENERAL_PROBLEM, fail_version, render_version, reopen_version
from exams.attachments.renderer import UnusableFile
from exams.events import AttachmentStored
from outbox.effects import Delivery, Effect, Refuse, register_effect

NAME = "render_attachment"


def register() -> None:
    """Have processes that do effects render."""
    register_effect(
        Effect(
            NAME,
            frozenset({AttachmentStored.kind}),
            render,
            outside=True,
            lease_seconds=4.0 * RENDER_SECONDS,
            failed=note_failure,
        )
    )


def render(delivery: Delivery) -> None:
    """Render the version the event is about, also if it has failed before."""
    reopen_version(_version_id(delivery))
    why = render_version(_version_id(delivery))
    if why is not None:
        raise Refuse(f"{why.problem} ({why.diagnosis})")


def note_failure(delivery: Delivery, reason: str) -> None:
    """Tell the student, if the file's own fault has not been told already."""
    fail_version(_version_id(delivery), UnusableFile(GENERAL_PROBLEM, reason))


def _version_id(delivery: Delivery) -> UUID:
    return UUID(delivery.event.payload["version_id"])
