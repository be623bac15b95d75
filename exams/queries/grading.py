"""What the grading worker reads: submissions with the facts to verify, and the keys of their revisions."""

import dataclasses
import json
from collections import OrderedDict
from collections.abc import Collection, Mapping
from uuid import UUID

from django.db import connection

from exams.events import ClassNamed
from exams.grading import BrokenKey, Key, read_key
from exams.models import ExamRevision
from outbox.db import load_sql

_MOST_KEYS = 200


@dataclasses.dataclass(frozen=True, slots=True)
class ToGrade:
    """One submission as `read_submissions_to_grade.sql` reads it."""

    submission_id: UUID
    attempt_id: UUID
    revision_id: UUID
    answers: str
    payload_sha256: str
    is_withdrawn: bool
    number: int
    attempts_allowed: int
    is_active_student: bool
    matches_attempt: bool
    is_targeted: bool


def list_to_grade(submission_ids: Collection[UUID]) -> dict[UUID, ToGrade]:
    """Return the submissions that exist, by id. One read."""
    with connection.cursor() as cursor:
        cursor.execute(load_sql("exams", "read_submissions_to_grade"), {"ids": list(submission_ids)})
        return {row[0]: ToGrade(*row) for row in cursor.fetchall()}


def list_classes(attempt_ids: Collection[UUID]) -> dict[UUID, list[ClassNamed]]:
    """Return the classes, of those the exam is given to, that each attempt's student was in at its start. At most one read."""
    if not attempt_ids:
        return {}
    with connection.cursor() as cursor:
        cursor.execute(load_sql("exams", "list_classes"), {"attempts": list(attempt_ids)})
        return {attempt_id: json.loads(classes) for attempt_id, classes in cursor.fetchall()}


class Keys:
    """The keys of published revisions, kept once read: a published revision never changes (a trigger sees to that)."""

    def __init__(self) -> None:
        self._known: OrderedDict[UUID, Key] = OrderedDict()

    def get(self, revision_ids: Collection[UUID]) -> Mapping[UUID, Key | BrokenKey]:
        """Return the key of each of these revisions that is published, or why it cannot be used. At most one read."""
        missing = set(revision_ids) - self._known.keys()
        read = dict(_read_keys(missing)) if missing else {}
        found: dict[UUID, Key | BrokenKey] = {
            **{id_: self._known[id_] for id_ in set(revision_ids) - missing},
            **read,
        }
        self._known.update({id_: key for id_, key in read.items() if isinstance(key, Key)})
        while len(self._known) > _MOST_KEYS:
            self._known.popitem(last=False)
        return found


def _read_keys(revision_ids: Collection[UUID]) -> list[tuple[UUID, Key | BrokenKey]]:
    stored = ExamRevision.objects.filter(pk__in=revision_ids, published_at__isnull=False).values_list(
        "pk", "key"
    )
    return [(revision_id, _read_key(key)) for revision_id, key in stored]


def _read_key(stored: Mapping[str, object] | None) -> Key | BrokenKey:
    try:
        return read_key(stored or {})
    except BrokenKey as broken:
        return broken
