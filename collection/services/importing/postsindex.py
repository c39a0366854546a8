"""Columns that are made of a collection's rows, in parts, so that memory does not grow with their number."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import polars as pl

from arqlab.ir.slices import in_slices
from collection.models import Collection, Post
from collection.services.columns import name_columns, store_file
from collection.services.importing.parts import Parts

PART = 25_000
"""Rows that are in memory at once, but for those of some parts that are read ahead when they are put together."""
POSTS_SCHEMA = {"post_id": pl.String, "type": pl.String, "thread_id": pl.String}


def index_posts(collection: Collection) -> None:
    """Store which posts of a collection are searched, and have it name that file."""
    posts = Post.objects.filter(collection=collection, is_searched=True).order_by("pk")
    rows = posts.values_list("post_id", "kind", "thread_id").iterator(PART)
    name = store_frames(slug=collection.slug, what="posts", frames=_frames(rows))
    name_columns(collection, posts_index=name)


def _frames(rows: Iterator[tuple[str, str, str]]) -> Iterator[pl.DataFrame]:
    for some in in_slices(rows, size=PART):
        yield pl.DataFrame(some, schema=POSTS_SCHEMA, orient="row")


def store_frames(*, slug: str, what: str, frames: Iterable[pl.DataFrame]) -> str:
    """Store frames as one Parquet file; gives its name, empty where there is no frame."""
    with TemporaryDirectory() as folder:
        parts = Parts(Path(folder, "parts"))
        for frame in frames:
            parts.add(frame)
        if not parts.count:
            return ""
        whole = Path(folder, "whole.parquet")
        parts.write(whole)
        return store_file(slug=slug, what=what, path=whole)
