"""Storage of files while they are uploaded, and refusal of requests that are too large."""

import errno
from pathlib import Path
from typing import IO

from django.conf import settings
from django.core.exceptions import RequestDataTooBig
from django.core.files.temp import NamedTemporaryFile
from django.core.files.uploadedfile import TemporaryUploadedFile, UploadedFile
from django.core.files.uploadhandler import FileUploadHandler, TemporaryFileUploadHandler

from arqlab.core.selectors import largest_request, room_for_files
from arqlab.labs.permissions import labs_organized_by, may_create_labs
from arqlab.web.pages import page_of


class IncomingFile(TemporaryUploadedFile):
    """A file in the folder `incoming`, which is deleted when it is closed."""

    def __init__(
        self,
        name: str | None,
        content_type: str | None,
        charset: str | None,
        extra: dict[str, bytes] | None,
    ) -> None:
        folder = Path(settings.MEDIA_ROOT) / "incoming"
        folder.mkdir(parents=True, exist_ok=True)
        file = NamedTemporaryFile(suffix=".upload", dir=folder)
        UploadedFile.__init__(self, file, name, content_type, 0, charset, extra)


class IncomingFileUploadHandler(TemporaryFileUploadHandler):
    """Stores files beside those that are kept, from where loads move them without a copy.

    Django's is /tmp, which may be in memory or too small for a data dump of gigabytes. A request is
    refused before any of its bytes is stored if it is larger than its page takes.
    """

    def handle_raw_input(
        self,
        input_data: IO[bytes],
        META: dict[str, str],  # noqa: N803  # Django's name
        content_length: int,
        *_: object,
    ) -> None:
        """Raise `RequestDataTooBig`, or `OSError` if the disk has no room for the request."""
        room = room_for_files()
        limit = largest_request()
        if content_length > limit and self._may_load():
            limit = content_length
        if content_length > limit:
            raise RequestDataTooBig(f"{content_length} bytes were sent; the limit is {limit}.")
        if content_length > room:
            raise OSError(
                errno.ENOSPC, f"{content_length} bytes were sent; the disk has room for {room}"
            )

    def new_file(
        self,
        field_name: str,
        file_name: str,
        content_type: str,
        content_length: int | None,
        charset: str | None = None,
        content_type_extra: dict[str, bytes] | None = None,
    ) -> None:
        """Create the file."""
        details = (content_type, content_length, charset, content_type_extra)
        FileUploadHandler.new_file(self, field_name, file_name, *details)
        self.file = IncomingFile(file_name, content_type, charset, content_type_extra)

    def _may_load(self) -> bool:
        """Return whether the request is a load of an organizer or of a creator of labs."""
        request = self.request
        if request is None or not page_of(request).takes_loads:
            return False
        return may_create_labs(request.user) or labs_organized_by(request.user).exists()
