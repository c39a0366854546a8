"""What stands around the posts of a dump: comments, links, tags, users, votes, badges.

A file is read once, batch by batch; each batch is stored together with how far the import came, so
one that was stopped is taken up where it was, and no vote counts twice. A file takes the place of
an earlier one of its kind.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Protocol

from django.db import transaction

from arqlab.formats.dumps import records as dumprecords
from arqlab.formats.dumps.records import Window
from arqlab.formats.dumps.rows import DumpRow, blocks, dump_files, read_block
from arqlab.formats.formulas.seen_ids import SeenIds
from arqlab.ir.records import FileRefusedError, Problem
from collection.models import Collection, Import
from collection.services.importing import related_rows, votes_and_badges
from collection.services.importing.extracted_formulas import FoundFormulas, index_found_formulas
from collection.services.importing.import_records import (
    Progress,
    file_digest,
    finish_import,
    restart_import,
    save_progress,
    start_import,
    stopped_on_error,
)
from collection.services.importing.posts import import_posts

Kind = Import.Kind
# Rows that are only counted: the more at once, the fewer posts are written twice; a batch must give
# a sign within a minute.
COUNTED_BATCH = 100_000


def _nothing(_: Collection) -> Counter[str]:
    return Counter()


def _index_found(collection: Collection) -> Counter[str]:
    with TemporaryDirectory(prefix="arqlab-comments-") as folder:
        index_found_formulas(collection, FoundFormulas(Path(folder, "found")), anew=SeenIds())
    return Counter()


class _Batchable(Protocol):
    """What rows are put into until they are stored: a list, or a tally of them."""

    def append(self, row: Any, /) -> None: ...
    def __len__(self) -> int: ...


@dataclass(frozen=True)
class _Importer:
    """How rows of one kind get in: what reads one, what its key is, what stores a batch."""

    read: Callable[[DumpRow, str], Any]
    key: Callable[[Any], str]
    store: Callable[[Collection, Any], Counter[str]]
    clear: Callable[[Collection], object]
    gather: Callable[[], _Batchable] = list
    finish: Callable[[Collection], Counter[str]] = _nothing
    batch: int = 2_000
    needs: tuple[str, ...] = (Kind.POSTS,)


_IMPORTERS: dict[str, _Importer] = {
    Kind.COMMENTS: _Importer(
        read=dumprecords.read_comment,
        key=lambda comment: str(comment.comment_id),
        store=related_rows.store_comments,
        clear=related_rows.clear_comments,
        finish=_index_found,
    ),
    Kind.POST_LINKS: _Importer(
        read=dumprecords.read_post_link,
        key=lambda link: str(link.link_id),
        store=related_rows.store_post_links,
        clear=related_rows.clear_post_links,
    ),
    Kind.TAGS: _Importer(
        read=dumprecords.read_tag,
        key=lambda tag: str(tag.name),
        store=related_rows.store_tags,
        clear=related_rows.clear_tags,
        needs=(),
    ),
    Kind.USERS: _Importer(
        read=dumprecords.read_author,
        key=lambda author: str(author.author_id),
        store=related_rows.store_authors,
        clear=_nothing,
        needs=(),
    ),
    Kind.VOTES: _Importer(
        read=dumprecords.read_vote,
        key=lambda vote: str(vote.vote_id),
        store=votes_and_badges.store_votes,
        clear=votes_and_badges.clear_votes,
        gather=votes_and_badges.vote_tally,
        finish=votes_and_badges.finish_votes,
        batch=COUNTED_BATCH,
    ),
    Kind.BADGES: _Importer(
        read=dumprecords.read_badge,
        key=lambda badge: str(badge.badge_id),
        store=votes_and_badges.store_badges,
        clear=votes_and_badges.clear_badges,
        gather=votes_and_badges.badge_tally,
        batch=COUNTED_BATCH,
        needs=(Kind.USERS,),
    ),
}


@dataclass
class _Batch:
    """Rows that are stored together, and how many rows of the file are read with them."""

    rows: int
    records: _Batchable
    problems: list[Problem] = field(default_factory=list)
    outside: int = 0
    share: float = 0.0

    def __len__(self) -> int:
        """Return how many rows were read into it."""
        return len(self.records) + len(self.problems) + self.outside

    @property
    def total(self) -> int | None:
        """Return how many rows the file will have, as far as the part of it tells that was read."""
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
    """Take a file of the dump in, and give the record of how that went.

    A file that is in already is not read again, unless what it hangs on (the posts, for badges the
    users) came in later. Rows outside the window, and those on posts that the collection does not
    hold, are counted and passed over. `path` may be packed, an archive or a folder. Raises
    FileRefusedError where there is no file, `UserError` when another process is importing it.
    """
    if kind == Kind.POSTS:
        return import_posts(
            collection=collection, path=path, window=window, at=at, progress=progress
        )
    way, path = _IMPORTERS[kind], _file_of(path, kind)
    digest = file_digest(path, window)
    record = start_import(collection=collection, kind=kind, source=path.name, sha256=digest, at=at)
    if _is_overtaken(record, way):
        restart_import(record, at)
    elif record.state == Import.State.DONE:
        return record
    with stopped_on_error(record):
        for batch in _batches(way, kind, path, window, already=record.rows):
            with transaction.atomic():
                _store(record, way, batch)
                save_progress(record=record, problems=batch.problems, at=at)
            if progress is not None:
                progress(record.rows, batch.total)
        with transaction.atomic():
            _count(record, way.finish(collection))
            finish_import(record=record, at=at)
    return record


def _file_of(path: Path, kind: str) -> Path:
    """Return the file of a kind, where `path` is the folder of a dump."""
    file = dump_files(path).get(kind, path) if path.is_dir() else path
    if not file.is_file():
        expected, todo = (
            "a file of the dump",
            "Name the file, or the folder or archive that holds it.",
        )
        raise FileRefusedError(
            [Problem(str(path), None, f"no {Import.Kind(kind).label.lower()}", expected, todo)]
        )
    return file


def _is_overtaken(record: Import, way: _Importer) -> bool:
    """Return whether what the file hangs on came in after it: then some of what was passed over
    belongs to it now.
    """
    needed = Import.objects.filter(collection=record.collection, kind__in=way.needs)
    return needed.filter(finished_at__gt=record.finished_at or record.updated_at).exists()


def _batches(
    way: _Importer, kind: str, path: Path, window: Window, *, already: int
) -> Iterator[_Batch]:
    """Return the rows in batches of whole blocks, but for those that are stored already: of these,
    only the ids are noted.

    What is wrong with a row or with the text beside it belongs to its block: it is stored once, and
    with it.
    """
    met, batch = _SeenKeys(kind), _Batch(already, way.gather())
    for block in blocks(path, kind):
        is_stored = block.row_count > 0 and block.last <= already
        for row in read_block(block):
            found = met.read(way, row, block.source)
            if not is_stored:
                _put(batch, found, window)
        batch.rows, batch.share = max(block.last, already), block.share
        if len(batch) >= way.batch:
            yield batch
            batch = _Batch(batch.rows, way.gather(), share=block.share)
    yield batch


class _SeenKeys:
    """The keys of the rows so far: one that stands there again is a mistake."""

    def __init__(self, kind: str) -> None:
        self.what = Import.Kind(kind).label.lower()
        self.numbers, self.names = SeenIds(), set[str]()

    def read(self, way: _Importer, row: DumpRow | Problem, source: str) -> Any:
        """Return the record of a row, or what is wrong with it."""
        found = row if isinstance(row, Problem) else way.read(row, source)
        if isinstance(found, Problem) or self._is_new(way.key(found)):
            return found
        todo = "Take one of the two rows out; the first was taken."
        return Problem(
            source,
            row.line,
            f"{way.key(found)} again among the {self.what}",
            "each of them once",
            todo,
        )

    def _is_new(self, key: str) -> bool:
        """Note a key and say whether it is new; ids are digits, only tags have names. Old dumps
        have rows without.
        """
        if key.isdecimal():
            return self.numbers.add(int(key))
        is_new = not key or key not in self.names
        self.names.add(key)
        return is_new


def _put(batch: _Batch, found: Any, window: Window) -> None:
    if isinstance(found, Problem):
        batch.problems.append(found)
    elif window.keeps(getattr(found, "created_at", None)):
        batch.records.append(found)
    else:
        batch.outside += 1


def _store(record: Import, way: _Importer, batch: _Batch) -> None:
    if record.rows == 0:
        record.counts = {}
    # Until something is kept, nothing of this file is in: to clear twice takes nothing away.
    if record.kept == 0 and batch.records:
        _take_the_place_of_others(record, way)
    _count(record, way.store(record.collection, batch.records) if batch.records else Counter())
    _count(record, Counter(outside_the_window=batch.outside))
    record.rows = batch.rows


def _take_the_place_of_others(record: Import, way: _Importer) -> None:
    way.clear(record.collection)
    Import.objects.filter(collection=record.collection, kind=record.kind).exclude(
        pk=record.pk
    ).delete()


def _count(record: Import, told: Counter[str]) -> None:
    record.kept += told.pop("kept", 0)
    record.counts = dict(Counter(record.counts) + told)
