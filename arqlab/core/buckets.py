"""Files in a bucket of an S3-compatible object storage, for servers on several machines.

boto3 finds the address and the credentials where it always does: in `AWS_ENDPOINT_URL_S3`,
`AWS_DEFAULT_REGION`, `AWS_ACCESS_KEY_ID`, …, or in the role of the machine.
"""

import errno
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Concatenate, ParamSpec, TypeVar

from boto3.exceptions import Boto3Error
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError
from django.conf import settings
from django.core.files import File
from storages.backends.s3 import S3Storage

from arqlab.core.files import KeptFiles, Scan

P = ParamSpec("P")
R = TypeVar("R")
IN_MEMORY = 16 * 2**20
"""Bytes of an opened file that stay in memory; a larger one is a temporary file."""
CONFIG = Config(connect_timeout=5, read_timeout=60, retries={"mode": "standard"})
"""boto3 tries three times. What still fails then is tried again as any fault of the server."""


def _told(
    method: "Callable[Concatenate[BucketStorage, P], R]",
) -> "Callable[Concatenate[BucketStorage, P], R]":
    """Return a method whose errors are those of files."""

    @wraps(method)
    def told(self: "BucketStorage", /, *arguments: P.args, **options: P.kwargs) -> R:
        try:
            return method(self, *arguments, **options)
        except (Boto3Error, BotoCoreError, ClientError) as error:
            code = getattr(error, "response", {}).get("Error", {}).get("Code")
            if arguments and code in ("404", "NoSuchKey"):
                raise FileNotFoundError(errno.ENOENT, "no such file", arguments[0]) from error
            raise OSError(errno.EIO, f"the bucket {self.bucket_name}: {error}") from error

    return told


class BucketStorage(KeptFiles, S3Storage):
    """A bucket. What a request has stored is as durable as the object storage is."""

    def __init__(self, **options: object) -> None:
        super().__init__(**options)
        # All threads share one client, as boto3 allows; one for each takes 13 MB a thread.
        self._connections = SimpleNamespace()

    def get_default_settings(self) -> dict[str, object]:
        """Return the settings of django-storages."""
        defaults = {"bucket_name": settings.S3_BUCKET, "file_overwrite": False}
        defaults |= {"max_memory_size": IN_MEMORY, "client_config": CONFIG}
        return {**super().get_default_settings(), **defaults}

    @property
    def bucket(self) -> Any:
        """Return a new bucket object: boto3 resources must not be shared among threads."""
        return self.connection.Bucket(self.bucket_name)

    @property
    def place(self) -> str:  # type: ignore[override]
        """Return the bucket in words."""
        return f"the bucket {self.bucket_name}"

    @_told
    def _open(self, name: str, mode: str = "rb") -> File:
        """Return a file that is read already, so that a fault of the storage shows here."""
        opened: File = super()._open(name, mode)
        opened.open()
        return opened

    _save = _told(S3Storage._save)
    delete = _told(S3Storage.delete)
    exists = _told(S3Storage.exists)
    listdir = _told(S3Storage.listdir)
    size = _told(S3Storage.size)
    get_modified_time = _told(S3Storage.get_modified_time)

    @_told
    def move(self, name: str, to: str) -> None:
        """Copy a file within the storage, and delete the first."""
        self.bucket.copy({"Bucket": self.bucket_name, "Key": name}, to)
        self.delete(name)

    @_told
    def local(self, name: str, path: Path) -> Path:
        """Download a file to the path, and return it."""
        self.bucket.download_file(name, str(path))
        return path

    def scanned(self, name: str) -> Scan:
        """Return the arguments with which polars reads no more of a file than it needs."""
        client = self.connection.meta.client
        options = {"aws_endpoint_url": client.meta.endpoint_url, "aws_allow_http": "true"}
        options |= {"aws_region": client.meta.region_name or "us-east-1"}
        return {"source": f"s3://{self.bucket_name}/{name}", "storage_options": options}

    @_told
    def require(self) -> None:
        """Raise `OSError` if the bucket does not answer to these credentials."""
        self.connection.meta.client.head_bucket(Bucket=self.bucket_name)
