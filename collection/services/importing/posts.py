"""Import of the posts of a data dump: read as a stream, sanitized, and stored in batches.

Each batch is stored together with the number of rows read, so that a stopped or killed import can
resume there. Posts that exist are updated from the file; posts missing from the file are kept.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from django.db import transaction
from django.db.models import QuerySet

from arqkit.formats.batches import in_slices
from arqkit.formats.dumps.blocks import blocks
from arqkit.formats.dumps.records import Window
from arqkit.formats.dumps.sources import dump_files
from arqkit.records import FileRefusedError, Problem
from arqkit.texts.html.dump_posts import IN, LATER, OUT, ReadyBlock, Work
from arqlab.core.services.storing import takes_copy
from collection.models import Collection, Import, Post
from collection.services.importing.extracted_formulas import FoundFormulas, index_found_formulas
from collection.services.importing.import_records import (
    Progress,
    finish_import,
    import_digest,
    is_overtaken,
    restart_import,
    save_progress,
    start_import,
    stopped_on_error,
)
from collection.services.importing.post_store import StoredPost, store_posts
from collection.services.importing.posts_index import write_posts_index
from collection.services.importing.sanitizer_pool import process_count, ready_blocks
from collection.services.importing.thread_tracker import ThreadTracker

BATCH = 2_000
"""Posts stored in one transaction, about 3 MB."""
ASKED = 500
"""Ids in one query."""


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
        raise FileRefusedError([Problem(str(path), None, "no such file", "Posts.xml", todo)])
    digest = import_digest(Import.Kind.POSTS, path, window)
    record = start_import(
        collection=collection, kind=Import.Kind.POSTS, source=path.name, sha256=digest, at=at
    )
    if record.state == Import.State.DONE:
        if not is_overtaken(record):
            return record
        restart_import(record, at)
    with stopped_on_error(record), TemporaryDirectory(prefix="arqlab-posts-") as folder:
        batches = _PostImport(
            collection,
            record,
            at,
            ThreadTracker(path.name),
            FoundFormulas(Path(folder, "found")),
            progress,
        )
        works = _works(path, window, done=record.rows)
        for ready in ready_blocks(works, processes=process_count(path.stat().st_size)):
            batches.add(ready)
        batches.store()
        with transaction.atomic():
            batches.settle_threads()
            write_posts_index(collection)
            index_found_formulas(collection, batches.found, reimported=batches.threads.seen)
            finish_import(record=record, at=at)
    return record


def _works(path: Path, window: Window, *, done: int) -> Iterator[Work]:
    as_copy = takes_copy()
    for block in blocks(path, "posts"):
        yield Work(
            block, window, is_stored=block.row_count > 0 and block.last <= done, as_copy=as_copy
        )


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
        taken = [(post, self.threads.add(post, ready.counts)) for post in ready.posts]
        for post, stored in taken:
            if isinstance(stored, StoredPost) and stored.is_searched:
                self.found.add_post(post)
        if ready.is_stored:
            return
        self.posts += [stored for _, stored in taken if isinstance(stored, StoredPost)]
        self.problems += [stored for _, stored in taken if isinstance(stored, Problem)]
        if self.may_exist:
            self.outside += [post.number for post, stored in taken if stored is None]
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
            self._count(self.counts)
            save_progress(record=record, problems=self.problems, at=self.at)
        self.posts, self.problems, self.counts, self.outside = [], [], Counter(), []
        if self.progress is not None:
            self.progress(record.rows, round(record.rows / self.share) if self.share else None)

    def _count(self, added: Mapping[str, int]) -> None:
        counts = Counter(self.record.counts)
        counts.update(added)
        self.record.counts = dict(counts)

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
            alone = [self.threads.without_question(*one) for one in some if one[1] not in places]
            self.record.kept -= lost
            self._count(
                {"without_question": len(alone), "outside_the_window": lost, "answers": -lost}
            )
            save_progress(record=self.record, problems=alone, at=self.at)

    def _posts(self, numbers: Iterable[int]) -> QuerySet[Post]:
        return Post.objects.filter(
            collection=self.collection, post_id__in=[str(number) for number in numbers]
        )

    def _places(self, numbers: set[int]) -> dict[int, str]:
        """Return the places of questions relative to the window, from this file or the database."""
        places = {number: place for number in numbers if (place := self.threads.place_of(number))}
        rest = self._posts(numbers - places.keys()).filter(kind=Post.Kind.QUESTION)
        return places | {
            int(name): IN if is_in else LATER
            for name, is_in in rest.values_list("post_id", "is_searched")
        }
