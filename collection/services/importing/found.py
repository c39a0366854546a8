"""Formulas that were found in posts and comments themselves: the formula index of a dump that has none."""

from __future__ import annotations

from collections.abc import Iterator
from html import unescape
from itertools import chain
from typing import NamedTuple

import polars as pl
from django.db.models.functions import Coalesce

from arqlab.core.html.cleanhtml import FORMULA
from arqlab.ir.posttext import without_marks
from arqlab.ir.slices import in_slices
from collection.models import Collection, Comment, Import, Post
from collection.services.columns import name_columns
from collection.services.importing.parts import INDEX_COLUMNS
from collection.services.importing.postsindex import PART, store_frames

SCHEMA = dict.fromkeys((*INDEX_COLUMNS, "layout"), pl.String)
"""The columns of `Collection.formulas_index`."""
TEXTS = 500
"""Texts that are in memory at once."""


def index_found_formulas(collection: Collection) -> bool:
    """Give a collection of a raw dump the formulas found in its texts as its formula index; says whether it did.

    It is none when most of its formulas came with their ids: then there is an index somewhere, and only that has all.
    """
    counts = [one.counts for one in collection.imports.filter(kind=Import.Kind.POSTS)]
    formulas, ours = (sum(one.get(name, 0) for one in counts) for name in ("formulas", "formulas_numbered"))
    if collection.slt_index or 2 * ours <= formulas:
        return False
    name = store_frames(slug=collection.slug, what="formulas", frames=found_formulas(collection))
    name_columns(collection, formulas_index=name)
    return True


def forget_found_formulas(collection: Collection) -> None:
    """Forget the formulas that were found in texts, as these have changed; an index that was imported stays.

    Call it in the transaction that ends an import of texts: whoever comes next, here or after a crash, finds them anew.
    """
    if collection.imports.filter(kind__in=(Import.Kind.LATEX, Import.Kind.SLT, Import.Kind.OPT)).exists():
        return
    name_columns(collection, formulas_index="")


def found_formulas(collection: Collection) -> Iterator[pl.DataFrame]:
    """Give the formulas in the clean texts of the posts that are searched, and of their comments, in batches of columns.

    The LaTeX is without dollars; layout and given visual id are null. Memory is the same for every collection.
    """
    columns = _Columns()
    for text in chain(_texts_of_posts(collection), _texts_of_comments(collection)):
        columns.add(text)
        if len(columns.latex) >= PART:
            yield columns.frame()
            columns = _Columns()
    if columns.latex:
        yield columns.frame()


class _Text(NamedTuple):
    """A clean text, and what of its formulas is the same for all."""

    html: str
    post_id: str
    thread_id: str
    kind: str
    comment_id: str | None = None


class _Columns:
    """Formulas on their way into a frame."""

    def __init__(self) -> None:
        self.ids: list[str] = []
        self.latex: list[str] = []
        self.texts: list[_Text] = []

    def add(self, text: _Text) -> None:
        """Take the formulas of a text."""
        for formula_id, written in FORMULA.findall(text.html):
            self.ids.append(formula_id)
            self.latex.append(without_marks(unescape(written) if "&" in written else written)[0])
            self.texts.append(text)

    def frame(self) -> pl.DataFrame:
        """Give them as the columns of a formula index."""
        found = {
            "formula_id": self.ids,
            "post_id": [text.post_id for text in self.texts],
            "thread_id": [text.thread_id for text in self.texts],
            "type": [text.kind for text in self.texts],
            "comment_id": [text.comment_id for text in self.texts],
            "latex": self.latex,
        }
        lacking = [pl.lit(None, pl.String).alias(name) for name in SCHEMA if name not in found]
        frame = pl.DataFrame(found, schema=dict.fromkeys(found, pl.String))
        return frame.with_columns(lacking).select(*SCHEMA)


def _texts_of_posts(collection: Collection) -> Iterator[_Text]:
    posts = Post.objects.filter(collection=collection, is_searched=True).order_by("pk")
    fields = ("post_id", "thread_id", "kind", Coalesce("clean_title", "title"), Coalesce("clean_body", "body"))
    for post_id, thread_id, kind, title, body in posts.values_list(*fields).iterator(TEXTS):
        if title:
            yield _Text(title, post_id, thread_id, "title")
        yield _Text(body, post_id, thread_id, kind)


def _texts_of_comments(collection: Collection) -> Iterator[_Text]:
    posts = Post.objects.filter(collection=collection, is_searched=True)
    comments = Comment.objects.filter(collection=collection).order_by("pk")
    fields = ("comment_id", "post_id", Coalesce("clean_text", "text"))
    for some in in_slices(comments.values_list(*fields).iterator(TEXTS), size=TEXTS):
        named = posts.filter(post_id__in={post_id for _, post_id, _ in some})
        threads = dict(named.values_list("post_id", "thread_id"))
        for comment_id, post_id, text in some:
            if thread_id := threads.get(post_id):
                yield _Text(text, post_id, thread_id, "comment", comment_id)
