"""The test databases of the workers: migrated once for the run, and copied for each of them.

The migrations take seconds of both Python and PostgreSQL. The first worker that needs a database applies them to the server's own, which
no test uses, while the others wait; then each copies it, and Django finds nothing left to migrate.
"""

import fcntl
from pathlib import Path

import pytest
from pytest_django.plugin import DjangoDbBlocker

from config.postgres import Cluster
from config.postgres.place import APP_ROLE


@pytest.fixture(scope="session")
def django_db_modify_db_settings(
    request: pytest.FixtureRequest,
    django_db_modify_db_settings_parallel_suffix: None,
    django_db_blocker: DjangoDbBlocker,
    server: Cluster,
) -> None:
    """Have Django copy a migrated database where several workers each need one. Alone, migrating it directly is shorter."""
    from django.db import connection  # noqa: PLC0415 - settings exist only after pytest_configure

    if hasattr(request.config, "workerinput"):
        with django_db_blocker.unblock():
            _migrate_once(server.place.folder)
        connection.settings_dict["TEST"]["TEMPLATE"] = connection.settings_dict["NAME"]


def _migrate_once(folder: Path) -> None:
    """Migrate the server's own database, unless another worker has done it, and leave it: nobody may be in what is copied."""
    from django.core.management import call_command  # noqa: PLC0415
    from django.db import connections  # noqa: PLC0415

    done = folder / "migrated"
    with (folder / "migrating").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not done.exists():
            call_command("migrate", verbosity=0)
            connections.close_all()
            done.touch()


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> None:
    """Give the application's role its rights on the test database, as `manage.py prepare` does."""
    from config.grants import grant_app_role  # noqa: PLC0415 - needs settings, which exist only after pytest_configure

    with django_db_blocker.unblock():
        grant_app_role(APP_ROLE, using="default")
