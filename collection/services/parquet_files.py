"""Parquet files in the storage that rows of the database refer to.

A file name contains a digest of the content, so readers may cache a file by its name. A replaced
file is deleted after the commit; files that killed workers left behind are deleted later.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import polars as pl
from django.apps import apps
from django.core.files import File
from django.core.files.storage import default_storage
from django.db import models, transaction

from collection.models import Collection

FOLDER = "collections"
ORPHAN_AGE = timedelta(days=1)
"""The age from which an unused file is deleted.

A file is stored before the row that refers to it is committed, but never this long before.
"""


def store_file(*, slug: str, what: str, path: Path) -> str:
    """Store a Parquet file under a name that is unique to its content. Return the name."""
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
        file.seek(0)
        return default_storage.save(f"{FOLDER}/{slug}-{what}-{digest[:12]}.parquet", File(file))


def store_frame(*, slug: str, what: str, frame: pl.DataFrame) -> str:
    """Store a frame as a Parquet file. Return the name."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "columns.parquet"
        frame.write_parquet(path)
        return store_file(slug=slug, what=what, path=path)


def replace_files(collection: Collection, **names: str) -> None:
    """Set file fields of a collection ("" for no file). Delete replaced files after the commit."""
    for field, name in names.items():
        replaced = str(getattr(collection, field).name or "")
        setattr(collection, field, name)
        if replaced and replaced != name:
            transaction.on_commit(partial(default_storage.delete, replaced))
    collection.save(update_fields=list(names))


def delete_unused_files(*, at: datetime) -> int:
    """Delete the Parquet files that are unused and older than a day. Return their number."""
    used = set(_used_files())
    deleted = 0
    for name in default_storage.listdir(FOLDER)[1] if default_storage.exists(FOLDER) else ():
        path = f"{FOLDER}/{name}"
        if name.endswith(".parquet") and path not in used and _is_old(path, at):
            default_storage.delete(path)
            deleted += 1
    return deleted


def _is_old(path: str, at: datetime) -> bool:
    try:
        return default_storage.get_modified_time(path) < at - ORPHAN_AGE
    except FileNotFoundError:  # another worker or a commit deleted it
        return False


def _used_files() -> Iterator[str]:
    """Yield the names in all file fields of the app's models."""
    for model in apps.get_app_config("collection").get_models():
        for field in model._meta.get_fields():
            if isinstance(field, models.FileField):
                yield from model._default_manager.exclude(**{field.name: ""}).values_list(
                    field.name, flat=True
                )
