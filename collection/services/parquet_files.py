"""Columns beside the database: Parquet files in the storage, and the sweep of those that no row
names any more.

A name holds a digest of its file's content, so that readers may keep what they read by its name. A
replaced file is removed after the commit; what a worker that was killed left behind is swept.
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
"""A file is stored before the row that names it is committed; no import takes this long to commit
one.
"""


def store_file(*, slug: str, what: str, path: Path) -> str:
    """Store a Parquet file under a name that no other content has; gives the name."""
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
        file.seek(0)
        return default_storage.save(f"{FOLDER}/{slug}-{what}-{digest[:12]}.parquet", File(file))


def store_frame(*, slug: str, what: str, frame: pl.DataFrame) -> str:
    """Store a frame as Parquet; gives the name."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "columns.parquet"
        frame.write_parquet(path)
        return store_file(slug=slug, what=what, path=path)


def replace_files(collection: Collection, **names: str) -> None:
    """Have fields of a collection name other files (empty: none), and remove the replaced ones
    after the commit.
    """
    for field, name in names.items():
        replaced = str(getattr(collection, field).name or "")
        setattr(collection, field, name)
        if replaced and replaced != name:
            transaction.on_commit(partial(default_storage.delete, replaced))
    collection.save(update_fields=list(names))


def delete_unused_files(*, at: datetime) -> int:
    """Remove the column files that no row names and that are older than a day; gives their number."""
    named = set(_named_files())
    swept = 0
    for name in default_storage.listdir(FOLDER)[1] if default_storage.exists(FOLDER) else ():
        path = f"{FOLDER}/{name}"
        if name.endswith(".parquet") and path not in named and _is_old(path, at):
            default_storage.delete(path)
            swept += 1
    return swept


def _is_old(path: str, at: datetime) -> bool:
    try:
        return default_storage.get_modified_time(path) < at - ORPHAN_AGE
    except FileNotFoundError:  # another worker swept it, or a commit removed it
        return False


def _named_files() -> Iterator[str]:
    """Return the names in all file fields of the app: a field that is added later is known at once."""
    for model in apps.get_app_config("collection").get_models():
        for field in model._meta.get_fields():
            if isinstance(field, models.FileField):
                yield from model._default_manager.exclude(**{field.name: ""}).values_list(
                    field.name, flat=True
                )
