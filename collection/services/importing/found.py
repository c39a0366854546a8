"""Formulas that were found in posts and comments themselves: the formula index of a dump that has none."""

from __future__ import annotations

from collections.abc import Iterator
from html import unescape
from itertools import islice

import polars as pl

from arqlab.core.cleanhtml import FORMULA
from arqlab.core.formulatext import without_marks
from collection.models import Collection, Comment, Import, Post
from collection.services.columns import name_columns
from collection.services.importing.postsindex import PART, store_frames

SCHEMA = dict.fromkeys(
    (
        "formula_id",
        "post_id",
        "thread_id",
        "type",
        "comment_id",
        "old_visual_id",
        "given_visual_id",
        "issue",
        "latex",
        "layout",
    ),
    pl.String,
)
"""The columns of `Collection.formulas_index`."""
TEXTS = 500
"""Texts that are in memory at once."""

_Row = tuple[str | None, ...]


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


def found_formulas(collection: Collection) -> Iterator[pl.DataFrame]:
    """Give the formulas in the clean texts of the posts that are searched, and of their comments, in batches of columns.

    The LaTeX is without dollars; layout and given visual id are null. Memory is the same for every collection.
    """
    rows = _rows(collection)
    while some := list(islice(rows, PART)):
        yield pl.DataFrame(some, schema=SCHEMA, orient="row")


def _rows(collection: Collection) -> Iterator[_Row]:
    posts = Post.objects.filter(collection=collection, is_searched=True).order_by("pk")
    for post in posts.iterator(TEXTS):
        yield from _formulas(post.safe_title, post.post_id, post.thread_id, "title")
        yield from _formulas(post.safe_body, post.post_id, post.thread_id, post.kind)
    comments = Comment.objects.filter(collection=collection).order_by("pk").iterator(TEXTS)
    while some := list(islice(comments, TEXTS)):
        names = {comment.post_id for comment in some}
        threads = dict(posts.filter(post_id__in=names).order_by().values_list("post_id", "thread_id"))
        for comment in some:
            if thread := threads.get(comment.post_id):
                yield from _formulas(comment.safe_text, comment.post_id, thread, "comment", comment.comment_id)


def _formulas(html: str, post_id: str, thread_id: str, kind: str, comment_id: str | None = None) -> Iterator[_Row]:
    for formula_id, text in FORMULA.findall(html):
        latex, _ = without_marks(unescape(text))
        yield formula_id, post_id, thread_id, kind, comment_id, None, None, None, latex, None
