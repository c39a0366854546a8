"""Storage of files while they are uploaded, and refusal of requests that are too large."""

import errno
from pathlib import Path
from typing import Any

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

    def __init__(self, name: Any, content_type: Any, charset: Any, extra: Any) -> None:
        folder = Path(settings.MEDIA_ROOT) / "incoming"
        folder.mkdir(parents=True, exist_ok=True)
        file = NamedTemporaryFile(suffix=".upload", dir=folder)
        UploadedFile.__init__(self, file, name, content_type, 0, charset, extra)


class IncomingFileUploadHandler(TemporaryFileUploadHandler):
    """Stores files beside those that are kept, from where loads move them without a copy.

    Django's is /tmp, which may be in memory or too small for a data dump of gigabytes. A request is
    refused before any of its bytes is stored if it is larger than its page takes.
    """

    def handle_raw_input(self, *args: Any, **kwargs: Any) -> None:
        """Raise `RequestDataTooBig`, or `OSError` if the disk has no room for the request."""
        content_length, room = args[2], room_for_files()
        limit = largest_request()
        if content_length > limit and self._may_load():
            limit = content_length
        if content_length > limit:
            raise RequestDataTooBig(f"{content_length} bytes were sent; the limit is {limit}.")
        if content_length > room:
            raise OSError(
                errno.ENOSPC, f"{content_length} bytes were sent; the disk has room for {room}"
            )

    def new_file(self, *args: Any, **kwargs: Any) -> None:
        """Create the file."""
        FileUploadHandler.new_file(self, *args, **kwargs)
        details = (self.file_name, self.content_type, self.charset, self.content_type_extra)
        self.file = IncomingFile(*details)

    def _may_load(self) -> bool:
        """Return whether the request is a load of an organizer or of a creator of labs."""
        request: Any = self.request
        user = request.user
        return page_of(request).takes_loads and (
            may_create_labs(user) or labs_organized_by(user).exists()
        )
