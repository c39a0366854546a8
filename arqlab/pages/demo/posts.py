"""The demo lab's collection: its posts, and the indexes of formulas that are made from them and
from the topics.

`python -m arqlab.pages.demo.posts` writes `formulas.latex.tsv` and `topic-formulas.latex.tsv` anew
after a change of `Posts.xml` or the topics; a test compares them.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from arqlab.formats.dumps.posts import PostRecord
from arqlab.formats.dumps.posts import read_posts as read_file
from arqlab.formats.topics.read import read_topics
from arqlab.formats.topics.write import TopicFormula, write_topic_formulas
from arqlab.ir.records import TopicRecord
from arqlab.pages.demo import tokens
from arqlab.texts.posts.text import TextFormula, text_formulas

Post = PostRecord
FOLDER = Path(__file__).parent
INDEX_COLUMNS = ("id", "post_id", "thread_id", "type", "visual_id", "formula")
# Ids count up with time: from here on posts are later than the window of `lab.toml`, and no system
# may find them.
FIRST_LATER_ID = 3_000
# The questions among those that topics were made of.
THREADS = {"A.1": "3100"}
# Visual ids start here, so that none of them can be mistaken for a formula id.
_FIRST_VISUAL_ID = 100_000


class DemoFormula(NamedTuple):
    """One row of the formula index, in the second edition's columns (protocol §2)."""

    formula_id: str
    post_id: str
    thread_id: str
    kind: str
    visual_id: str
    latex: str


def read_demo_posts() -> list[Post]:
    """Read the demo's posts that are searched, in the order of the file."""
    return [post for post in read_dump() if int(post.post_id) < FIRST_LATER_ID]


def read_dump() -> list[Post]:
    """Read all posts of the demo's dump, in the order of the file."""
    return list(read_file(FOLDER / "Posts.xml"))


def index_topics(topics: Sequence[TopicRecord]) -> list[TopicFormula]:
    """Return all formulas of the topics of Task 1, with the thread of a topic where the dump has it."""
    return [
        TopicFormula(
            formula.formula_id, topic.query_id, THREADS.get(topic.query_id, ""), kind, formula.latex
        )
        for topic in topics
        for kind, text in (("title", topic.title), ("body", topic.body))
        for formula in text_formulas(text)
    ]


def index_demo_formulas(posts: Sequence[Post]) -> list[DemoFormula]:
    """Return all formulas of the posts; those that look the same share a visual id, named after the
    first of them.
    """
    found = [(post, kind, formula) for post in posts for kind, formula in _formulas(post)]
    first: dict[str, int] = {}
    for _, _, formula in found:
        form = tokens.visual_form(formula.latex)
        first[form] = min(first.get(form, int(formula.formula_id)), int(formula.formula_id))
    return [
        DemoFormula(
            formula.formula_id,
            post.post_id,
            post.thread_id,
            kind,
            str(_FIRST_VISUAL_ID + first[tokens.visual_form(formula.latex)]),
            formula.latex,
        )
        for post, kind, formula in found
    ]


def _formulas(post: Post) -> list[tuple[str, TextFormula]]:
    title = [("title", formula) for formula in text_formulas(post.title)]
    return title + [(post.kind, formula) for formula in text_formulas(post.body)]


def write_index(formulas: Sequence[DemoFormula]) -> bytes:
    """Return the formula index as the collection's TSV, with its header."""
    rows = [INDEX_COLUMNS, *formulas]
    return "".join("\t".join(row) + "\n" for row in rows).encode()


def read_questions() -> list[TopicRecord]:
    """Read the topics of Task 1."""
    path = FOLDER / "topics.task1.xml"
    return read_topics(path.read_bytes(), path=str(path))


if __name__ == "__main__":
    (FOLDER / "topic-formulas.latex.tsv").write_bytes(
        write_topic_formulas(index_topics(read_questions()))
    )
    (FOLDER / "formulas.latex.tsv").write_bytes(write_index(index_demo_formulas(read_demo_posts())))
