"""The only door to the storage: write an object, read one, delete those that are doomed. Each step leaves a row that says how far it is.

`write_object` commits its row before the bytes and never within a caller's transaction, so a crash leaves a row in state `writing`, which
the sweep turns into `doomed` when nobody has come back for it. Whoever keeps an object does so by `keep_objects`, which refuses one that
the sweep has taken meanwhile.
"""

from collections.abc import Iterable, Sequence
from datetime import timedelta
from typing import IO, Any
from uuid import UUID

from django.core.files.base import File
from django.core.files.storage import Storage, storages
from django.db.models.functions import Now
from uuid_utils.compat import uuid7

from exams.models import AttachmentVersion, ObjectRole, ObjectState, StoredObject
from outbox.db import forbid_transaction, require_transaction
from outbox.quorum import await_quorum

STORAGE = "attachments"


class ObjectLost(Exception):
    """An object was swept away before it was kept: its writer took longer than anybody waits."""


def get_storage() -> Storage:
    """Return where attachments are: a folder below HANDOVER_DATA, or what ATTACHMENTS_URL says."""
    return storages[STORAGE]


def write_object(
    version: AttachmentVersion, role: ObjectRole, content: IO[Any], *, attempt_id: UUID, offset: int = 0
) -> StoredObject:
    """Store this content under a name of its own and return its row, still `writing`. Must not be in a transaction."""
    forbid_transaction()
    object_id = uuid7()
    stored = StoredObject.objects.create(
        id=object_id,
        version=version,
        role=role,
        name=_name(role, attempt_id=attempt_id, version_id=version.pk, object_id=object_id),
        offset=offset,
        created_at=Now(),
    )
    written = get_storage().save(stored.name, File(content))
    assert written == stored.name, "an id was used twice"
    return stored


def _name(role: ObjectRole, *, attempt_id: UUID, version_id: UUID, object_id: UUID) -> str:
    """Return a name that says whose it is. The 256 folders are never removed, so nobody has to wait for anybody."""
    return f"{attempt_id.hex[-2:]}/{attempt_id}.{version_id}.{role}.{object_id}"


def open_object(stored: StoredObject) -> IO[bytes]:
    """Open an object for reading. Raises `FileNotFoundError` if the storage has lost it."""
    return get_storage().open(stored.name)


def keep_objects(written: Sequence[StoredObject]) -> None:
    """Make these objects part of their version, all or none. Needs a transaction, with the version locked."""
    require_transaction()
    mine = StoredObject.objects.filter(pk__in=[stored.pk for stored in written], state=ObjectState.WRITING)
    if mine.update(state=ObjectState.KEPT) != len(written):
        raise ObjectLost


def doom_objects(version_id: UUID, *, roles: Iterable[ObjectRole] = tuple(ObjectRole)) -> None:
    """Give up these objects of a version: nothing names them from now on. Needs a transaction, with the version locked."""
    require_transaction()
    objects = StoredObject.objects.filter(version=version_id, role__in=roles)
    objects.exclude(state=ObjectState.DOOMED).update(state=ObjectState.DOOMED)


def doom_written(written: Iterable[StoredObject]) -> None:
    """Give up objects that were written and turned out not to be wanted. One that was kept stays."""
    mine = StoredObject.objects.filter(pk__in=[each.pk for each in written], state=ObjectState.WRITING)
    mine.update(state=ObjectState.DOOMED)


def doom_forgotten(patience: timedelta) -> int:
    """Give up objects whose writer has not come back to keep them; return how many."""
    return StoredObject.objects.filter(state=ObjectState.WRITING, created_at__lt=Now() - patience).update(
        state=ObjectState.DOOMED
    )


def delete_doomed(*, at_most: int) -> int:
    """Delete doomed objects, then their rows; return how many. To delete one that is gone already is no error, so this may be repeated.

    None while the rows that doom them are not safe: a server that took over without those would name what is gone.
    """
    storage = get_storage()
    doomed = list(StoredObject.objects.filter(state=ObjectState.DOOMED).order_by("created_at")[:at_most])
    if doomed and not await_quorum():
        return 0
    for stored in doomed:
        storage.delete(stored.name)
    StoredObject.objects.filter(pk__in=[stored.pk for stored in doomed], state=ObjectState.DOOMED).delete()
    return len(doomed)
