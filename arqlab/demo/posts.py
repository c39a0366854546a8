"""The demo lab's collection: its posts, and the index of their formulas that is made from them.

`python -m arqlab.demo.posts` writes `formulas.latex.tsv` anew after a change of `Posts.xml`; a test compares the two.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from arqlab.demo import tokens
from arqlab.ir import collectionfile
from arqlab.ir.collectionfile import Post

FOLDER = Path(__file__).parent
INDEX_COLUMNS = ("id", "post_id", "thread_id", "type", "visual_id", "formula")
# Visual ids start here, so that none of them can be mistaken for a formula id.
_FIRST_VISUAL_ID = 100_000


class Formula(NamedTuple):
    """One row of the formula index, in the second edition's columns (protocol §2)."""

    formula_id: str
    post_id: str
    thread_id: str
    kind: str
    visual_id: str
    latex: str


def read_posts() -> list[Post]:
    """Read the demo's posts, in the order of the file."""
    return list(collectionfile.read_posts(FOLDER / "Posts.xml"))


def index_formulas(posts: Sequence[Post]) -> list[Formula]:
    """Give all formulas of the posts; those that look the same share a visual id, named after the first of them."""
    found = [(post, kind, formula) for post in posts for kind, formula in _formulas(post)]
    first: dict[str, int] = {}
    for _, _, formula in found:
        form = tokens.visual_form(formula.latex)
        first[form] = min(first.get(form, int(formula.formula_id)), int(formula.formula_id))
    return [
        Formula(
            formula.formula_id,
            post.post_id,
            post.thread_id,
            kind,
            str(_FIRST_VISUAL_ID + first[tokens.visual_form(formula.latex)]),
            formula.latex,
        )
        for post, kind, formula in found
    ]


def _formulas(post: Post) -> list[tuple[str, tokens.TextFormula]]:
    title = [("title", formula) for formula in tokens.formulas(post.title)]
    return title + [(post.kind, formula) for formula in tokens.formulas(post.body)]


def write_index(formulas: Sequence[Formula]) -> bytes:
    """Give the formula index as the collection's TSV, with its header."""
    rows = [INDEX_COLUMNS, *formulas]
    return "".join("\t".join(row) + "\n" for row in rows).encode()


if __name__ == "__main__":
    (FOLDER / "formulas.latex.tsv").write_bytes(write_index(index_formulas(read_posts())))
