"""The Parquet file of a collection's searched posts, written in parts to bound memory."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import polars as pl

from arqkit.formats.batches import in_slices
from collection.models import Collection, Post
from collection.services.importing.parquet_parts import Parts
from collection.services.parquet_files import replace_files

PART = 25_000
"""Rows per part, and the number of rows in memory while the parts are written."""
POSTS_SCHEMA = {"post_id": pl.String, "type": pl.String, "thread_id": pl.String}


def write_posts_index(collection: Collection) -> None:
    """Store the searched posts of a collection as its posts index."""
    posts = Post.objects.filter(collection=collection, is_searched=True).order_by("pk")
    rows = posts.values_list("post_id", "kind", "thread_id").iterator(PART)
    with TemporaryDirectory() as folder:
        parts = Parts(Path(folder, "parts"))
        for some in in_slices(rows, size=PART):
            parts.add(pl.DataFrame(some, schema=POSTS_SCHEMA, orient="row"))
        name = parts.store(slug=collection.slug, what="posts")
    replace_files(collection, posts_index=name)
