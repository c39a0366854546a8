"""The formula index of a data dump without one, extracted from its posts and comments.

An import of posts adds the formulas of each post and writes them to disk. A resumed import adds
those of the earlier rows again, because they are stored only by the last transaction.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import polars as pl
from django.db.models.functions import Coalesce

from arqkit.formats.batches import in_slices
from arqkit.formats.formulas.seen_ids import SeenIds
from arqkit.texts.html.allowed_html import FORMULA
from arqkit.texts.html.dump_posts import ReadyPost
from arqkit.texts.html.sanitizer import source_latex
from collection.models import Collection, Comment, Import, Post
from collection.selectors.collections import scan_columns
from collection.services.importing.import_records import FORMULA_KINDS
from collection.services.importing.parquet_parts import INDEX_COLUMNS, Parts
from collection.services.parquet_files import replace_files

TEXT_SCHEMA = dict.fromkeys(
    ("post_id", "thread_id", "type", "comment_id", "formula_id", "latex"), pl.String
)
"""The columns of one text. Its formula ids and LaTeX strings are each joined by NUL."""
NULL = [
    pl.lit(None, pl.String).alias(name)
    for name in (*INDEX_COLUMNS, "layout")
    if name not in TEXT_SCHEMA
]
TEXTS = 2_500
"""The number of texts written together, with about 20,000 formulas."""
COMMENTS = 500
"""The number of comments in memory at once."""


class FoundFormulas(Parts):
    """Extracted formulas (LaTeX without dollars), written to disk in parts of constant size."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._texts: list[tuple[str | None, ...]] = []
        self._dropped: list[str] = []

    def add_post(self, post: ReadyPost) -> None:
        """Add the formulas of a post."""
        for kind, ids, latex in post.found:
            self.add_text(str(post.number), str(post.thread), kind, None, ids, latex)

    def add_text(self, *text: str | None) -> None:
        """Add the formulas of a text, with the values of `TEXT_SCHEMA`."""
        self._texts.append(text)
        if len(self._texts) >= TEXTS:
            self.close()

    def drop(self, post_ids: Iterable[str]) -> None:
        """Remove the formulas of these posts."""
        self._dropped += post_ids

    def rows(self) -> pl.LazyFrame:
        """Return a lazy scan of the formulas with the columns of `Collection.formulas_index`."""
        kept = super().rows().filter(~pl.col("post_id").is_in(self._dropped))
        rows = kept.with_columns(pl.col("formula_id", "latex").str.split("\0")).explode(
            "formula_id", "latex"
        )
        return rows.with_columns(NULL).select(*INDEX_COLUMNS, "layout")

    def close(self) -> None:
        """Write the remaining texts to disk."""
        if self._texts:
            self.add(pl.DataFrame(self._texts, schema=TEXT_SCHEMA, orient="row"))
        self._texts = []


def index_found_formulas(
    collection: Collection, extracted: FoundFormulas, *, reimported: SeenIds
) -> None:
    """Store a formula index of the extracted formulas of posts and of the comments.

    Formulas of posts that are not among the `reimported` ones are copied from the present index. An
    imported index is kept. No index is stored if most formulas have ids in the dump: then the dump
    has its own index, and only that one is complete. Call this in the last transaction of an import
    of posts or comments.
    """
    collection.refresh_from_db(fields=["formulas_index"])  # it may have changed during the import
    if (
        collection.formulas_index
        and collection.imports.filter(kind__in=FORMULA_KINDS, kept__gt=0).exists()
    ):
        return
    counts = [record.counts for record in collection.imports.filter(kind=Import.Kind.POSTS)]
    formulas, ours = (
        sum(record.get(name, 0) for record in counts) for name in ("formulas", "formulas_numbered")
    )
    name = _store(collection, extracted, reimported) if 2 * ours > formulas else ""
    replace_files(collection, formulas_index=name)


def _store(collection: Collection, extracted: FoundFormulas, reimported: SeenIds) -> str:
    if collection.formulas_index:
        extracted.close()
        of_posts = (
            scan_columns(collection.formulas_index)
            .filter(pl.col("type") != "comment")
            .select(*TEXT_SCHEMA)
        )
        for frame in of_posts.collect_batches(maintain_order=True):
            is_kept = pl.Series(
                [int(post_id) not in reimported for post_id in frame["post_id"]], dtype=pl.Boolean
            )
            if is_kept.any():
                extracted.add(frame.filter(is_kept))
    for text in _comment_formulas(collection):
        extracted.add_text(*text)
    extracted.close()
    return extracted.store(slug=collection.slug, what="formulas")


def _comment_formulas(collection: Collection) -> Iterator[tuple[str, ...]]:
    """Yield the formulas of comments on searched posts, with the values of `TEXT_SCHEMA`."""
    posts = Post.objects.filter(collection=collection, is_searched=True)
    comments = Comment.objects.filter(collection=collection).order_by("pk")
    fields = ("comment_id", "post_id", Coalesce("clean_text", "text"))
    for some in in_slices(comments.values_list(*fields).iterator(COMMENTS), size=COMMENTS):
        named = posts.filter(post_id__in={post_id for _, post_id, _ in some})
        threads = dict(named.values_list("post_id", "thread_id"))
        for comment_id, post_id, text in some:
            if post_id in threads and (formulas := FORMULA.findall(text)):
                ids = "\0".join(known for known, _ in formulas)
                latex = "\0".join(source_latex(written)[0] for _, written in formulas)
                yield post_id, threads[post_id], "comment", comment_id, ids, latex
