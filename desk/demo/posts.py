"""The demo lab's collection: its posts, and formula indexes of its posts and topics.

After a change of `Posts.xml` or the topics, run `python -m desk.demo.posts` to update
`formulas.latex.tsv` and `topic-formulas.latex.tsv`. A test compares them.
"""

import re
import shutil
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import NamedTuple

from arqkit.formats.dumps.posts import PostRecord
from arqkit.formats.dumps.posts import read_posts as read_file
from arqkit.formats.topics.read import read_topics
from arqkit.formats.topics.write import TopicFormula, write_topic_formulas
from arqkit.records import TopicRecord
from arqkit.texts.posts.text import TextFormula, text_formulas
from desk.demo import tokens

WRITTEN_ON = date(2026, 6, 1)
"""The day on which `lab.toml` was written; its dates are relative to it."""

# Dates of tasks. The window of the collection is not moved, because its posts are not.
_DAY = re.compile(
    r"(?<=^opens = )\d{4}-\d{2}-\d{2}$|(?<=^deadline = )\d{4}-\d{2}-\d{2}$", re.MULTILINE
)
_LAB_FILES = ("*.xml", "formulas.*.tsv", "topic-formulas.*.tsv", "qrels.*.tsv", "topic-info.*.csv")


def lab_text(*, today: date) -> str:
    """Return `lab.toml` with the dates of its tasks moved from `WRITTEN_ON` to `today`."""
    shift = today - WRITTEN_ON
    return _DAY.sub(
        lambda day: (date.fromisoformat(day[0]) + shift).isoformat(),
        (FOLDER / "lab.toml").read_text(),
    )


def write_lab(folder: Path, *, today: date) -> Path:
    """Write the demo lab into `folder`, creating it if needed, and return the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for pattern in _LAB_FILES:
        for file in FOLDER.glob(pattern):
            shutil.copyfile(file, folder / file.name)
    (folder / "lab.toml").write_text(lab_text(today=today))
    return folder


Post = PostRecord
FOLDER = Path(__file__).parent
INDEX_COLUMNS = ("id", "post_id", "thread_id", "type", "visual_id", "formula")
# Ids increase with time. Posts with this id or a higher one are after the window of `lab.toml` and
# must not be retrieved.
FIRST_LATER_ID = 3_000
# The questions that topics were made from.
THREADS = {"A.1": "3100"}
# Visual ids start here, so that they differ from all formula ids.
_FIRST_VISUAL_ID = 100_000


class DemoFormula(NamedTuple):
    """One row of the formula index, with ARQMath-2's columns (protocol §2)."""

    formula_id: str
    post_id: str
    thread_id: str
    kind: str
    visual_id: str
    latex: str


def read_demo_posts() -> list[Post]:
    """Read the demo's searchable posts, in the order of the file."""
    return [post for post in read_dump() if int(post.post_id) < FIRST_LATER_ID]


def read_dump() -> list[Post]:
    """Read all posts of the demo's data dump, in the order of the file."""
    return list(read_file(FOLDER / "Posts.xml"))


def index_topics(topics: Sequence[TopicRecord]) -> list[TopicFormula]:
    """Return all formulas of Task 1's topics, with the thread of a topic if the dump has it."""
    return [
        TopicFormula(
            formula.formula_id, topic.query_id, THREADS.get(topic.query_id, ""), kind, formula.latex
        )
        for topic in topics
        for kind, text in (("title", topic.title), ("body", topic.body))
        for formula in text_formulas(text)
    ]


def index_demo_formulas(posts: Sequence[Post]) -> list[DemoFormula]:
    """Return all formulas of the posts; formulas that look the same share a visual id.

    The visual id is derived from the lowest formula id.
    """
    formulas = [(post, kind, formula) for post in posts for kind, formula in _formulas(post)]
    first: dict[str, int] = {}
    for _, _, formula in formulas:
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
        for post, kind, formula in formulas
    ]


def _formulas(post: Post) -> list[tuple[str, TextFormula]]:
    title = [("title", formula) for formula in text_formulas(post.title)]
    return title + [(post.kind, formula) for formula in text_formulas(post.body)]


def write_index(formulas: Sequence[DemoFormula]) -> bytes:
    """Return the formula index as TSV with a header."""
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
