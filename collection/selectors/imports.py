"""What a collection holds, how its files came in, and what it lacks yet."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

import polars as pl
from django.db.models import Count, F, QuerySet
from django.db.models.fields.files import FieldFile

from collection.models import (
    Author,
    Collection,
    Comment,
    Import,
    ImportProblem,
    Post,
    PostLink,
    Tag,
    VisualMap,
)
from collection.models.imports import STALE_AFTER
from collection.selectors.collections import scan_columns

DUMP = "manage.py import_posts FOLDER --collection {slug}"
INDEX = "manage.py import_formulas --collection {slug} --latex FILE --slt FILE"
NUMBER = "manage.py make_visual_ids {slug}"
UNNUMBERED = "The formulas have no visual ids of ours yet, so equal ones without a given id count as different."
# What a reader of the collection misses where a kind of file did not come in, and what brings it
# in.
MISSING_FILES = {
    Import.Kind.POSTS: (
        "No posts were imported, so runs are not checked against them and no thread can be read.",
        DUMP,
    ),
    Import.Kind.LATEX: (
        "No formula index was imported, so runs on formulas are not checked against it.",
        INDEX,
    ),
    Import.Kind.SLT: (
        "No symbol layout trees were imported, so formulas are compared by layouts that are made from their LaTeX.",
        INDEX,
    ),
    Import.Kind.COMMENTS: ("No comments were imported, so threads show none.", DUMP),
    Import.Kind.POST_LINKS: (
        "No post links were imported, so threads name no linked or duplicate questions, and no topics can be chosen by them.",
        DUMP,
    ),
    Import.Kind.USERS: ("No users were imported, so posts and comments bear no names.", DUMP),
    Import.Kind.BADGES: ("No badges were imported, so authors have none.", DUMP),
    Import.Kind.VOTES: (
        "No votes were imported, so posts show the score of the dump alone, where it has one.",
        DUMP,
    ),
    Import.Kind.TAGS: ("No list of tags was imported; posts have their tags without it.", DUMP),
}


@dataclass(frozen=True)
class Holdings:
    """How much a collection holds. `later` are posts outside the date window, kept for topics and
    their threads.
    """

    questions: int
    answers: int
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
    """An import and whether it is silent: it says that it runs, and stored nothing for a while."""

    record: Import
    is_stale: bool

    @property
    def state(self) -> str:
        """Return `running`, `stopped` or `done`; a silent import counts as stopped."""
        return Import.State.STOPPED if self.is_stale else self.record.state

    @property
    def look(self) -> str:
        """Name the chip of the state (`static/css/states.css`): what is done with problems is not
        merely done.
        """
        return (
            "flawed"
            if self.state == Import.State.DONE and self.record.problem_count
            else self.state
        )

    @property
    def said(self) -> str:
        """Return the words of that chip."""
        count = self.record.problem_count
        return (
            f"Done, {count:,} problem{'s' * (count != 1)}" if self.look == "flawed" else self.state
        )

    @property
    def asks(self) -> bool:
        """Return whether somebody should look at it: it is not done, or has problems."""
        return self.state != Import.State.DONE or self.record.problem_count > 0

    @property
    def counts(self) -> list[tuple[str, int]]:
        """Return what was kept or passed over by kind of row (`counts_of`)."""
        return counts_of(self.record)


@dataclass(frozen=True)
class MissingPart:
    """What is not there yet, and the command that brings all of it in."""

    texts: tuple[str, ...]
    command: str


def holdings_of(collection: Collection) -> Holdings:
    """Return what a collection holds, in eight queries and two looks at its columns."""
    searched = Post.objects.filter(collection=collection, is_searched=True)
    questions, answers = _posts_by_type(collection)
    links = dict(
        PostLink.objects.filter(collection=collection)
        .order_by()
        .values_list("kind")
        .annotate(number=Count("pk"))
    )
    # Posts come in by their ids, and those grow with time: the earliest and the latest are the
    # first and the last.
    dates = searched.exclude(created_at=None).order_by("pk").values_list("created_at", flat=True)
    return Holdings(
        questions=questions,
        answers=answers,
        later=max(0, Post.objects.filter(collection=collection).count() - questions - answers),
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
    """Return the imports of a collection in the order of their kinds, those of one kind by age."""
    kinds = list(Import.Kind.values)
    records = sorted(
        collection.imports.all(), key=lambda record: (kinds.index(record.kind), record.pk)
    )
    return [_row(record, at) for record in records]


def import_row(collection: Collection, record_id: int, *, at: datetime) -> ImportRow | None:
    """Return one import of a collection."""
    record = collection.imports.filter(pk=record_id).first()
    return None if record is None else _row(record, at)


def problems_of(record: Import) -> QuerySet[ImportProblem]:
    """Return the problems of an import that are kept, by file and line; what concerns a whole file
    comes first.
    """
    return record.problems.order_by("source", F("line").asc(nulls_first=True), "pk")


def counts_of(record: Import) -> list[tuple[str, int]]:
    """Return what was kept or passed over by kind of row, the most first; kinds without a row are
    left out.
    """
    # By name where the numbers are the same: a database may keep them in an order of its own.
    return sorted(
        ((name, count) for name, count in record.counts.items() if count),
        key=lambda one: (-one[1], one[0]),
    )


def missing_parts(
    collection: Collection, holdings: Holdings, rows: Iterable[ImportRow]
) -> list[MissingPart]:
    """Return what a collection lacks yet, the most needed first."""
    here: set[str] = {row.record.kind for row in rows}
    held = {
        Import.Kind.POSTS: holdings.questions + holdings.answers,
        Import.Kind.LATEX: holdings.formulas,
        Import.Kind.SLT: len(str(collection.slt_index.name or "")),
        Import.Kind.COMMENTS: holdings.comments,
        Import.Kind.POST_LINKS: holdings.related + holdings.duplicates,
        Import.Kind.USERS: holdings.authors,
        Import.Kind.TAGS: holdings.tags,
    }
    missed = [
        words for kind, words in MISSING_FILES.items() if kind not in here and not held.get(kind)
    ]
    if holdings.formulas and holdings.visual_map is None:
        missed.append((UNNUMBERED, NUMBER))
    by_command: dict[str, list[str]] = {}
    for text, command in missed:
        by_command.setdefault(command, []).append(text)
    return [
        MissingPart(tuple(texts), command.format(slug=collection.slug))
        for command, texts in by_command.items()
    ]


def _row(record: Import, at: datetime) -> ImportRow:
    is_stale = record.state == Import.State.RUNNING and at - record.updated_at > STALE_AFTER
    return ImportRow(record, is_stale)


def _posts_by_type(collection: Collection) -> tuple[int, int]:
    """Count questions and answers in the columns: the table of posts is too long to be counted for
    a page.
    """
    if not collection.posts_index:
        return 0, 0
    counts = scan_columns(collection.posts_index).group_by("type").len().collect()
    by_type = dict(counts.iter_rows())
    return by_type.get("question", 0), by_type.get("answer", 0)


def _rows_in(file: FieldFile) -> int:
    """Count the rows of columns without reading them."""
    return int(scan_columns(file).select(pl.len()).collect().item()) if file else 0
