"""Photographed answers in a bucket that speaks S3: the same way as in a folder, over real HTTP with the clients of the product."""

import io
from collections.abc import Iterator

import pytest
from PIL import Image
from pytest_django import Settings

from config.attachment_storage import read_attachment_storage
from exams.attachments.effects import NAME as RENDER
from exams.attachments.judging import Publication
from exams.attachments.limits import UNUSED_KEPT
from exams.errors import StorageAway
from gradebook.models import User
from outbox.models import EffectReceipt
from tests.attachments import pictures
from tests.attachments.buckets import KEYS, BucketServer, bucket_server
from tests.attachments.clearing import clean_up, let_time_pass
from tests.attachments.relaying import relay_everything
from tests.attachments.renderings import publish, rendered_late, shown
from tests.attachments.senders import CHUNK, Sender, names_in_ledger, objects_of, photo_questions, stands
from tests.attachments.uploading import announce, send
from tests.exams.api.callers import read, with_token
from tests.serving import find_free_port

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(scope="module")
def buckets() -> Iterator[BucketServer]:
    """One server for these tests."""
    with bucket_server() as server:
        yield server


@pytest.fixture
def bucket(buckets: BucketServer, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> BucketServer:
    """The product keeps attachments in this bucket, which is empty."""
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)
    entry = read_attachment_storage(buckets.url, settings.DATA_DIR / "attachments")
    settings.STORAGES = {**settings.STORAGES, "attachments": entry}
    buckets.empty()
    return buckets


def test_photo_is_sent_rendered_and_seen_by_way_of_a_bucket(
    bucket: BucketServer, sender: Sender, student: User
) -> None:
    caller, content = with_token(student), pictures.jpeg(1200, 800, quality=95) + b"\0" * CHUNK

    upload = read(announce(caller, sender, content), 201)["id"]
    read(send(caller, sender, upload, 0, content[:CHUNK]), 200)
    read(send(caller, sender, upload, CHUNK, content[CHUNK:]), 200)
    relay_everything()
    [seen] = read(caller.get(f"attempts/{sender.attempt.pk}/attachments"), 200)
    original, thumbnail = (
        caller.get(seen[f"{name}_url"].removeprefix("/api/v1/")) for name in ("original", "thumbnail")
    )

    assert (seen["state"], seen["is_shown"]) == ("ready", True)
    assert original.content == content
    assert Image.open(io.BytesIO(thumbnail.content)).format == "JPEG"
    assert bucket.list_keys() == sorted(f"handover/{name}" for name in names_in_ledger())


def test_chunk_that_the_bucket_refuses_is_asked_for_later_and_then_kept(
    bucket: BucketServer, sender: Sender, student: User, settings: Settings
) -> None:
    caller, content, good = with_token(student), pictures.jpeg(), settings.STORAGES
    upload = read(announce(caller, sender, content), 201)["id"]
    closed = read_attachment_storage(bucket.url.replace("s3://photos/", "s3://closed/"), settings.DATA_DIR)

    settings.STORAGES = {**good, "attachments": closed}
    refused = send(caller, sender, upload, 0, content)
    settings.STORAGES = good
    stored = read(send(caller, sender, upload, 0, content), 200)

    assert read(refused, 503)["detail"] == StorageAway.__doc__
    assert int(refused["Retry-After"]) > 0
    assert (stored["state"], stored["offset"]) == ("processing", len(content))


def test_in_a_bucket_a_late_version_is_not_shown_and_what_nobody_names_is_deleted(
    bucket: BucketServer, sender: Sender
) -> None:
    second = sender.send(pictures.jpeg(200, 200))
    late = rendered_late(second)
    third = sender.send_and_render(pictures.jpeg(300, 300))
    published = publish(second, late)
    sender.hand_in({str(photo_questions(sender.attempt)[0]): third.sha256})
    clean_up()
    let_time_pass(sender, UNUSED_KEPT)
    clean_up()

    assert (published, shown(third)) == (Publication.KEEP, 2)
    assert [stands(each).state for each in (second, third)] == ["abandoned", "ready"]
    assert objects_of(third) == [("original", "kept"), ("preview", "kept"), ("thumbnail", "kept")]
    assert bucket.list_keys() == sorted(f"handover/{name}" for name in names_in_ledger())
    assert len(names_in_ledger()) == len(objects_of(third))


def test_a_bucket_that_has_lost_a_file_has_it_tried_again(bucket: BucketServer, sender: Sender) -> None:
    version = sender.send(pictures.jpeg())
    bucket.empty()

    relay_everything()

    assert stands(version).state == "processing"
    assert EffectReceipt.objects.values_list("state", "tries").get(effect=RENDER) == ("pending", 1)
    assert "FileNotFoundError" in EffectReceipt.objects.get(effect=RENDER).error


def test_a_bucket_that_is_away_has_the_rendering_tried_again(
    sender: Sender, bucket: BucketServer, settings: Settings
) -> None:
    content = pictures.jpeg()
    version = sender.send(content)
    away = read_attachment_storage(
        f"s3://photos?endpoint_url=http://127.0.0.1:{find_free_port()}", settings.DATA_DIR
    )
    settings.STORAGES = {**settings.STORAGES, "attachments": away}

    relay_everything()

    receipt = EffectReceipt.objects.get(effect=RENDER)
    assert (receipt.state, receipt.tries, stands(version).state) == ("pending", 1, "processing")
    assert receipt.error.startswith("EndpointConnectionError")
