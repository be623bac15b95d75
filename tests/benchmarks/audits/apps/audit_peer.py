"""One library at work: `python audit_peer.py LIBRARY`. Takes an order a line and answers each with a line of JSON.

`install STUDENTS COLUMNS` makes the tables and a class whose every cell has a mark; `edit COUNT` changes one cell after the other and
answers with the seconds of each; `drawer COUNT` lists the newest changes so many times, likewise; `queries` counts what such a list asks.

What is asked of every library: the mark as a view finds it, its new value, and the change kept with who and when, durably.
"""

import importlib
import json
import os
import sys
import time
import uuid
from decimal import Decimal
from urllib.parse import unquote, urlsplit

import django
from django.conf import settings

NAME = sys.argv[1]
APPS = {
    "auditlog": ["auditlog"],
    "pghistory": ["pgtrigger", "pghistory"],
    "reversion": ["reversion"],
    "simple_history": ["simple_history"],
}
PAGE_SIZE = 50
STEP = 7  # from one edited cell to the next
address = urlsplit(os.environ["PEER_DATABASE"])  # postgres://role@%2Ffolder%2Fof%2Fthe%2Fsocket/name
settings.configure(
    SECRET_KEY="only-for-a-benchmark",
    INSTALLED_APPS=[
        *("django.contrib.contenttypes", "django.contrib.auth", "school"),
        *APPS[NAME],
        f"with_{NAME}",
    ],
    DATABASES={
        "default": {
            "ENGINE": "django.db.backends.postgresql",
            "NAME": address.path[1:],
            "USER": unquote(address.username or ""),
            "HOST": unquote(address.netloc.rpartition("@")[2]),
        }
    },
    DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
    PGTRIGGER_MIGRATIONS=False,
    USE_TZ=True,
)
django.setup()

from django.contrib.auth.models import User  # noqa: E402
from django.core.management import call_command  # noqa: E402
from django.db import connection  # noqa: E402
from django.test.utils import CaptureQueriesContext  # noqa: E402
from school.models import Column, Sheet, Student  # noqa: E402

audit = importlib.import_module(f"with_{NAME}.audit")
Mark = audit.Mark


class Classroom:
    """The class, and the teacher who edits it."""

    def __init__(self):
        self.sheet = Sheet.objects.get()
        self.teacher = User.objects.get()
        self.cells = list(Mark.objects.order_by("pk").values_list("column_id", "student_id"))
        self.edits = 0

    def edit(self):
        """Change the next cell; return the seconds it took."""
        self.edits += 1
        column, student = self.cells[self.edits * STEP % len(self.cells)]
        value = Decimal(self.edits % 97)  # so that the next time round it is another one
        begin = time.perf_counter()
        mark = Mark.objects.get(sheet=self.sheet, column_id=column, student_id=student)
        mark.value = value
        mark.version = mark.shown_version = mark.version + 1
        mark.updated_by = self.teacher
        audit.save(mark, self.teacher)
        return time.perf_counter() - begin

    def open_drawer(self):
        """List the newest changes; return the seconds it took."""
        begin = time.perf_counter()
        lines = audit.list_changes(self.sheet, PAGE_SIZE)
        seconds = time.perf_counter() - begin
        assert len(lines) == PAGE_SIZE
        return seconds


def install(students, columns):
    """Make the tables, the class, its teacher and a mark in every cell."""
    call_command("migrate", verbosity=0)
    # The models here have no migrations, and refer to tables of some that have.
    call_command("migrate", run_syncdb=True, verbosity=0)
    if NAME == "pghistory":
        import pgtrigger

        pgtrigger.install()
    sheet = Sheet.objects.create(title="Mathematics")
    teacher = User.objects.create_user("teacher", first_name="Tom", last_name="Teacher")
    school = uuid.uuid4()
    people = [Student.objects.create(name=f"Student {number}") for number in range(students)]
    heads = [Column.objects.create(sheet=sheet, title=f"Quiz {number}") for number in range(columns)]
    Mark.objects.bulk_create(
        Mark(
            school_id=school,
            sheet=sheet,
            column=head,
            student=person,
            value=100,
            source="teacher",
            version=1,
            shown_version=1,
            updated_by=teacher,
        )
        for head in heads
        for person in people
    )


def count_queries(room):
    """Return how many queries the drawer is."""
    with CaptureQueriesContext(connection) as queries:
        room.open_drawer()
    return len(queries)


def serve():
    """Answer until there are no more orders."""
    room = None
    for line in sys.stdin:
        order, *numbers = line.split()
        numbers = [int(number) for number in numbers]
        answer = None
        if order == "install":
            install(*numbers)
            room = Classroom()
        elif order == "edit":
            answer = [room.edit() for _ in range(*numbers)]
        elif order == "drawer":
            answer = [room.open_drawer() for _ in range(*numbers)]
        elif order == "queries":
            answer = count_queries(room)
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    serve()
