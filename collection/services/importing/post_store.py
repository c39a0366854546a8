"""Storing batches of posts: with COPY on PostgreSQL, with bulk inserts elsewhere.

Existing posts are updated, except for their votes, which come from another file.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from django.db import connection

from arqkit.texts.html.dump_posts import FIELDS
from arqlab.core.services.storing import copy_lines, takes_copy
from collection.models import Collection, Post
from collection.services.importing.existing_ids import known_posts

ROWS = 500
"""Rows per INSERT statement without COPY."""

_COLUMNS = ("collection_id", "is_searched", *FIELDS)


class StoredPost(NamedTuple):
    """A post to be stored, with its values from `arqkit.texts.html.dump_posts`."""

    number: int
    is_searched: bool
    values: Any


def store_posts(collection: Collection, posts: Sequence[StoredPost], *, may_exist: bool) -> None:
    """Store posts. Update those that exist, if some `may_exist`."""
    if not posts:
        return
    exist = may_exist and _some_exist(collection, posts)
    if not takes_copy():
        _store_in_bulk(collection, posts, exist=exist)
    elif exist:
        _copy_over(collection, posts)
    else:
        _copy(collection, posts, Post._meta.db_table)


def _some_exist(collection: Collection, posts: Sequence[StoredPost]) -> bool:
    return bool(known_posts(collection, (str(post.number) for post in posts)))


def _store_in_bulk(collection: Collection, posts: Sequence[StoredPost], *, exist: bool) -> None:
    rows = [
        Post(
            collection=collection,
            is_searched=post.is_searched,
            **dict(zip(FIELDS, post.values, strict=True))
            | {"tags": list(post.values[FIELDS.index("tags")])},
        )
        for post in posts
    ]
    if exist:
        changed = ["is_searched", *(name for name in FIELDS if name != "post_id")]
        keys = ["collection", "post_id"]
        Post.objects.bulk_create(
            rows, ROWS, update_conflicts=True, unique_fields=keys, update_fields=changed
        )
    else:
        Post.objects.bulk_create(rows, ROWS)


def _copy(collection: Collection, posts: Sequence[StoredPost], table: str) -> None:
    start = {
        searched: f"{collection.pk}\t{'ft'[searched]}\t".encode() for searched in (False, True)
    }
    lines = b"".join([part for post in posts for part in (start[post.is_searched], post.values)])
    copy_lines(table, _COLUMNS, lines)


def _copy_over(collection: Collection, posts: Sequence[StoredPost]) -> None:
    """Copy the posts into a temporary table, and insert or update them from there."""
    table, incoming, columns = Post._meta.db_table, "incoming_posts", ", ".join(_COLUMNS)
    changes = ", ".join(
        f"{name} = EXCLUDED.{name}" for name in ("is_searched", *FIELDS) if name != "post_id"
    )
    with connection.cursor() as cursor:
        cursor.execute(
            f"CREATE TEMPORARY TABLE {incoming} AS SELECT {columns} FROM {table} WITH NO DATA"  # noqa: S608
        )
        _copy(collection, posts, incoming)
        cursor.execute(
            # Only names from our models are in the text.
            f"INSERT INTO {table} ({columns}) SELECT {columns} FROM {incoming} "  # noqa: S608
            f"ON CONFLICT (collection_id, post_id) DO UPDATE SET {changes}"
        )
        cursor.execute(f"DROP TABLE {incoming}")
