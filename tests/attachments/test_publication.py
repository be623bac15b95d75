"""Which version is shown, whoever renders it and however late."""

import datetime as dt
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.db import connection, transaction
from hypothesis import given
from hypothesis import strategies as st

from exams.attachments.cleanup import sweep_doomed_objects
from exams.attachments.judging import Publication, judge_publication
from exams.attachments.objects import ObjectLost, doom_forgotten, get_storage
from exams.attachments.publication import render_version
from exams.models import VersionState
from tests.attachments import pictures
from tests.attachments.renderings import publish, rendered_late, shown
from tests.attachments.senders import (
    Sender,
    names_in_ledger,
    names_in_storage,
    objects_of,
    read_object,
    stands,
)
from tests.exams.together import at_once
from tests.waiting import wait_until

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_rendered_version_is_ready_and_shown(sender: Sender) -> None:
    version = sender.send_and_render(pictures.jpeg())

    assert (version.state, version.width, version.height) == ("ready", 640, 480)
    assert shown(version) == 1
    assert objects_of(version) == [
        ("part", "doomed"),
        ("original", "kept"),
        ("preview", "kept"),
        ("thumbnail", "kept"),
    ]


def test_rendering_again_changes_nothing(sender: Sender) -> None:
    version = sender.send_and_render(pictures.jpeg())
    before = objects_of(version)

    assert render_version(version.pk) is None

    assert objects_of(version) == before


def test_a_pdf_is_ready_with_its_pages_and_without_pictures(sender: Sender) -> None:
    version = sender.send_and_render(pictures.pdf(3))

    assert (version.state, version.pages, version.width) == ("ready", 3, None)
    assert objects_of(version) == [("part", "doomed"), ("original", "kept")]


@pytest.mark.parametrize("content", [pictures.truncated_jpeg(), pictures.bomb()])
def test_a_file_that_cannot_be_shown_fails_with_words_and_keeps_its_original(
    sender: Sender, content: bytes
) -> None:
    version = sender.send(content)

    why = render_version(version.pk)

    failed = stands(version)
    assert why is not None
    assert (failed.state, failed.problem, failed.diagnosis) == ("failed", why.problem, why.diagnosis)
    assert shown(version) is None
    assert read_object(version, "original") == content


def test_a_late_rendering_of_version_two_never_takes_the_place_of_version_three(sender: Sender) -> None:
    sender.send_and_render(pictures.jpeg(100, 100))
    second = sender.send(pictures.jpeg(200, 200))
    late = rendered_late(second)
    third = sender.send_and_render(pictures.jpeg(300, 300))

    assert publish(second, late) is Publication.KEEP

    assert shown(third) == 3
    assert stands(second).state == "ready"


def test_of_two_renderings_at_once_the_newer_version_is_shown_although_it_commits_first(
    sender: Sender,
) -> None:
    """The older one waits for the newer one's transaction, and decides by what that has left."""
    second = sender.send(pictures.jpeg(200, 200))
    third = sender.send(pictures.jpeg(300, 300))
    late, fresh = rendered_late(second), rendered_late(third)

    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            publish(third, fresh)
            outcome = pool.submit(in_own_connection, lambda: publish(second, late))
            wait_until(somebody_waits_for_a_lock)
        assert outcome.result(timeout=30) is Publication.KEEP

    assert shown(third) == 2
    assert (stands(second).number, stands(third).number) == (1, 2)


def test_of_two_renderings_of_one_version_one_is_kept_and_the_other_goes(sender: Sender) -> None:
    version = sender.send(pictures.jpeg())
    one, other = rendered_late(version, b"one"), rendered_late(version, b"other")

    outcomes = at_once(lambda: publish(version, one), lambda: publish(version, other))

    assert sorted(outcome.name for outcome in outcomes) == ["PUBLISH", "REFUSE"]
    assert sorted(state for role, state in objects_of(version) if role == "preview") == ["doomed", "kept"]


def test_two_whole_renderings_at_once_leave_one_picture_of_each(sender: Sender) -> None:
    version = sender.send(pictures.jpeg())

    assert at_once(lambda: render_version(version.pk), lambda: render_version(version.pk)) == [None, None]

    sweep_doomed_objects()
    assert objects_of(version) == [("original", "kept"), ("preview", "kept"), ("thumbnail", "kept")]
    assert names_in_storage() >= names_in_ledger()


def test_objects_swept_away_before_they_are_published_stop_the_publication(sender: Sender) -> None:
    version = sender.send(pictures.jpeg())
    late = rendered_late(version)
    doom_forgotten(dt.timedelta(0))

    with pytest.raises(ObjectLost):
        publish(version, late)

    assert (stands(version).state, shown(version)) == ("processing", None)
    assert render_version(version.pk) is None
    assert shown(version) == 1


def test_a_renderer_whose_storage_fails_leaves_nothing_behind(sender: Sender) -> None:
    version = sender.send(pictures.jpeg())
    original = version.stored_objects.get(role="original")
    get_storage().delete(original.name)

    with pytest.raises(FileNotFoundError):
        render_version(version.pk)

    assert stands(version).state == "processing"


@given(
    state=st.sampled_from(VersionState.values),
    number=st.integers(1, 5),
    published_number=st.none() | st.integers(1, 5),
)
def test_what_is_shown_never_moves_back(state: str, number: int, published_number: int | None) -> None:
    verdict = judge_publication(state=state, number=number, published_number=published_number)

    if verdict is Publication.PUBLISH:
        assert state == "processing"
        assert number >= (published_number or 0)
    assert (verdict is Publication.REFUSE) == (state != "processing")


def in_own_connection(call: Any) -> Any:
    try:
        return call()
    finally:
        connection.close()


def somebody_waits_for_a_lock() -> bool:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_locks WHERE NOT granted"
        )  # unlike pg_stat_activity it is fresh within a transaction
        return bool(cursor.fetchone()[0])
