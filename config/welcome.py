"""The last lines of a start: where to go and who to be, printed once everything really answers."""

import contextlib
import time
from collections.abc import Mapping
from importlib.resources import files

import psycopg

from config import settings
from config.probe import find_missing, find_missing_pools
from config.processes.address import reachable, write_place
from config.processes.supervisor import Supervisor

LOOPBACK = ("127.0.0.1", "localhost", "::1")
SECONDS_BETWEEN_LOOKS = 0.5
SECONDS_UNTIL_COMPLAINT = 30.0
PASSWORD = "handover-demo"  # noqa: S105 - printed on purpose: it opens the demo school and nothing else
WALK = "hand in the Mathematics midterm as student1; the mark is in teacher1's sheet of Mathematics 9 in class 9A"
NO_WALK = "its exam has closed since; stop, and HANDOVER_DATA=.data2 make run makes the demo school anew"


class Welcome:
    """Looks at /healthz and the pools in every turn until all is up, then says so and looks no more."""

    def __init__(self, supervisor: Supervisor, database_url: str, *, pools: Mapping[str, str]) -> None:
        self._supervisor = supervisor
        self._database_url = database_url
        self._pools = pools
        self._done = False
        self._look_again_at = 0.0
        self._complain_at = time.monotonic() + SECONDS_UNTIL_COMPLAINT

    def watch(self) -> None:
        """Look, if it is time to."""
        if self._done or time.monotonic() < self._look_again_at:
            return
        self._look_again_at = time.monotonic() + SECONDS_BETWEEN_LOOKS
        missing = [*find_missing(settings.HOST, settings.PORT), *find_missing_pools(self._pools)]
        if not missing:
            self._done = True
            self._supervisor.announce(self._lines())
        elif time.monotonic() > self._complain_at:
            self._complain_at = time.monotonic() + SECONDS_UNTIL_COMPLAINT
            self._supervisor.say(f"Still waiting for: {', '.join(missing)}")

    def _lines(self) -> list[str]:
        here = f"http://{write_place(reachable(settings.HOST), settings.PORT)}"
        return [
            f"  Handover is up at {here}/",
            "",
            *self._people(here),
            f"  API        {here}/api/v1/docs",
            f"  data       {settings.DATA_DIR}",
            *self._warnings(),
            "",
            "  Ctrl-C stops everything.",
        ]

    def _people(self, here: str) -> list[str]:
        with contextlib.suppress(psycopg.Error), psycopg.connect(self._database_url) as connection:
            return list_people(here, can_walk=find_walk(connection))
        return []

    def _warnings(self) -> list[str]:
        if settings.HOST in LOOPBACK:
            return []
        return [
            "  Others on this network can reach it, and it speaks plain HTTP: put a TLS proxy in front, and set HTTPS=true."
        ]


def find_walk(connection: psycopg.Connection) -> bool | None:
    """Return whether the demo's walk can be walked now; None where there is no demo school."""
    query = files(__package__).joinpath("sql", "find_demo_walk.sql").read_bytes()
    row = connection.execute(query).fetchone()
    return None if row is None else row[0]


def list_people(here: str, *, can_walk: bool | None) -> list[str]:
    """Return who one can be, and what to try; after a night the demo's exam is over, and to say "hand it in" would be wrong."""
    if can_walk is None:
        return []
    return [
        f"  students   student1, student2, …   {here}/exams/",
        f"  teachers   teacher1, teacher2, …   {here}/marksheets/",
        f"  admin      admin                   {here}/admin/",
        f"  password   {PASSWORD}           (the demo school's, for all of them)",
        f"  the walk   {WALK if can_walk else NO_WALK}",
    ]
