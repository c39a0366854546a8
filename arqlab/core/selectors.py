"""The files of the server: how large they may be, and which the database names."""

import shutil
from collections.abc import Iterator
from pathlib import Path

from django.apps import apps
from django.conf import settings
from django.db.models import FileField

from arqkit.formats.archives.unpacking import SPARE
from arqlab.core.models.reading import values_in_chunks

MOST_FILES = 16
"""A request has at most as many bytes as this number of the largest files."""


def largest_request() -> int:
    """Return the most bytes of a request, but for loads of organizers."""
    return settings.DATA_UPLOAD_MAX_MEMORY_SIZE + MOST_FILES * settings.RUN_MAX_BYTES


def room_for_files() -> int:
    """Return how many bytes of files the server can take; some of the disk always stays free."""
    folder = Path(settings.MEDIA_ROOT)
    existing = next(path for path in (folder, *folder.parents) if path.exists())
    return max(0, shutil.disk_usage(existing).free - SPARE)


def named_files(app: str = "", *, using: str = "default") -> Iterator[str]:
    """Yield the names in all file fields of an app's models, or of all, in a database."""
    for model in apps.get_app_config(app).get_models() if app else apps.get_models():
        for field in model._meta.get_fields():
            if isinstance(field, FileField):
                rows = model._base_manager.using(using).exclude(**{field.name: ""})
                yield from (name for (name,) in values_in_chunks(rows, field.name))
