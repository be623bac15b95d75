"""Where photographed answers are kept, from one address: a folder of this machine, or a bucket that speaks S3.

    s3://bucket/prefix?endpoint_url=https://s3.example.org&region_name=eu-north-1

Credentials come as S3 clients find them (AWS_ACCESS_KEY_ID and its kin, an instance's role), never from the address.
"""

from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from django.core.exceptions import ImproperlyConfigured

_S3_OPTIONS = {"endpoint_url", "region_name", "addressing_style", "signature_version"}
# All tries of a call together take less than the lease of an effect. Checksums that only Amazon knows are not asked of others; what arrives is compared
# with the digest it was announced by.
_PATIENCE = {
    "connect_timeout": 3,
    "read_timeout": 10,
    "retries": {"mode": "standard", "total_max_attempts": 3},
    "request_checksum_calculation": "when_required",
    "response_checksum_validation": "when_required",
}


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
    if find_spec("storages") is None or find_spec("boto3") is None:
        raise ImproperlyConfigured(
            "ATTACHMENTS_URL names a bucket, and what speaks with one is not installed: "
            "pip install --require-hashes -r requirements/base.txt -r requirements/s3.txt"
        )
    return {
        "BACKEND": "storages.backends.s3.S3Storage",
        "OPTIONS": {
            "bucket_name": parts.hostname,
            "location": parts.path.strip("/"),
            "default_acl": None,
            "file_overwrite": False,
            "client_config": _make_client_config(options),
            **_pick(options, "endpoint_url", "region_name"),
        },
    }


def _make_client_config(options: Mapping[str, str]) -> Any:
    from botocore.config import Config  # noqa: PLC0415 - installed only where a bucket is used

    return Config(
        **_PATIENCE,
        s3=_pick(options, "addressing_style"),
        **_pick(options, "signature_version"),
    )


def _pick(options: Mapping[str, str], *names: str) -> dict[str, str]:
    return {name: options[name] for name in names if name in options}
