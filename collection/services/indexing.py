"""Updating the search indexes: the words of posts, and the symbol pairs of formulas.

Indexing is not part of an import. The database shows what needs indexing: collections whose posts
changed since their index was complete, and the newest visual ids without an index of symbol pairs.
An interruption at any time loses nothing.
"""

import time
from collections.abc import Iterable, Iterator
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

import polars as pl
from django.db import transaction
from django.db.models import Exists, F, Max, Min, OuterRef, Q, QuerySet
from django.utils import timezone

from arqkit.formulas.similarity import GROUP, pair_index
from arqkit.texts.posts.text import plain_text, words
from collection.models import Collection, Post, PostWords, TextIndex, VisualMap
from collection.selectors.collections import scan_columns
from collection.selectors.search import collection_facet, kind_facet, tag_facet
from collection.services.importing.import_records import Progress
from collection.services.parquet_files import store_file

BATCH = 1000  # the size of a range of post keys
# Characters; PostgreSQL takes about a megabyte of different words.
MAX_TITLE_LENGTH, MAX_BODY_LENGTH = 5_000, 500_000
SMALL = 50_000  # the number of posts or formulas up to which a user can wait for the index
INDEX_CLAIM = timedelta(hours=1)
"""A process that builds an index of pairs counts as dead after this time.

Nine million formulas take a quarter of it.
"""


def index_posts(
    *, collection: Collection, seconds: float | None = None, progress: Progress | None = None
) -> int:
    """Index the searched posts that lack words, for some seconds at most. Return their number."""
    state, _ = TextIndex.objects.get_or_create(collection=collection)
    end, done = time.monotonic() + seconds if seconds is not None else None, 0
    for first in _ranges(collection):
        done += _index_batch(collection, first)
        if progress and done:
            progress(done, None)
        if end is not None and time.monotonic() > end:
            return done
    # If posts changed during the loop, `changes` has grown, and the index stays incomplete.
    TextIndex.objects.filter(pk=state.pk, changes=state.changes).update(indexed=F("changes"))
    return done


def index_if_small(*, collection: Collection) -> None:
    """Index a small collection now. The periodic task indexes larger ones."""
    if Post.objects.filter(collection=collection)[: SMALL + 1].count() > SMALL:
        TextIndex.objects.get_or_create(collection=collection)
    else:
        index_posts(collection=collection)


def unindexed_collections() -> QuerySet[Collection]:
    """Return the collections with posts that may lack words."""
    is_behind = Q(text_index=None) | ~Q(text_index__indexed=F("text_index__changes"))
    return Collection.objects.filter(is_behind)


def unindexed_visual_maps() -> QuerySet[VisualMap]:
    """Return the newest visual ids of the collections that lack an index of symbol pairs."""
    later = {"collection": OuterRef("collection"), "version__gt": OuterRef("version")}
    lacking = VisualMap.objects.filter(~Exists(VisualMap.objects.filter(**later)), pairs="")
    return lacking.exclude(collection__formulas_index="").select_related("collection")


def update_search_indexes(*, seconds: float) -> None:
    """Update all search indexes, for about `seconds`."""
    end = time.monotonic() + seconds
    for collection in unindexed_collections():
        index_posts(collection=collection, seconds=max(1.0, end - time.monotonic()))
    for version in unindexed_visual_maps():
        if time.monotonic() < end:
            index_formulas(version=version)


def index_formulas(*, version: VisualMap) -> VisualMap:
    """Return a version with its index of pairs, unless another process builds that."""
    waiting = VisualMap.objects.filter(pk=version.pk, pairs="")
    now = timezone.now()
    free = Q(pairs_claimed_at=None) | Q(pairs_claimed_at__lt=now - INDEX_CLAIM)
    if not version.pairs and waiting.filter(free).update(pairs_claimed_at=now):
        name = ""
        try:
            name = _store_pairs(version)
        finally:  # after an error, another process can start at once
            waiting.update(pairs=name, pairs_claimed_at=None)
    version.refresh_from_db(fields=["pairs"])
    return version


def ready_for_formulas(version: VisualMap) -> VisualMap:
    """Return the version with its index of pairs, if that is there or small enough to build."""
    if version.pairs or scan_columns(version.forms).select(pl.len()).collect().item() > SMALL:
        return version
    return index_formulas(version=version)


def _store_pairs(version: VisualMap) -> str:
    layouts = scan_columns(version.forms).select("layout").collect()["layout"]
    with TemporaryDirectory() as folder:
        path = Path(folder) / "pairs.parquet"
        pair_index(layouts).write_parquet(path, row_group_size=GROUP)
        what = f"visual-{version.version}-pairs"
        return store_file(slug=version.collection.slug, what=what, path=path)


def _ranges(collection: Collection) -> Iterator[int]:
    """Yield the first key of each range of posts. Unlike OFFSET, a range is fast everywhere."""
    ends = Post.objects.filter(collection=collection).aggregate(first=Min("pk"), last=Max("pk"))
    if ends["first"] is not None:
        yield from range(ends["first"], ends["last"] + 1, BATCH)


@transaction.atomic
def _index_batch(collection: Collection, first: int) -> int:
    indexed = PostWords.objects.filter(pk=OuterRef("pk"))
    posts = Post.objects.filter(pk__gte=first, pk__lt=first + BATCH).filter(~Exists(indexed))
    # Lock the posts, so that no text changes before its words are stored.
    searched = posts.filter(collection=collection, is_searched=True)
    rows = list(searched.select_for_update().order_by("pk"))
    tags = _thread_tags(collection, rows)
    # A worker that waited for the lock read before the other one had stored its words.
    PostWords.objects.bulk_create((_words(post, tags) for post in rows), ignore_conflicts=True)
    return len(rows)


def _thread_tags(collection: Collection, posts: Iterable[Post]) -> dict[str, list[str]]:
    """Return the tags of threads, because answers are found by the tags of their question."""
    tags = {post.thread_id: post.tags for post in posts if post.kind == Post.Kind.QUESTION}
    others = {post.thread_id for post in posts} - tags.keys()
    questions = collection.posts.filter(kind=Post.Kind.QUESTION, thread_id__in=others)
    return tags | dict(questions.values_list("thread_id", "tags"))


def _words(post: Post, tags: dict[str, list[str]]) -> PostWords:
    facets = [collection_facet(post.collection_id), kind_facet(post.kind)]
    facets += [tag_facet(tag) for tag in tags.get(post.thread_id, [])]
    return PostWords(
        post=post,
        title=" ".join(words(plain_text(post.safe_title)))[:MAX_TITLE_LENGTH],
        body=" ".join(words(plain_text(post.safe_body)))[:MAX_BODY_LENGTH],
        facets=" ".join(facets),
    )
