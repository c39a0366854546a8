"""Import of the posts of a data dump: read as a stream, sanitized, and stored in batches.

Each batch is stored together with the number of rows read, so that a stopped or killed import can
resume there. Posts that exist are updated from the file; posts missing from the file are kept.
"""

from __future__ import annotations

import os
from array import array
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import dataclass, field
from datetime import datetime
from multiprocessing import current_process, get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from django.db import connection, transaction
from django.db.models import QuerySet

from arqkit.formats.batches import in_slices
from arqkit.formats.dumps.blocks import blocks
from arqkit.formats.dumps.records import Window
from arqkit.formats.dumps.sources import dump_files
from arqkit.formats.formulas.seen_ids import SeenIds
from arqkit.records import FileRefusedError, Problem
from arqkit.texts.html.dump_posts import (
    FIELDS,
    IN,
    LATER,
    OUT,
    ReadyBlock,
    ReadyPost,
    Work,
    begin_worker,
    make_ready,
)
from arqlab.core.services.storing import copy_lines, takes_copy
from collection.models import Collection, Import, Post
from collection.services.importing.formulas import FoundFormulas, index_found_formulas
from collection.services.importing.import_records import (
    Progress,
    add_counts,
    finish_import,
    open_import,
    save_progress,
    stopped_on_error,
    stored_ids,
)
from collection.services.parquet_files import write_posts_index

ROWS = 500
"""Rows per INSERT statement without COPY."""

_COLUMNS = ("collection_id", "is_searched", *FIELDS)
_CHANGED = ["is_searched", *(name for name in FIELDS if name != "post_id")]

QUESTION = "question"

LARGE = 16 * 2**20
"""The file size in bytes from which a pool pays off."""
MOST = 8
"""The maximum number of processes: the process that reads and stores cannot feed more."""

BATCH = 2_000
"""Posts stored in one transaction, about 3 MB."""
ASKED = 500
"""Ids in one query."""


class StoredPost(NamedTuple):
    """A post to be stored, with its values from `arqkit.texts.html.dump_posts`."""

    number: int
    is_searched: bool
    values: Any


def store_posts(collection: Collection, posts: Sequence[StoredPost], *, may_exist: bool) -> None:
    """Store posts. Update those that exist, if some `may_exist`."""
    if not posts:
        return
    exist = may_exist and bool(stored_ids(collection, (str(post.number) for post in posts)))
    if not takes_copy():
        _store_in_bulk(collection, posts, exist=exist)
    elif exist:
        _copy_over(collection, posts)
    else:
        _copy(collection, posts, Post._meta.db_table)


def _store_in_bulk(collection: Collection, posts: Sequence[StoredPost], *, exist: bool) -> None:
    rows = []
    for post in posts:
        fields = dict(zip(FIELDS, post.values, strict=True))
        fields |= {"collection": collection, "is_searched": post.is_searched}
        rows.append(Post(**fields | {"tags": list(fields["tags"])}))
    Post.objects.bulk_create(
        rows,
        ROWS,
        update_conflicts=exist,
        unique_fields=["collection", "post_id"] if exist else None,
        update_fields=_CHANGED if exist else None,
    )


def _copy(collection: Collection, posts: Sequence[StoredPost], table: str) -> None:
    start = [f"{collection.pk}\t{searched}\t".encode() for searched in "ft"]
    lines = b"".join([part for post in posts for part in (start[post.is_searched], post.values)])
    copy_lines(table, _COLUMNS, lines)


def _copy_over(collection: Collection, posts: Sequence[StoredPost]) -> None:
    """Copy the posts into a temporary table, and insert or update them from there."""
    table, incoming, columns = Post._meta.db_table, "incoming_posts", ", ".join(_COLUMNS)
    changes = ", ".join(f"{name} = EXCLUDED.{name}" for name in _CHANGED)
    with connection.cursor() as cursor:
        # COPY cannot update rows, and `bulk_create` would make a Python object of each of millions.
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


@dataclass
class ThreadTracker:
    """The posts read so far, with a bit per id, and the answers read before their question."""

    source: str
    seen: SeenIds = field(default_factory=SeenIds)
    questions: SeenIds = field(default_factory=SeenIds)
    later: SeenIds = field(default_factory=SeenIds)
    outside: SeenIds = field(default_factory=SeenIds)
    orphans: array[int] = field(default_factory=lambda: array("q"))
    lines: array[int] = field(default_factory=lambda: array("q"))
    parents: array[int] = field(default_factory=lambda: array("q"))

    def add(self, post: ReadyPost, counts: Counter[str]) -> StoredPost | Problem | None:
        """Return the post to store, a problem for a duplicate, or None outside the window."""
        if not self.seen.add(post.number):
            actual = f"the post {post.number} again"
            todo = "Remove one of the two rows. The first was imported."
            return Problem(self.source, post.line, actual, "each post once", todo)
        place = self._place(post)
        if place == OUT:
            counts["outside_the_window"] += 1
            return None
        counts[f"{post.kind}s"] += 1
        return StoredPost(post.number, place == IN, post.values)

    def _place(self, post: ReadyPost) -> str:
        """Return the place of a post relative to the window; an answer follows its question."""
        if post.kind == QUESTION:
            self.questions.add(post.number)
            if post.place != IN:
                (self.later if post.place == LATER else self.outside).add(post.number)
            return post.place
        places = {post.place, self.place_of(post.thread) or IN}
        if OUT not in places and post.thread not in self.questions:
            self.orphans.append(post.number)
            self.parents.append(post.thread)
            self.lines.append(post.line)
        return OUT if OUT in places else LATER if LATER in places else IN

    def place_of(self, question: int) -> str | None:
        """Return the place of a question relative to the window, or None if it was not read."""
        if question not in self.questions:
            return None
        return OUT if question in self.outside else LATER if question in self.later else IN

    def waiting(self) -> Iterator[tuple[int, int, int]]:
        """Yield id, question and line of the answers that were read before their question."""
        return zip(self.orphans, self.parents, self.lines, strict=True)

    def without_question(self, number: int, question: int, line: int) -> Problem:
        """Return the problem of an answer whose question is missing."""
        actual = f"the answer {number} to the missing question {question}"
        expected = "a question of that Id, here or in an earlier file"
        todo = "Import the question. The answer was imported."
        return Problem(self.source, line, actual, expected, todo)


def process_count(size: int) -> int:
    """Return how many processes to start for a file of `size` bytes; 0 means no pool."""
    cores = len(os.sched_getaffinity(0))
    # A daemon process, such as a Celery worker, cannot have children.
    return min(cores, MOST) if size >= LARGE and cores > 1 and not current_process().daemon else 0


def ready_blocks(works: Iterable[Work], *, processes: int) -> Iterator[ReadyBlock]:
    """Yield sanitized blocks in order. A pool of processes works some blocks ahead."""
    if not processes:
        yield from map(make_ready, works)
        return
    # Spawn instead of fork: children must not inherit the database connection and threads.
    pool = ProcessPoolExecutor(processes, mp_context=get_context("spawn"), initializer=begin_worker)
    ahead: deque[Future[ReadyBlock]] = deque()
    try:
        for work in works:
            ahead.append(pool.submit(make_ready, work))
            if len(ahead) > 2 * processes + 2:
                yield ahead.popleft().result()
        while ahead:
            yield ahead.popleft().result()
    finally:
        pool.shutdown(cancel_futures=True)


def import_posts(
    *,
    collection: Collection,
    path: Path,
    window: Window,
    at: datetime,
    progress: Progress | None = None,
) -> Import:
    """Import the questions and answers of a Posts.xml into a collection. Return the record.

    `path` may be compressed, an archive or a folder. A file that is already imported is not read
    again. Rows that cannot be read become problems of the record. Raise `FileRefusedError` if the
    file does not exist, and `UserError` if another process is importing it.
    """
    path = dump_files(path).get("posts", path) if path.is_dir() else path
    if not path.is_file():
        todo = "Name a Posts.xml, or a folder or archive that contains one."
        raise FileRefusedError.of(str(path), "no such file", "Posts.xml", todo)
    record = open_import(collection, Import.Kind.POSTS, path, at=at, window=window)
    if record.state == Import.State.DONE:
        return record
    with stopped_on_error(record), TemporaryDirectory(prefix="arqlab-posts-") as folder:
        threads, formulas = ThreadTracker(path.name), FoundFormulas(Path(folder, "found"))
        batches = _PostImport(collection, record, at, threads, formulas, progress)
        as_copy, done = takes_copy(), record.rows
        works = (
            Work(block, window, block.row_count > 0 and block.last <= done, as_copy)
            for block in blocks(path, "posts")
        )
        for ready in ready_blocks(works, processes=process_count(path.stat().st_size)):
            batches.add(ready)
        batches.store()
        with transaction.atomic():
            batches.settle_threads()
            write_posts_index(collection)
            index_found_formulas(collection, formulas, reimported=threads.seen)
            finish_import(record=record, at=at)
    return record


@dataclass
class _PostImport:
    """An import in progress: the current batch, and the threads and formulas read so far."""

    collection: Collection
    record: Import
    at: datetime
    threads: ThreadTracker
    found: FoundFormulas
    progress: Progress | None
    posts: list[StoredPost] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    outside: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.may_exist = Post.objects.filter(collection=self.collection).exists()
        self.reached, self.share = self.record.rows, 1.0

    def add(self, ready: ReadyBlock) -> None:
        """Add a block. Of a block that is already stored, note only ids and formulas."""
        results = [(post, self.threads.add(post, ready.counts)) for post in ready.posts]
        for post, stored in results:
            if isinstance(stored, StoredPost) and stored.is_searched:
                self.found.add_post(post)
        if ready.is_stored:
            return
        self.posts += [stored for _, stored in results if isinstance(stored, StoredPost)]
        self.problems += [stored for _, stored in results if isinstance(stored, Problem)]
        if self.may_exist:
            self.outside += [post.number for post, stored in results if stored is None]
        self.problems += ready.problems
        self.counts.update(ready.counts)
        self.reached, self.share = ready.last, ready.share
        if max(len(self.posts), len(self.problems), len(self.outside)) >= BATCH:
            self.store()

    def store(self) -> None:
        """Store the batch and the number of rows read, and start the next batch."""
        record = self.record
        with transaction.atomic():
            store_posts(self.collection, self.posts, may_exist=self.may_exist)
            # An earlier import with a wider date window may have stored them.
            for some in in_slices(self.outside, size=ASKED):
                self._posts(some).delete()
            if not record.rows:  # a restarted import still has its old counts
                record.counts = {}
            record.rows = self.reached
            record.kept += len(self.posts)
            add_counts(record, self.counts)
            save_progress(record=record, problems=self.problems, at=self.at)
        self.posts, self.problems, self.counts, self.outside = [], [], Counter(), []
        if self.progress is not None:
            self.progress(record.rows, round(record.rows / self.share) if self.share else None)

    def settle_threads(self) -> None:
        """Resolve the answers that precede their question, and report those without a question."""
        for some in in_slices(self.threads.waiting(), size=ASKED):
            places = self._places({parent for _, parent, _ in some})
            out, later = (
                [post for post, parent, _ in some if places.get(parent) == place]
                for place in (OUT, LATER)
            )
            lost = self._posts(out).delete()[0]
            self._posts(later).update(is_searched=False)
            self.found.drop(map(str, out + later))
            lone = (answer for answer in some if answer[1] not in places)
            alone = [self.threads.without_question(*answer) for answer in lone]
            self.record.kept -= lost
            changed = {"without_question": len(alone), "outside_the_window": lost, "answers": -lost}
            add_counts(self.record, changed)
            save_progress(record=self.record, problems=alone, at=self.at)

    def _posts(self, numbers: Iterable[int]) -> QuerySet[Post]:
        return Post.objects.filter(collection=self.collection, post_id__in=list(map(str, numbers)))

    def _places(self, numbers: set[int]) -> dict[int, str]:
        """Return the places of questions relative to the window, from this file or the database."""
        places = {number: place for number in numbers if (place := self.threads.place_of(number))}
        rest = self._posts(numbers - places.keys()).filter(kind=Post.Kind.QUESTION)
        return places | {
            int(name): IN if is_in else LATER
            for name, is_in in rest.values_list("post_id", "is_searched")
        }
