"""Fixtures: a rig for each test, with this process's Django, its settings and its watch pointed at it.

A test may do to it what it likes: the next one of the file gets it only when it is whole, and emptied, and else a fresh one.
"""

import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from functools import cache
from pathlib import Path

import pytest
from django.conf import settings as django_settings
from django.db import connections
from pytest_django import Settings

from config.postgres import Cluster
from config.postgres.node import Node
from config.postgres.place import COMMITS_HERE
from exams.gate.durability import QuorumDurability
from exams.gate.session import Session
from exams.receipt_keys import get_key_ring
from outbox.quorum import get_watch
from outbox.quorum.reads import stop_watching
from tests.emptying import empty_what_was_written_to
from tests.quorum.rig import MEMBERS, Rig, make_template, rigging


@pytest.fixture(scope="session")
def template(server: Cluster, django_db_setup: None) -> Node:
    """A stopped server with this worker's test database: migrated and empty."""
    return _make_template(server, _database())


@cache
def _make_template(server: Cluster, database: str) -> Node:
    """Make it once in a process: a fixture that is imported is another one in each module that imports it."""
    return make_template(server, database, Path(tempfile.mkdtemp(prefix="handover-template-")))


class Rigs:
    """Lends a rig, one at a time."""

    def __init__(self, template: Node) -> None:
        self._template = template
        self._running = ExitStack()
        self._rig: Rig | None = None

    def lend(self) -> Rig:
        """Return the one that came back whole, or start another."""
        if self._rig is None:
            self._rig = self._running.enter_context(rigging(self._template, _database()))
        return self._rig

    def take_back(self) -> None:
        """Empty it for the next test; end it when the test has left it otherwise than it was."""
        assert self._rig is not None
        self._rig.thaw()
        if self._rig.is_whole():
            empty_what_was_written_to()
        else:
            self.close()

    def close(self) -> None:
        """End what runs."""
        self._running.close()
        self._rig = None


@pytest.fixture(scope="module")
def rigs(template: Node) -> Iterator[Rigs]:
    """The file's rigs."""
    rigs = Rigs(template)
    yield rigs
    rigs.close()


@pytest.fixture
def rig(rigs: Rigs, transactional_db: None, settings: Settings) -> Iterator[Rig]:
    """A primary `a` and the standbys `b` and `c`; models, services and pages of this process work on the primary."""
    settings.DURABILITY, settings.STANDBYS = "quorum", list(MEMBERS)
    rig = rigs.lend()
    _point_at(rig.hosts)
    yield rig
    stop_watching()
    try:
        rigs.take_back()
    finally:
        _point_back()


@pytest.fixture
def rig_environment(rig: Rig) -> dict[str, str]:
    """The environment for a real process of ours on the rig."""
    return rig.environment


@pytest.fixture
def session(rig: Rig) -> Iterator[Session]:
    """A committer's session on the rig, as the gate has it."""
    session = Session(durability=QuorumDurability(get_watch()), key_id=get_key_ring().signing_id)
    session.connect()
    yield session
    session.close()


def _database() -> str:
    return str(django_settings.DATABASES["default"]["NAME"])


_kept: dict[str, dict[str, object]] = {}


def _point_at(hosts: str) -> None:
    for alias in ("default", "owner"):
        wrapper = connections[alias]
        wrapper.close()
        _kept[alias] = {name: wrapper.settings_dict[name] for name in ("HOST", "OPTIONS")}
        options = {
            **wrapper.settings_dict["OPTIONS"],
            "target_session_attrs": "read-write",
            "connect_timeout": 3,
            "options": COMMITS_HERE,
        }
        wrapper.settings_dict.update(HOST=hosts, OPTIONS=options)


def _point_back() -> None:
    for alias, kept in _kept.items():
        connections[alias].close()
        connections[alias].settings_dict.update(kept)
