"""A collection to search, created in the database without files."""

from datetime import UTC, datetime
from typing import Any

import polars as pl

from arqkit.formulas.layout import layout_string
from arqkit.formulas.visual_ids import visual_map
from arqkit.texts.html.sanitizer import RULES
from arqkit.texts.maths.typesetting import presentation_mathml
from arqlab.core.models import Lab
from collection.models import Collection, LabCollection, Post, VisualMap
from collection.services.indexing import index_formulas, index_posts
from collection.services.parquet_files import store_frame

AT = datetime(2026, 5, 1, 12, 0, tzinfo=UTC)
INSTANCES = (
    "formula_id",
    "post_id",
    "thread_id",
    "type",
    "comment_id",
    "old_visual_id",
    "given_visual_id",
    "issue",
)
FORMULAS = {
    "101": ("1", "1", "title", "a^2+b^2=c^2"),
    "102": ("10", "1", "answer", "a^{2}+b^{2}=c^{2}"),
    "103": ("20", "2", "answer", "x^2+y^2=z^2"),
    "104": ("20", "2", "answer", r"\int_0^1 f"),
}


def make_collection(lab: Lab, slug: str = "small") -> Collection:
    """Create an empty collection that a lab searches."""
    collection = Collection.objects.create(slug=slug, loaded_at=AT)
    LabCollection.objects.create(lab=lab, collection=collection)
    return collection


def add_post(collection: Collection, post_id: str, body: str, **fields: Any) -> Post:
    """Add a post: a question with a title, or an answer with `thread_id`."""
    kind = Post.Kind.ANSWER if "thread_id" in fields else Post.Kind.QUESTION
    known = {"kind": kind, "thread_id": post_id, "body": body, "rules": RULES} | fields
    return Post.objects.create(collection=collection, post_id=post_id, **known)


def add_formulas(
    collection: Collection, formulas: dict[str, tuple[str, str, str, str]] = FORMULAS
) -> VisualMap:
    """Add formula instances (post, thread, type, LaTeX, by formula id) and their visual ids."""
    rows = [
        dict.fromkeys(INSTANCES)
        | {
            "formula_id": formula_id,
            "post_id": post,
            "thread_id": thread,
            "type": kind,
            "latex": latex,
        }
        | {"layout": layout_string(presentation_mathml(latex) or "")}
        for formula_id, (post, thread, kind, latex) in formulas.items()
    ]
    index = pl.DataFrame(rows, schema=dict.fromkeys([*INSTANCES, "latex", "layout"], pl.String))
    collection.formulas_index = store_frame(slug=collection.slug, what="formulas", frame=index)
    collection.save()
    made = visual_map(index.select("formula_id", "latex", "layout", given="given_visual_id"))
    return add_map(collection, made.mapping, made.forms)


def add_map(
    collection: Collection,
    mapping: pl.DataFrame,
    forms: pl.DataFrame,
    changes: pl.DataFrame | None = None,
) -> VisualMap:
    """Add a version of the visual ids."""
    frames = {"mapping": mapping, "forms": forms} | (
        {"changes": changes} if changes is not None else {}
    )
    version = collection.visual_maps.count() + 1
    names = {
        field: store_frame(slug=collection.slug, what=f"{field}-{version}", frame=frame)
        for field, frame in frames.items()
    }
    return VisualMap.objects.create(collection=collection, version=version, made_at=AT, **names)


def formula(formula_id: str, latex: str) -> str:
    """Return the span of a formula after sanitizing."""
    return f'<span class="math-container" id="{formula_id}">${latex}$</span>'


def make_searched(lab: Lab) -> Collection:
    """Create a collection with two threads, formulas and complete indexes."""
    collection = make_collection(lab)
    title = f"Which {formula('101', 'a^2+b^2=c^2')} are primitive?"
    add_post(
        collection,
        "1",
        "<p>About Pythagorean triples.</p>",
        title=title,
        tags=["number-theory"],
        score=3,
    )
    add_post(
        collection,
        "10",
        f"<p>Since {formula('102', 'a^{2}+b^{2}=c^{2}')}, one is even.</p>",
        thread_id="1",
        score=8,
    )
    add_post(
        collection,
        "2",
        "<p>Spheres &amp; cones</p>",
        title="Another question",
        tags=["calculus"],
        score=None,
    )
    body = f"<p>Cones: {formula('103', 'x^2+y^2=z^2')}, not {formula('104', '&#92;int_0^1 f')}.</p>"
    add_post(collection, "20", body, thread_id="2", score=1)
    index_formulas(version=add_formulas(collection))
    index_posts(collection=collection)
    return collection
