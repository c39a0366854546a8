"""Loading a collection: its ids as columns beside the database, its posts as rows."""

from __future__ import annotations

import hashlib
from datetime import datetime
from io import BytesIO
from itertools import islice
from pathlib import Path

import polars as pl
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.db import transaction

from arqlab.core.errors import UserError
from arqlab.core.models import Lab
from arqlab.ir.collectionfile import read_collection, read_posts
from arqlab.ir.labfile import CollectionFile
from collection.models import Collection, LabCollection, Post

BATCH = 500


@transaction.atomic
def load_collection(*, lab: Lab, file: CollectionFile, at: datetime) -> Collection:
    """Load the collection that a lab's folder names, and have the lab search it.

    A collection whose files were read before is not read again, whichever lab names it.
    Raises `arqlab.ir.records.FileRefusedError` with every problem of the files, and `UserError` when other labs search
    a collection of this slug with other files; nothing is loaded then.
    """
    index = next(iter(file.formulas.values()), None)
    digest = _sha256([path for path in (file.posts, index) if path])
    collection, _ = Collection.objects.get_or_create(slug=file.slug, defaults={"loaded_at": at})
    if collection.source_sha256 != digest:
        _require_own(collection, lab)
        # Both are read before anything is written, so that a refused file leaves no columns behind.
        posts, ids = read_collection(file.posts, index)
        collection.posts_index = _store(file.slug, "posts", digest, posts)
        collection.formulas_index = _store(file.slug, "formulas", digest, ids)
        collection.source_sha256, collection.loaded_at = digest, at
        _replace_posts(collection, file.posts)
    collection.is_complete = file.complete
    collection.save()
    LabCollection.objects.update_or_create(lab=lab, defaults={"collection": collection})
    return collection


def _require_own(collection: Collection, lab: Lab) -> None:
    """Refuse to change what other labs search: their runs were checked against it."""
    others = LabCollection.objects.filter(collection=collection).exclude(lab=lab).select_related("lab")
    if names := ", ".join(found.lab.slug for found in others):
        raise UserError(
            f"The collection {collection.slug} is searched by {names}, and its files differ from this lab's. "
            "Give this lab's collection another slug, or load the same files.",
            code="collection-in-use",
        )


def _sha256(paths: list[Path]) -> str:
    """Give the sha256 over the contents of files, one after the other."""
    whole = hashlib.sha256()
    for path in paths:
        with path.open("rb") as file:
            whole.update(hashlib.file_digest(file, "sha256").digest())
    return whole.hexdigest()


def _store(slug: str, what: str, digest: str, frame: pl.DataFrame | None) -> str:
    """Store columns as Parquet, under a name that no other content has: readers keep frames by it."""
    if frame is None:
        return ""
    buffer = BytesIO()
    frame.write_parquet(buffer)
    return default_storage.save(f"collections/{slug}-{what}-{digest[:12]}.parquet", ContentFile(buffer.getvalue()))


def _replace_posts(collection: Collection, path: Path | None) -> None:
    Post.objects.filter(collection=collection).delete()
    if path is None:
        return
    rows = read_posts(path)
    while batch := list(islice(rows, BATCH)):
        Post.objects.bulk_create(
            Post(
                collection=collection,
                post_id=row.post_id,
                kind=row.kind,
                thread_id=row.thread_id,
                title=row.title,
                body=row.body,
                tags=list(row.tags),
            )
            for row in batch
        )
