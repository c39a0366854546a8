"""The contents of a collection, its imports, and the files that are missing."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

import polars as pl
from django.db.models import Count
from django.db.models.fields.files import FieldFile

from collection.models import (
    STALE_AFTER,
    Author,
    Collection,
    Comment,
    Import,
    Post,
    PostLink,
    Tag,
    VisualMap,
)
from collection.selectors.collections import scan_columns

MISSING_FILES: dict[str, str] = {
    Import.Kind.POSTS: "No posts are imported, so the items of runs are not checked and threads "
    "cannot be shown.",
    Import.Kind.LATEX: "No formula index is imported, so formula runs are not checked against it.",
    Import.Kind.SLT: "No symbol layout trees are imported, so formulas are compared by layouts "
    "converted from their LaTeX.",
    Import.Kind.COMMENTS: "No comments are imported, so threads show none.",
    Import.Kind.POST_LINKS: "No post links are imported, so threads show no linked or duplicate "
    "questions, and topics cannot be chosen by them.",
    Import.Kind.USERS: "No users are imported, so posts and comments have no author names.",
    Import.Kind.BADGES: "No badges are imported, so authors are shown without badges.",
    Import.Kind.VOTES: "No votes are imported, so posts show only the score from the data dump, if "
    "any.",
    Import.Kind.TAGS: "No list of tags is imported. Posts have their tags even without the list.",
}
"""The effect of a missing file of each kind, the most important first."""


@dataclass(frozen=True)
class Holdings:
    """The contents of a collection in numbers.

    `later` counts posts outside the date window, which are stored for topics and their threads.
    """

    questions: int
    answers: int
    documents: int
    later: int
    first_post: datetime | None
    last_post: datetime | None
    comments: int
    related: int
    duplicates: int
    tags: int
    authors: int
    formulas: int
    visual_map: VisualMap | None


@dataclass(frozen=True)
class ImportRow:
    """An import, and whether it is stale: marked as running, but without a recent heartbeat."""

    record: Import
    is_stale: bool

    @property
    def state(self) -> str:
        """Return `running`, `stopped` or `done`. A stale import counts as stopped."""
        return Import.State.STOPPED if self.is_stale else self.record.state

    @property
    def look(self) -> str:
        """Return the style of the state chip (`static/css/states.css`), `flawed` with problems."""
        is_flawed = self.state == Import.State.DONE and self.record.problem_count
        return "flawed" if is_flawed else self.state

    @property
    def words(self) -> str:
        """Return the text of the state chip."""
        count = self.record.problem_count
        flawed = f"Done, {count:,} problem{'s' * (count != 1)}"
        return flawed if self.look == "flawed" else self.state

    @property
    def needs_attention(self) -> bool:
        """Return whether the import needs attention: it is not done or has problems."""
        return self.state != Import.State.DONE or self.record.problem_count > 0

    @property
    def counts(self) -> list[tuple[str, int]]:
        """Return the counts of kept and skipped rows (see `counts_of`)."""
        return counts_of(self.record)


def holdings_of(collection: Collection) -> Holdings:
    """Return the contents of a collection, with eight queries and two scans of Parquet files."""
    searched = Post.objects.filter(collection=collection, is_searched=True)
    by_type = _posts_by_type(collection)
    kinds = PostLink.objects.filter(collection=collection).order_by().values_list("kind")
    links = dict(kinds.annotate(number=Count("pk")))
    # Posts are stored in the order of their ids, which grow with time, so the first and last rows
    # have the earliest and latest dates.
    dates = searched.exclude(created_at=None).order_by("pk").values_list("created_at", flat=True)
    return Holdings(
        questions=by_type.get("question", 0),
        answers=by_type.get("answer", 0),
        documents=by_type.get("document", 0),
        later=max(0, Post.objects.filter(collection=collection).count() - sum(by_type.values())),
        first_post=dates.first(),
        last_post=dates.last(),
        comments=Comment.objects.filter(collection=collection).count(),
        related=links.get(PostLink.Kind.RELATED, 0),
        duplicates=links.get(PostLink.Kind.DUPLICATE, 0),
        tags=Tag.objects.filter(collection=collection).count(),
        authors=Author.objects.filter(collection=collection).count(),
        formulas=_rows_in(collection.formulas_index),
        visual_map=collection.visual_maps.order_by("-version").first(),
    )


def import_rows(collection: Collection, *, at: datetime) -> list[ImportRow]:
    """Return the imports of a collection by kind, and within a kind from oldest to newest."""
    kinds = list(Import.Kind.values)
    records = sorted(
        collection.imports.all(), key=lambda record: (kinds.index(record.kind), record.pk)
    )
    return [_row(record, at) for record in records]


def import_row(collection: Collection, record_id: int, *, at: datetime) -> ImportRow | None:
    """Return an import with its progress at a time, or None for one of another collection."""
    record = collection.imports.filter(pk=record_id).first()
    return None if record is None else _row(record, at)


def counts_of(record: Import) -> list[tuple[str, int]]:
    """Return the counts of kept and skipped rows by kind, highest first, without zeros."""
    # Sort ties by name: a database may store the keys in any order.
    counts = ((name, count) for name, count in record.counts.items() if count)
    return sorted(counts, key=lambda row: (-row[1], row[0]))


def missing_parts(
    collection: Collection, holdings: Holdings, rows: Iterable[ImportRow]
) -> list[str]:
    """Return what missing data of a collection affects, the most important first."""
    imported: set[str] = {row.record.kind for row in rows}
    present: dict[str, int] = {
        Import.Kind.POSTS: holdings.questions + holdings.answers,
        Import.Kind.LATEX: holdings.formulas,
        Import.Kind.SLT: len(str(collection.slt_index.name or "")),
        Import.Kind.COMMENTS: holdings.comments,
        Import.Kind.POST_LINKS: holdings.related + holdings.duplicates,
        Import.Kind.USERS: holdings.authors,
        Import.Kind.TAGS: holdings.tags,
    }
    # A collection of documents only needs no data dump.
    is_dump = not holdings.documents or holdings.questions + holdings.answers > 0
    missing = [
        effect
        for kind, effect in MISSING_FILES.items()
        if is_dump and kind not in imported and not present.get(kind)
    ]
    if holdings.formulas and holdings.visual_map is None:
        missing.append(
            "ArqLab has not assigned visual ids yet, so equal formulas without an id in the index "
            "count as different. Select “Make visual ids”."
        )
    return missing


def _row(record: Import, at: datetime) -> ImportRow:
    is_stale = record.state == Import.State.RUNNING and at - record.updated_at > STALE_AFTER
    return ImportRow(record, is_stale)


def _posts_by_type(collection: Collection) -> dict[str, int]:
    """Return the numbers of questions, answers and documents from the Parquet file.

    The table of posts is too long to be counted for a page.
    """
    if not collection.posts_index:
        return {}
    counts = scan_columns(collection.posts_index).group_by("type").len().collect()
    return dict(counts.iter_rows())


def _rows_in(file: FieldFile) -> int:
    """Return the number of rows of a Parquet file without reading them."""
    return int(scan_columns(file).select(pl.len()).collect().item()) if file else 0
