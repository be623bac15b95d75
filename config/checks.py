"""What `manage.py check --deploy` says about the installation: what works on one machine alone and not where others are to reach it.

An error is something that will fail; a warning is something that will disappoint, or that is away at this moment. Nothing is changed by
looking, and no look takes longer than a few seconds. Acknowledgements have checks of their own (`exams.checks`).
"""

import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from django.conf import settings
from django.contrib.auth.hashers import check_password
from django.core.checks import CheckMessage, Error, Warning, register  # noqa: A004 - Django's name for it
from django.core.files.base import ContentFile
from django.core.files.storage import FileSystemStorage, Storage
from django.db import DatabaseError
from uuid_utils.compat import uuid7

from config.welcome import PASSWORD
from exams.attachments.objects import get_storage

_SECONDS: Final = 2
_LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1"})
_DEMO_PEOPLE: Final = ("admin", "teacher1", "student1")
_ANYWHERE: Final = frozenset({"0.0.0.0", "::"})  # noqa: S104 - compared with, not listened on


@register(deploy=True)
def check_addresses(app_configs: Sequence[Any] | None, **kwargs: Any) -> list[CheckMessage]:
    """Return what will not work for people on other machines, once ALLOWED_HOSTS says that there are any."""
    return list(_find_false_addresses()) if settings.NAMED_HOSTS else []


def _find_false_addresses() -> Iterator[CheckMessage]:
    site = urlsplit(settings.SITE_URL)
    if site.hostname in _LOOPBACK | _ANYWHERE or (settings.HTTPS and site.scheme != "https"):
        yield Warning(
            f"Links in mails lead to {settings.SITE_URL}.",
            hint="SITE_URL is the address by which people reach the site.",
            id="config.W001",
        )
    if settings.HTTPS and not getattr(settings, "SECURE_PROXY_SSL_HEADER", None):
        yield Warning(
            "Every request will be redirected to https for ever: the web server speaks none, and no proxy is believed.",
            hint="TRUST_PROXY=true behind a proxy that sets X-Forwarded-Proto itself.",
            id="config.W002",
        )
    if settings.EMAIL_BACKEND == "django.core.mail.backends.filebased.EmailBackend":
        yield Warning(
            "Mails are written to files, and nobody gets them.", hint="Set EMAIL_URL.", id="config.W003"
        )


@register(deploy=True)
def check_known_passwords(app_configs: Sequence[Any] | None, **kwargs: Any) -> list[CheckMessage]:
    """Return an error when others reach the demo's people, who all have the password that is printed at the start."""
    from gradebook.models import User  # noqa: PLC0415 - models are ready only when a check runs

    if not settings.NAMED_HOSTS:
        return []
    try:
        people = list(User.objects.filter(username__in=_DEMO_PEOPLE, is_active=True))
    except DatabaseError:
        return []  # that it is away is said elsewhere
    known = [person.username for person in people if check_password(PASSWORD, person.password)]
    if not known:
        return []
    return [
        Error(
            f"Everybody knows the password of {', '.join(sorted(known))}, and of all others of the demo school.",
            hint="Begin with an empty database, or switch the accounts off.",
            id="config.E003",
        )
    ]


@register(deploy=True)
def check_proctoring(app_configs: Sequence[Any] | None, **kwargs: Any) -> list[CheckMessage]:
    """Return a warning when a proctoring service's token would travel in the clear, or there is none."""
    if not settings.PROCTORING_URL:
        return []
    is_open = urlsplit(settings.PROCTORING_URL).scheme != "https"
    if settings.PROCTORING_TOKEN and not is_open:
        return []
    what = "in the clear" if is_open else "without a token: the service cannot know who calls"
    return [
        Warning(
            f"The proctoring service is told {what}.",
            hint="An https address in PROCTORING_URL, and PROCTORING_TOKEN.",
            id="config.W004",
        )
    ]


@register(deploy=True)
def check_folders(app_configs: Sequence[Any] | None, **kwargs: Any) -> list[CheckMessage]:
    """Return an error for each folder that could not be written to."""
    folders = {"HANDOVER_DATA": settings.DATA_DIR, "HANDOVER_KEYS": settings.KEYS_DIR}
    return [
        Error(f"{name}: nothing can be written to {folder}.", hint="docs/operations.md.", id="config.E001")
        for name, folder in folders.items()
        if not _is_writable(folder)
    ]


def _is_writable(folder: Path) -> bool:
    """Say whether files could be made there, now or once the folder has been."""
    there = next(place for place in (folder, *folder.parents) if place.exists())
    try:
        with tempfile.TemporaryFile(
            dir=there
        ):  # asking for the rights is not enough: root has them on a read-only disk
            return True
    except OSError:
        return False


@register(deploy=True)
def check_attachments(app_configs: Sequence[Any] | None, **kwargs: Any) -> list[CheckMessage]:
    """Return an error when photographed answers could not be stored: for a bucket, a small object is written and deleted."""
    storage = get_storage()
    try:
        _try_to_store(storage)
    except Exception as error:  # noqa: BLE001 - a bucket's client raises whatever it likes
        said = str(error).strip().partition("\n")[0]
        return [
            Error(
                f"Photographed answers cannot be stored: {said or type(error).__name__}",
                hint="ATTACHMENTS_URL; docs/operations.md, Photographed answers.",
                id="config.E002",
            )
        ]
    return []


def _try_to_store(storage: Storage) -> None:
    if isinstance(storage, FileSystemStorage):
        if not _is_writable(Path(storage.location)):
            raise PermissionError(f"nothing can be written to {storage.location}")
        return
    storage.delete(storage.save(f"check/{uuid7()}", ContentFile(b"written by manage.py check --deploy")))


@register(deploy=True)
def check_redis(app_configs: Sequence[Any] | None, **kwargs: Any) -> list[CheckMessage]:
    """Return a warning when Redis does not answer: each process then counts for itself."""
    if not settings.REDIS_URL:
        return []
    import redis  # noqa: PLC0415 - every process reads this module when it starts, and hardly one looks for Redis

    try:
        with redis.Redis.from_url(
            settings.REDIS_URL, socket_timeout=_SECONDS, socket_connect_timeout=_SECONDS
        ) as client:
            client.ping()
    except (redis.RedisError, OSError) as error:
        return [
            Warning(
                f"REDIS_URL: Redis does not answer ({error}). Until it does, each process limits by itself.",
                id="config.W005",
            )
        ]
    return []


@register(deploy=True)
def check_broker(app_configs: Sequence[Any] | None, **kwargs: Any) -> list[CheckMessage]:
    """Return a warning when the broker does not let us in: until it does, what follows from events waits."""
    if not settings.CELERY_BROKER_URL:
        return []
    from kombu.connection import Connection  # noqa: PLC0415 - as above

    try:
        with Connection(settings.CELERY_BROKER_URL, connect_timeout=_SECONDS) as broker:
            broker.connect()
    except Exception as error:  # noqa: BLE001 - each transport has errors of its own
        return [
            Warning(
                f"CELERY_BROKER_URL: the broker does not answer ({error}). Until it does, mails and webhooks wait.",
                id="config.W006",
            )
        ]
    return []
