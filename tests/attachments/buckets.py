"""A bucket that speaks S3: a server of its own in a process on loopback (moto's), reached by the same clients as any other."""

import contextlib
import socket
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import boto3

from tests.serving import find_free_port
from tests.waiting import wait_until

NAME = "photos"
KEYS = {"AWS_ACCESS_KEY_ID": "a key", "AWS_SECRET_ACCESS_KEY": "a secret"}


class BucketServer:
    """The server, on a free port of the loopback, with one empty bucket."""

    def __init__(self) -> None:
        self.port = find_free_port()
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def endpoint(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def url(self) -> str:
        """The value of ATTACHMENTS_URL for it."""
        return (
            f"s3://{NAME}/handover?endpoint_url={self.endpoint}&region_name=us-east-1&addressing_style=path"
        )

    @property
    def client(self) -> Any:
        """A client that is none of ours."""
        keys = {name.lower(): value for name, value in KEYS.items()}
        return boto3.client("s3", endpoint_url=self.endpoint, region_name="us-east-1", **keys)

    def start(self) -> None:
        """Start it, and make the bucket."""
        self._process = subprocess.Popen(
            [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(self.port)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        wait_until(self._listens)
        self.client.create_bucket(Bucket=NAME)

    def stop(self) -> None:
        """End it, and with it all that it held."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def list_keys(self) -> list[str]:
        """Return what is in the bucket, whatever anybody says."""
        return [found["Key"] for found in self.client.list_objects_v2(Bucket=NAME).get("Contents", [])]

    def empty(self) -> None:
        """Remove everything."""
        for key in self.list_keys():
            self.client.delete_object(Bucket=NAME, Key=key)

    def _listens(self) -> bool:
        with (
            contextlib.suppress(OSError),
            socket.create_connection(("127.0.0.1", self.port), timeout=1),
        ):
            return True
        return False


@contextlib.contextmanager
def bucket_server() -> Iterator[BucketServer]:
    """Run one for the length of the block."""
    server = BucketServer()
    try:
        server.start()
        yield server
    finally:
        server.stop()
