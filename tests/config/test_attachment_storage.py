"""Where photographed answers are kept, by one address."""

from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from config.attachment_storage import read_attachment_storage

FOLDER = Path("/data/attachments")


def test_without_an_address_they_are_in_a_folder_only_its_owner_reads() -> None:
    assert read_attachment_storage("", FOLDER) == {
        "BACKEND": "exams.attachments.folder.DurableFolder",
        "OPTIONS": {
            "location": "/data/attachments",
            "file_permissions_mode": 0o600,
            "directory_permissions_mode": 0o700,
        },
    }


def test_a_bucket_is_named_with_its_prefix_and_where_it_is() -> None:
    url = "s3://photos/handover/2026?endpoint_url=https%3A//s3.example.org&region_name=eu-north-1"

    assert read_attachment_storage(url, FOLDER) == {
        "BACKEND": "storages.backends.s3.S3Storage",
        "OPTIONS": {
            "bucket_name": "photos",
            "location": "handover/2026",
            "default_acl": None,
            "file_overwrite": False,
            "querystring_auth": True,
            "endpoint_url": "https://s3.example.org",
            "region_name": "eu-north-1",
        },
    }


@pytest.mark.parametrize(
    "url",
    ["photos", "https://photos.example.org", "s3://", "s3://photos?region=x", "s3://photos?region_name"],
)
def test_an_address_that_cannot_be_meant_is_refused_by_the_settings_name(url: str) -> None:
    with pytest.raises(ImproperlyConfigured, match="ATTACHMENTS_URL"):
        read_attachment_storage(url, FOLDER)
