"""Every shape an event ever had is read for ever: the corpus beside this file holds one stored payload of each version, and is never edited.

A new kind, or a new version of one, brings a file `events/<kind>.<version>.json` with it; an old file stays as it is.
"""

import dataclasses
import json
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db import transaction

import exams.events
import gradebook.events
from outbox.log.publish import Actor, NewEvent, publish
from outbox.log.reading import Position, StoredEvent, read_events
from outbox.log.sequencer import sequence_events
from outbox.log.upcasting import register_upcaster, unregister_upcaster, upcast
from outbox.models.log import ActorType

CORPUS = Path(__file__).parent / "events"
NAMES = sorted(path.stem for path in CORPUS.glob("*.json"))


def _list_facts(*modules: ModuleType) -> Iterator[tuple[str, Any]]:
    """Return the classes of events that say which kind they are, by kind."""
    for module in modules:
        for found in vars(module).values():
            if dataclasses.is_dataclass(found) and isinstance(getattr(found, "kind", None), str):
                yield found.kind, found  # type: ignore[union-attr]


FACTS = dict(_list_facts(exams.events, gradebook.events))


def _store_and_read(kind: str, version: int, payload: dict[str, Any]) -> StoredEvent:
    """Put a payload into the log as the version it is of, and read it as every consumer does."""
    event = NewEvent(
        kind=kind,
        schema_version=version,
        subject=f"{kind}:{uuid4()}",
        subject_version=1,
        actor=Actor(ActorType.WORKER),
        payload=payload,
    )
    with transaction.atomic():
        publish([event])
    sequence_events()
    (stored,) = read_events(Position(), limit=10)
    return stored


def test_every_version_of_every_event_is_in_the_corpus() -> None:
    names = [f"{kind}.{version}" for kind, fact in FACTS.items() for version in range(1, fact.version + 1)]
    assert sorted(names) == NAMES


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("name", NAMES)
def test_a_stored_event_of_any_version_is_read_as_the_newest(name: str) -> None:
    kind, _, version = name.partition(".")
    fact, payload = FACTS[kind], json.loads((CORPUS / f"{name}.json").read_text(encoding="utf-8"))
    stored = _store_and_read(kind, int(version), payload)
    assert stored.schema_version == fact.version
    members = {field.name: field for field in dataclasses.fields(fact)}
    needed = {each for each, field in members.items() if field.default is dataclasses.MISSING}
    assert needed <= stored.payload.keys() <= members.keys()
    assert {each: stored.payload[each] for each in payload} == payload  # nothing that was said is lost


@pytest.mark.django_db(transaction=True)
def test_a_result_of_the_first_version_says_nothing_of_questions_and_classes() -> None:
    payload = json.loads((CORPUS / "SubmissionGraded.1.json").read_text(encoding="utf-8"))
    stored = _store_and_read("SubmissionGraded", 1, payload)
    assert stored.payload == payload | {"revision": None, "points": [], "out_of": [], "classes": []}


def test_versions_are_read_one_step_at_a_time_and_what_was_stored_is_left_alone() -> None:
    kind, stored = f"Kind{uuid4()}", {"id": str(UUID(int=1))}
    register_upcaster(kind, version=1, upcast=lambda payload: payload | {"steps": 1})
    register_upcaster(kind, version=2, upcast=lambda payload: payload | {"steps": payload["steps"] + 1})
    try:
        assert upcast(kind, 1, stored) == (3, stored | {"steps": 2})
        assert upcast(kind, 3, stored) == (3, stored)
        assert stored == {"id": str(UUID(int=1))}
        with pytest.raises(ValueError, match=f"Two ways to read version 2 of {kind}"):
            register_upcaster(kind, version=2, upcast=dict)
    finally:
        unregister_upcaster(kind, version=1)
        unregister_upcaster(kind, version=2)
