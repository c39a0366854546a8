"""Import of the posts of a data dump: read as a stream, sanitized, and stored in batches.

Each batch is stored together with the number of rows read, so that a stopped or killed import can
resume there. Posts that exist are updated from the file; posts missing from the file are kept.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from django.db import transaction
from django.db.models import QuerySet

from arqkit.formats.batches import in_slices
from arqkit.formats.dumps.blocks import Block, blocks, read_block
from arqkit.formats.dumps.records import PostRecord, Window, read_post
from arqkit.formats.dumps.sources import dump_files
from arqkit.formats.formulas.seen_ids import SeenIds
from arqkit.records import FileRefusedError, Problem
from arqkit.texts.html.sanitizer import RULES, clean_title_and_body
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
"""Rows per INSERT statement."""
CLEANED = ("is_searched", "clean_title", "clean_body", "rules")
"""The fields of a post that its row in the file does not have."""


IN, LATER, OUT = "in", "later", "out"
"""Whether a post is within the collection's window, after it but kept, or outside."""


class ReadPost(NamedTuple):
    """A post of a file, with its thread, its place in the window and its new formulas.

    `values` are those of its row by field, none outside the window. `found` has kind, ids and LaTeX
    of the formulas in its title and its text, each joined by NUL. It is empty if all formulas came
    with ids: a formula index already lists them.
    """

    number: int
    line: int
    kind: str
    thread: int
    place: str
    values: dict[str, Any]
    found: list[tuple[str, str, str]]


def read_posts(block: Block, window: Window, counts: Counter[str]) -> Iterator[ReadPost | Problem]:
    """Yield the posts of a block, sanitized, and the problems of its rows; add to the counts."""
    for row in read_block(block):
        if isinstance(row, Problem):
            yield row
            continue
        record, faults = read_post(row, block.source)
        yield from faults
        if record is not None:
            yield _cleaned(record, row.line, _place(window, record.created_at), counts)
        elif not faults:
            counts["other_types"] += 1


def _cleaned(record: PostRecord, line: int, place: str, counts: Counter[str]) -> ReadPost:
    formulas: list[tuple[str, str, str]] = []
    values: dict[str, Any] = {}
    if place != OUT:
        title, body = clean_title_and_body(record.title, record.body, post_id=record.post_id)
        counts["formulas"] += title.formula_count + body.formula_count
        counts["formulas_numbered"] += title.numbered + body.numbered
        if title.numbered or body.numbered:
            formulas = [
                (kind, "\0".join(text.ids), "\0".join(text.latex))
                for kind, text in (("title", title), (record.kind, body))
                if text.ids
            ]
        clean = {"clean_title": title.kept, "clean_body": body.kept, "rules": RULES}
        values = record._asdict() | clean
    return ReadPost(
        int(record.post_id), line, record.kind, int(record.thread_id), place, values, formulas
    )


def _place(window: Window, moment: datetime | None) -> str:
    if window.searches(moment):
        return IN
    return LATER if window.keeps(moment) else OUT


def store_posts(collection: Collection, posts: Sequence[Post], *, may_exist: bool) -> None:
    """Store posts. Update those that exist, if some `may_exist`."""
    if may_exist and stored_ids(collection, (post.post_id for post in posts)):
        keys = ("collection", "post_id")
        changed = [name for name in (*PostRecord._fields, *CLEANED) if name not in keys]
        Post.objects.bulk_create(
            posts, ROWS, update_conflicts=True, unique_fields=keys, update_fields=changed
        )
    else:
        Post.objects.bulk_create(posts, ROWS)


QUESTION = "question"


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

    def add(self, post: ReadPost, counts: Counter[str]) -> str | Problem:
        """Return the place of a post relative to the window, or a problem for a duplicate."""
        if not self.seen.add(post.number):
            actual, todo = (
                f"the post {post.number} again",
                "Remove one of the two rows. The first was imported.",
            )
            return Problem(self.source, post.line, actual, "each post once", todo)
        place = self._place(post)
        if place == OUT:
            counts["outside_the_window"] += 1
        else:
            counts[f"{post.kind}s"] += 1
        return place

    def _place(self, post: ReadPost) -> str:
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
        actual, todo = (
            f"the answer {number} to the missing question {question}",
            "Import the question. The answer was imported.",
        )
        return Problem(
            self.source, line, actual, "a question of that Id, here or in an earlier file", todo
        )


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
        raise FileRefusedError.of(str(path), "no such file", "Posts.xml", todo)
    record = open_import(collection, Import.Kind.POSTS, path, at=at, window=window)
    if record.state == Import.State.DONE:
        return record
    with stopped_on_error(record), TemporaryDirectory(prefix="arqlab-posts-") as folder:
        batches = _PostImport(
            collection,
            record,
            at,
            ThreadTracker(path.name),
            FoundFormulas(Path(folder, "found")),
            progress,
        )
        done = record.rows
        for block in blocks(path, "posts"):
            is_stored = block.row_count > 0 and block.last <= done
            batches.add(block, window, is_stored=is_stored)
        batches.store()
        with transaction.atomic():
            batches.settle_threads()
            write_posts_index(collection)
            index_found_formulas(collection, batches.found, reimported=batches.threads.seen)
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
    posts: list[Post] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    outside: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.may_exist = Post.objects.filter(collection=self.collection).exists()
        self.reached, self.share = self.record.rows, 1.0

    def add(self, block: Block, window: Window, *, is_stored: bool) -> None:
        """Add a block. Of a block that is already stored, note only ids and formulas."""
        counts = Counter[str]()
        for post in read_posts(block, window, counts):
            place = post if isinstance(post, Problem) else self.threads.add(post, counts)
            if place == IN and isinstance(post, ReadPost):
                for kind, *found in post.found:
                    self.found.add_text(str(post.number), str(post.thread), kind, None, *found)
            if not is_stored:
                self._take(post, place)
        if is_stored:
            return
        self.counts.update(counts)
        self.reached, self.share = block.last, block.share
        if max(len(self.posts), len(self.problems), len(self.outside)) >= BATCH:
            self.store()

    def _take(self, post: ReadPost | Problem, place: str | Problem) -> None:
        if isinstance(place, Problem):
            self.problems.append(place)
        elif isinstance(post, ReadPost) and place != OUT:
            searched = place == IN
            self.posts.append(Post(collection=self.collection, is_searched=searched, **post.values))
        elif isinstance(post, ReadPost) and self.may_exist:
            self.outside.append(post.number)

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
            alone = [
                self.threads.without_question(*answer) for answer in some if answer[1] not in places
            ]
            self.record.kept -= lost
            changed = {"without_question": len(alone), "outside_the_window": lost, "answers": -lost}
            add_counts(self.record, changed)
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
