"""Import of documents, and of a dump's comments, links, tags, users, votes and badges.

A file is read once, in batches. Each batch is stored together with the number of rows read, so that
a stopped import can resume there and no vote counts twice. A file replaces an earlier one of its
kind.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Protocol

from django.db import transaction

from arqkit.formats.batches import in_slices
from arqkit.formats.documents import SourceDocument, read_documents
from arqkit.formats.dumps import records as dumprecords
from arqkit.formats.dumps.blocks import DumpRow, blocks, read_block
from arqkit.formats.dumps.records import Window
from arqkit.formats.dumps.sources import dump_files
from arqkit.formats.formulas.seen_ids import SeenIds
from arqkit.records import FileRefusedError, Problem
from arqkit.texts.html.foreign import WITHOUT_LATEX, document_html, text_html
from arqkit.texts.html.sanitizer import RULES, clean_title_and_body
from collection.models import Collection, Comment, Import, Post, PostLink, Tag
from collection.services.importing import related_rows
from collection.services.importing.formulas import FoundFormulas, index_found_formulas
from collection.services.importing.import_records import (
    Progress,
    add_counts,
    finish_import,
    open_import,
    save_progress,
    stopped_on_error,
)
from collection.services.importing.posts import import_posts
from collection.services.parquet_files import write_posts_index

BATCH = 500
"""Documents stored in one transaction."""
REPLACED = ("title", "body", "clean_title", "clean_body", "rules")

Kind = Import.Kind
# The batch size of rows that are only counted. Larger batches update fewer posts twice, but a batch
# must end within `STALE_AFTER`.
COUNTED_BATCH = 100_000


def import_documents(
    *, collection: Collection, path: Path, at: datetime, progress: Progress | None = None
) -> Import:
    """Import the documents of a file or folder into a collection. Return the record.

    `arqkit.formats.documents` describes the files. One that is already imported is not read again.
    What cannot be read becomes a problem of the record. Raise `UserError` if another process is
    importing it.
    """
    record = open_import(collection, Import.Kind.DOCUMENTS, path, at=at)
    if record.state == Import.State.DONE:
        return record
    with stopped_on_error(record):
        for batch in in_slices(islice(read_documents(path), record.rows, None), size=BATCH):
            with transaction.atomic():
                _store_documents(record, batch, at)
            if progress is not None:
                progress(record.rows, None)
        with transaction.atomic():
            write_posts_index(collection)
            _index_found(collection)
            finish_import(record=record, at=at)
    return record


def _store_documents(record: Import, batch: list[SourceDocument | Problem], at: datetime) -> None:
    """Store a batch of documents with its problems and the number of rows read."""
    problems = [document for document in batch if isinstance(document, Problem)]
    documents = [document for document in batch if isinstance(document, SourceDocument)]
    stored_ids = _ids_of_posts(record.collection, documents)
    problems += [_taken(document) for document in documents if document.document_id in stored_ids]
    rows = []
    for document in documents:
        if document.document_id not in stored_ids:
            row, unread = _post(record.collection, document)
            rows.append(row)
            problems += [_without_latex(document, unread)] if unread else []
    Post.objects.bulk_create(
        rows, update_conflicts=True, unique_fields=["collection", "post_id"], update_fields=REPLACED
    )
    record.rows += len(batch)
    record.kept += len(rows)
    record.counts = {"documents": record.kept}
    save_progress(record=record, problems=problems, at=at)


def _post(collection: Collection, document: SourceDocument) -> tuple[Post, int]:
    """Return a document as an unsaved post, and the number of its formulas without LaTeX."""
    text = document.text if document.is_html else text_html(document.text)
    read = document_html(text, document_id=document.document_id)
    source_title = document.title or read.title
    title, body = clean_title_and_body(source_title, read.body, post_id=document.document_id)
    post = Post(
        collection=collection,
        post_id=document.document_id,
        kind=Post.Kind.DOCUMENT,
        thread_id="",
        title=source_title,
        body=read.body,
        clean_title=title.kept,
        clean_body=body.kept,
        rules=RULES,
    )
    return post, read.unread


def _ids_of_posts(collection: Collection, documents: list[SourceDocument]) -> set[str]:
    """Return the ids that are those of questions and answers, which a document never replaces."""
    posts = Post.objects.filter(collection=collection).exclude(kind=Post.Kind.DOCUMENT)
    ids = [document.document_id for document in documents]
    return set(posts.filter(post_id__in=ids).values_list("post_id", flat=True))


def _taken(document: SourceDocument) -> Problem:
    actual = f"the id {document.document_id}, which is that of a post"
    todo = "Import the documents into a collection of their own."
    return Problem(document.source, document.line, actual, "an id that no post has", todo)


def _without_latex(document: SourceDocument, unread: int) -> Problem:
    actual = (
        f"{unread} formula{'s' * (unread != 1)} in MathML without LaTeX in {document.document_id}"
    )
    expected = "LaTeX in alttext or in an annotation application/x-tex"
    todo = f"Add the LaTeX, and import the documents again. Pages show “{WITHOUT_LATEX}”."
    return Problem(document.source, document.line, actual, expected, todo)


def _no_counts(_: Collection) -> Counter[str]:
    return Counter()


def _index_found(collection: Collection) -> Counter[str]:
    """Index the formulas of texts that are not those of posts."""
    with TemporaryDirectory(prefix="arqlab-comments-") as folder:
        index_found_formulas(collection, FoundFormulas(Path(folder, "found")), reimported=SeenIds())
    return Counter()


class _Batchable(Protocol):
    """A container of the rows of a batch: a list or a `Tally`."""

    def append(self, row: Any, /) -> None: ...
    def __len__(self) -> int: ...


@dataclass(frozen=True)
class _Importer:
    """How rows of one kind are imported: read, told apart by a field, and stored in batches."""

    read: Callable[[DumpRow, str], Any]
    key: str
    store: Callable[[Collection, Any], Counter[str]]
    clear: Callable[[Collection], object]
    gather: Callable[[], _Batchable] = list
    finish: Callable[[Collection], Counter[str]] = _no_counts
    batch: int = 2_000
    needs: tuple[str, ...] = (Kind.POSTS,)


_IMPORTERS: dict[str, _Importer] = {
    Kind.COMMENTS: _Importer(
        dumprecords.read_comment,
        "comment_id",
        related_rows.store_comments,
        partial(related_rows.clear_rows, Comment),
        finish=_index_found,
    ),
    Kind.POST_LINKS: _Importer(
        dumprecords.read_post_link,
        "link_id",
        related_rows.store_post_links,
        partial(related_rows.clear_rows, PostLink),
    ),
    Kind.TAGS: _Importer(
        dumprecords.read_tag,
        "name",
        related_rows.store_tags,
        partial(related_rows.clear_rows, Tag),
        needs=(),
    ),
    Kind.USERS: _Importer(
        dumprecords.read_author, "author_id", related_rows.store_authors, _no_counts, needs=()
    ),
    Kind.VOTES: _Importer(
        dumprecords.read_vote,
        "vote_id",
        related_rows.store_votes,
        related_rows.clear_votes,
        gather=partial(related_rows.Tally, related_rows.VOTES, "post_id"),
        finish=related_rows.finish_votes,
        batch=COUNTED_BATCH,
    ),
    Kind.BADGES: _Importer(
        dumprecords.read_badge,
        "badge_id",
        related_rows.store_badges,
        related_rows.clear_badges,
        gather=partial(related_rows.Tally, related_rows.BADGES, "author_id"),
        batch=COUNTED_BATCH,
        needs=(Kind.USERS,),
    ),
}


@dataclass
class _Batch:
    """Rows to store in one transaction, and the number of rows of the file read so far."""

    rows: int
    records: _Batchable
    problems: list[Problem] = field(default_factory=list)
    outside: int = 0
    share: float = 0.0

    def __len__(self) -> int:
        """Return the number of rows read into the batch."""
        return len(self.records) + len(self.problems) + self.outside

    @property
    def total(self) -> int | None:
        """Return the estimated number of rows in the file, or None."""
        return round(self.rows / self.share) if self.share else None


def import_file(
    *,
    collection: Collection,
    kind: str,
    path: Path,
    window: Window,
    at: datetime,
    progress: Progress | None = None,
) -> Import:
    """Import a file of a data dump, or documents. Return the record.

    A file that is already imported is read again only if the posts (for badges, the users) were
    imported later. Rows outside the date window, and rows on posts that the collection does not
    have, are counted and skipped. `path` may be compressed, an archive or a folder. Raise
    `FileRefusedError` if the file does not exist, and `UserError` if another process is importing
    it.
    """
    if kind == Kind.DOCUMENTS:
        return import_documents(collection=collection, path=path, at=at, progress=progress)
    if kind == Kind.POSTS:
        return import_posts(
            collection=collection, path=path, window=window, at=at, progress=progress
        )
    importer, path = _IMPORTERS[kind], _file_of(path, kind)
    starts_over = partial(_is_overtaken, importer)
    record = open_import(collection, kind, path, at=at, window=window, starts_over=starts_over)
    if record.state == Import.State.DONE:
        return record
    with stopped_on_error(record):
        for batch in _batches(importer, kind, path, window, already=record.rows):
            with transaction.atomic():
                _store(record, importer, batch)
                save_progress(record=record, problems=batch.problems, at=at)
            if progress is not None:
                progress(record.rows, batch.total)
        with transaction.atomic():
            _count(record, importer.finish(collection))
            finish_import(record=record, at=at)
    return record


def _file_of(path: Path, kind: str) -> Path:
    """Return `path`, or the file of this kind in it if it is a folder."""
    file = dump_files(path).get(kind, path) if path.is_dir() else path
    if not file.is_file():
        actual, expected = f"no {Import.Kind(kind).label.lower()}", "a file of the data dump"
        todo = "Name the file, or a folder or archive that contains it."
        raise FileRefusedError.of(str(path), actual, expected, todo)
    return file


def _is_overtaken(importer: _Importer, record: Import) -> bool:
    """Return whether the rows that the file refers to were imported later than the file.

    Some of its skipped rows may then belong to the collection.
    """
    needed = Import.objects.filter(collection=record.collection, kind__in=importer.needs)
    return needed.filter(finished_at__gt=record.finished_at or record.updated_at).exists()


def _batches(
    importer: _Importer, kind: str, path: Path, window: Window, *, already: int
) -> Iterator[_Batch]:
    """Yield the rows in batches of whole blocks. Of rows already stored, note only the ids.

    The problems of a block are stored with the block, so each is stored only once.
    """
    keys, batch = _SeenKeys(kind), _Batch(already, importer.gather())
    for block in blocks(path, kind):
        is_stored = block.row_count > 0 and block.last <= already
        for row in read_block(block):
            record = keys.read(importer, row, block.source)
            if not is_stored:
                _put(batch, record, window)
        batch.rows, batch.share = max(block.last, already), block.share
        if len(batch) >= importer.batch:
            yield batch
            batch = _Batch(batch.rows, importer.gather(), share=block.share)
    yield batch


class _SeenKeys:
    """The keys of the rows so far, to find duplicates."""

    def __init__(self, kind: str) -> None:
        self.what = Import.Kind(kind).label.lower()
        self.numbers, self.names = SeenIds(), set[str]()

    def read(self, importer: _Importer, row: DumpRow | Problem, source: str) -> Any:
        """Return the record of a row, or a problem."""
        record = row if isinstance(row, Problem) else importer.read(row, source)
        if isinstance(record, Problem) or self._is_new(str(getattr(record, importer.key))):
            return record
        actual = f"{getattr(record, importer.key)} again in the {self.what}"
        todo = "Remove one of the two rows. The first was imported."
        return Problem(source, row.line, actual, "each once", todo)

    def _is_new(self, key: str) -> bool:
        """Add a key and return whether it is new. Rows of old dumps may have none."""
        if key.isdecimal():
            return self.numbers.add(int(key))
        is_new = not key or key not in self.names  # only tags have names
        self.names.add(key)
        return is_new


def _put(batch: _Batch, record: Any, window: Window) -> None:
    if isinstance(record, Problem):
        batch.problems.append(record)
    elif window.keeps(getattr(record, "created_at", None)):
        batch.records.append(record)
    else:
        batch.outside += 1


def _store(record: Import, importer: _Importer, batch: _Batch) -> None:
    if record.rows == 0:
        record.counts = {}
    # While no row of this file is stored, clearing again deletes nothing of it.
    if record.kept == 0 and batch.records:
        importer.clear(record.collection)
        record.collection.imports.filter(kind=record.kind).exclude(pk=record.pk).delete()
    _count(record, importer.store(record.collection, batch.records) if batch.records else Counter())
    _count(record, Counter(outside_the_window=batch.outside))
    record.rows = batch.rows


def _count(record: Import, added: Counter[str]) -> None:
    record.kept += added.pop("kept", 0)
    add_counts(record, +added)
