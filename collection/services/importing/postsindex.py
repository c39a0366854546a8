"""The columns of the posts that are searched, read back from the rows in parts, so that memory does not grow with them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory

import polars as pl
from django.core.files import File
from django.core.files.storage import default_storage
from django.db import transaction

from collection.models import Collection, Post

PART = 100_000
"""Rows that are in memory at once."""
POSTS_SCHEMA = {"post_id": pl.String, "type": pl.String, "thread_id": pl.String}


def index_posts(collection: Collection) -> None:
    """Store which posts of a collection are searched, and have it name that file."""
    posts = Post.objects.filter(collection=collection, is_searched=True).order_by("pk")
    rows = posts.values_list("post_id", "kind", "thread_id").iterator(PART)
    name_parquet(collection, "posts_index", "posts", _frames(rows))


def _frames(rows: Iterator[tuple[str, str, str]]) -> Iterator[pl.DataFrame]:
    while some := list(islice(rows, PART)):
        yield pl.DataFrame(some, schema=POSTS_SCHEMA, orient="row")


def name_parquet(collection: Collection, field: str, what: str, frames: Iterable[pl.DataFrame]) -> None:
    """Store frames as one Parquet file, under a name that no other content has, and have a field name it.

    Without frames the field stays as it is. The replaced file is removed after the commit.
    """
    with TemporaryDirectory() as folder:
        parts = []
        for number, frame in enumerate(frames):
            parts.append(Path(folder, f"{number:06}.parquet"))
            frame.write_parquet(parts[-1], compression="lz4")
        if not parts:
            return
        whole = Path(folder, "whole.parquet")
        pl.scan_parquet(parts).sink_parquet(whole, row_group_size=PART)
        with whole.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()[:12]
            file.seek(0)
            replaced = str(getattr(collection, field).name or "")
            if digest not in replaced:
                name = default_storage.save(f"collections/{collection.slug}-{what}-{digest}.parquet", File(file))
                setattr(collection, field, name)
                collection.save(update_fields=[field])
                transaction.on_commit(partial(default_storage.delete, replaced) if replaced else lambda: None)
