"""Formulas that were found in posts and comments themselves: the formula index of a dump that has
none.

Those of posts are told with them as an import passes, and put down here; one that is taken up again
is told those of the rows before once more. Nothing else holds them until the transaction that ends
the import names the index.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import polars as pl
from django.db.models.functions import Coalesce

from arqlab.formats.batches import in_slices
from arqlab.formats.formulas.seen_ids import SeenIds
from arqlab.texts.html.allowed_html import FORMULA
from arqlab.texts.html.dump_posts import ReadyPost
from arqlab.texts.html.sanitizer import source_latex
from collection.models import Collection, Comment, Import, Post
from collection.selectors.collections import scan_columns
from collection.services.importing.formulas import KINDS
from collection.services.importing.parquet_parts import INDEX_COLUMNS, Parts
from collection.services.parquet_files import replace_files

TEXT_SCHEMA = dict.fromkeys(
    ("post_id", "thread_id", "type", "comment_id", "formula_id", "latex"), pl.String
)
"""What is told of a text, its ids and LaTeX each joined by NUL."""
NULL = [
    pl.lit(None, pl.String).alias(name)
    for name in (*INDEX_COLUMNS, "layout")
    if name not in TEXT_SCHEMA
]
TEXTS = 2_500
"""Texts whose formulas are put down together: some 20,000 formulas."""
COMMENTS = 500
"""Comments that are in memory at once."""


class FoundFormulas(Parts):
    """Formulas on their way into an index, the LaTeX without dollars; memory is the same for every
    collection.
    """

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._texts: list[tuple[str | None, ...]] = []
        self._dropped: list[str] = []

    def take(self, post: ReadyPost) -> None:
        """Take what was found in a post."""
        for kind, ids, latex in post.found:
            self.tell(str(post.number), str(post.thread), kind, None, ids, latex)

    def tell(self, *text: str | None) -> None:
        """Take the formulas of a text, told as TEXT_SCHEMA says."""
        self._texts.append(text)
        if len(self._texts) >= TEXTS:
            self.close()

    def drop(self, post_ids: Iterable[str]) -> None:
        """Leave out posts that were taken."""
        self._dropped += post_ids

    def rows(self) -> pl.LazyFrame:
        """Open all that was put down and not dropped, in the columns of
        `Collection.formulas_index`.
        """
        kept = super().rows().filter(~pl.col("post_id").is_in(self._dropped))
        rows = kept.with_columns(pl.col("formula_id", "latex").str.split("\0")).explode(
            "formula_id", "latex"
        )
        return rows.with_columns(NULL).select(*INDEX_COLUMNS, "layout")

    def close(self) -> None:
        """Put down what waits."""
        if self._texts:
            self.add(pl.DataFrame(self._texts, schema=TEXT_SCHEMA, orient="row"))
        self._texts = []


def index_found_formulas(collection: Collection, found: FoundFormulas, *, anew: SeenIds) -> None:
    """Make an index of the formulas found, those of its comments, and those that it has of posts
    that are not `anew`.

    There is none when most formulas came with their ids: then there is one somewhere, and only that
    has all. One that was imported stays. Call it in the transaction that ends an import of posts or
    comments.
    """
    collection.refresh_from_db(fields=["formulas_index"])  # an index may have come meanwhile
    if collection.formulas_index and collection.imports.filter(kind__in=KINDS, kept__gt=0).exists():
        return
    counts = [one.counts for one in collection.imports.filter(kind=Import.Kind.POSTS)]
    formulas, ours = (
        sum(one.get(name, 0) for one in counts) for name in ("formulas", "formulas_numbered")
    )
    name = _stored(collection, found, anew) if 2 * ours > formulas else ""
    replace_files(collection, formulas_index=name)


def _stored(collection: Collection, found: FoundFormulas, anew: SeenIds) -> str:
    if collection.formulas_index:
        found.close()
        of_posts = (
            scan_columns(collection.formulas_index)
            .filter(pl.col("type") != "comment")
            .select(*TEXT_SCHEMA)
        )
        for frame in of_posts.collect_batches(maintain_order=True):
            stays = pl.Series(
                [int(post_id) not in anew for post_id in frame["post_id"]], dtype=pl.Boolean
            )
            if stays.any():
                found.add(frame.filter(stays))
    for text in _of_comments(collection):
        found.tell(*text)
    found.close()
    return found.store(slug=collection.slug, what="formulas")


def _of_comments(collection: Collection) -> Iterator[tuple[str, ...]]:
    """Report the formulas of comments on posts that are searched."""
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
