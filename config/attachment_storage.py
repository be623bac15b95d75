"""Where photographed answers are kept, from one address: a folder of this machine, or a bucket that speaks S3.

    s3://bucket/prefix?endpoint_url=https://s3.example.org&region_name=eu-north-1

Credentials come as S3 clients find them (AWS_ACCESS_KEY_ID and its kin, an instance's role), never from the address.
"""

from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from django.core.exceptions import ImproperlyConfigured

_S3_OPTIONS = {"endpoint_url", "region_name", "addressing_style", "signature_version"}


def read_attachment_storage(url: str, folder: Path) -> dict[str, Any]:
    """Return the entry of `STORAGES`; no address means the folder. Nobody gets an object but through our own door."""
    if not url:
        return {
            "BACKEND": "exams.attachments.folder.DurableFolder",
            "OPTIONS": {
                "location": str(folder),
                "file_permissions_mode": 0o600,
                "directory_permissions_mode": 0o700,
            },
        }
    parts = urlsplit(url)
    options = dict(parse_qsl(parts.query, keep_blank_values=True))
    if parts.scheme != "s3" or not parts.hostname or options.keys() - _S3_OPTIONS or "" in options.values():
        raise ImproperlyConfigured(
            f"ATTACHMENTS_URL is no address like s3://bucket/prefix?endpoint_url=…; options are {', '.join(sorted(_S3_OPTIONS))}"
        )
    return {
        "BACKEND": "storages.backends.s3.S3Storage",
        "OPTIONS": {
            "bucket_name": parts.hostname,
            "location": parts.path.strip("/"),
            "default_acl": None,
            "file_overwrite": False,
            "querystring_auth": True,
            **options,
        },
    }
