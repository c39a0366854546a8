"""What is read of a collection: its columns of ids, kept in the process, and its posts."""

from __future__ import annotations

from functools import lru_cache
from io import BytesIO

import polars as pl
from django.core.files.storage import FileSystemStorage, default_storage, storages
from django.db.models import QuerySet
from django.db.models.fields.files import FieldFile

from arqlab.core.models import Lab
from collection.models import Collection, Post

# A collection is loaded anew under a new name, so an entry never goes stale. The columns of the whole Math Stack
# Exchange take about a gigabyte, so few are kept.
KEPT_FRAMES = 4


def collection_of(lab: Lab) -> Collection | None:
    """Give the collection that a lab searches, if it has one."""
    return Collection.objects.filter(labs=lab).first()


def posts_frame(lab: Lab) -> pl.DataFrame | None:
    """Give post_id, type (question or answer) and thread_id of the lab's posts; None when they were not loaded."""
    found = collection_of(lab)
    return _frame(found.pk, str(found.posts_index.name)) if found and found.posts_index else None


def formulas_frame(lab: Lab) -> pl.DataFrame | None:
    """Give formula_id, post_id, thread_id, type and visual_id (may be null) of the lab's formulas; None without them."""
    found = collection_of(lab)
    return _frame(found.pk, str(found.formulas_index.name)) if found and found.formulas_index else None


def visual_ids(lab: Lab) -> pl.DataFrame | None:
    """Give formula_id and visual_id of the formulas whose visual id is known; None without formulas."""
    formulas = formulas_frame(lab)
    return None if formulas is None else formulas.select("formula_id", "visual_id").drop_nulls()


def thread_of(collection: Collection, post_id: str) -> QuerySet[Post]:
    """Give the posts of a post's thread, the question first; none when the collection does not hold the post."""
    thread = Post.objects.filter(collection=collection, post_id=post_id).values("thread_id")[:1]
    return Post.objects.filter(collection=collection, thread_id__in=thread).order_by("-kind", "pk")


def scan_columns(file: FieldFile | str) -> pl.LazyFrame:
    """Open columns in the storage without reading more of them than is asked for, where its files are local."""
    storage = storages["default"]
    if isinstance(storage, FileSystemStorage):
        return pl.scan_parquet(storage.path(str(file)))
    with storage.open(str(file), "rb") as opened:
        return pl.scan_parquet(BytesIO(opened.read()))


@lru_cache(maxsize=KEPT_FRAMES)
def _frame(collection_id: int, name: str) -> pl.DataFrame:
    with default_storage.open(name, "rb") as file:
        return pl.read_parquet(BytesIO(file.read()))
