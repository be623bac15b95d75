"""Where photographed answers are kept, by one address."""

import subprocess
import sys
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from config.attachment_storage import read_attachment_storage
from outbox.effects.registry import LEASE_SECONDS

FOLDER = Path("/data/attachments")
ROOT = Path(__file__).resolve().parents[2]


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
    url = "s3://photos/handover/2026?endpoint_url=https%3A//s3.example.org&region_name=eu-north-1&addressing_style=path"

    entry = read_attachment_storage(url, FOLDER)

    spoken = entry["OPTIONS"].pop("client_config")
    assert entry == {
        "BACKEND": "storages.backends.s3.S3Storage",
        "OPTIONS": {
            "bucket_name": "photos",
            "location": "handover/2026",
            "default_acl": None,
            "file_overwrite": False,
            "endpoint_url": "https://s3.example.org",
            "region_name": "eu-north-1",
        },
    }
    assert (spoken.s3, spoken.signature_version) == ({"addressing_style": "path"}, None)


def test_a_call_to_a_silent_bucket_ends_before_the_lease_of_an_effect() -> None:
    spoken = read_attachment_storage("s3://photos", FOLDER)["OPTIONS"]["client_config"]

    tries = spoken.retries["total_max_attempts"]
    longest_pauses = sum(2**number for number in range(tries - 1))
    assert tries * (spoken.connect_timeout + spoken.read_timeout) + longest_pauses < LEASE_SECONDS


def test_a_bucket_without_the_packages_for_it_says_how_to_install_them() -> None:
    """In a process that cannot find them, as on a machine without them."""
    program = (
        "import sys; sys.modules['boto3'] = None\n"
        "from pathlib import Path; from config.attachment_storage import read_attachment_storage\n"
        "read_attachment_storage('s3://photos', Path())"
    )
    run = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert run.stderr.splitlines()[-1] == (
        "django.core.exceptions.ImproperlyConfigured: ATTACHMENTS_URL names a bucket, and what speaks with one is not installed: "
        "pip install --require-hashes -r requirements/base.txt -r requirements/s3.txt"
    )


@pytest.mark.parametrize(
    "url",
    ["photos", "https://photos.example.org", "s3://", "s3://photos?region=x", "s3://photos?region_name"],
)
def test_an_address_that_cannot_be_meant_is_refused_by_the_settings_name(url: str) -> None:
    with pytest.raises(ImproperlyConfigured, match="ATTACHMENTS_URL"):
        read_attachment_storage(url, FOLDER)
