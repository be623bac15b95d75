"""django-tasks-db: `python django_tasks_peer.py install | fill | work`. A project of one file."""

import sys
from urllib.parse import unquote, urlsplit

import django
import work
from django.conf import settings

address = urlsplit(work.DATABASE)  # postgres://role@%2Ffolder%2Fof%2Fthe%2Fsocket/name
sys.modules.setdefault("django_tasks_peer", sys.modules[__name__])  # a worker finds the task by this name
if not settings.configured:
    settings.configure(
        SECRET_KEY="only-for-a-benchmark",
        INSTALLED_APPS=["django.contrib.contenttypes", "django.contrib.auth", "django_tasks_db"],
        DATABASES={
            "default": {
                "ENGINE": "django.db.backends.postgresql",
                "NAME": address.path[1:],
                "USER": unquote(address.username or ""),
                "HOST": unquote(address.netloc.rpartition("@")[2]),
            }
        },
        TASKS={"default": {"BACKEND": "django_tasks_db.DatabaseBackend"}},
        USE_TZ=True,
    )
    django.setup()

from django.core.management import call_command  # noqa: E402
from django.db import connection  # noqa: E402
from django_tasks import task  # noqa: E402


@task()
def grade(submission_id):
    connection.ensure_connection()
    work.do(connection.connection, submission_id)


def fill():
    for each in work.list_submissions():
        grade.enqueue(each)


if __name__ == "__main__":
    {
        "install": lambda: call_command("migrate", verbosity=0),
        "fill": fill,
        "work": lambda: call_command(
            "db_worker", verbosity=0, startup_delay=False, interval=0.1, reload=False
        ),
    }[sys.argv[1]]()
