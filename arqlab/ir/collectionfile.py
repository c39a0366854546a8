"""The ids of a collection: its posts (`Posts.xml`) and its formula index (TSV), plain or gzipped (protocol §2).

`posts_frame` and `formulas_frame` check a file and give who is who: which post is an answer and of which thread, which
formula stands in which post. `read_posts` gives the texts.
"""

import gzip
import re
import zlib
from collections.abc import Iterator
from io import BufferedIOBase
from pathlib import Path
from typing import NamedTuple

import polars as pl
from lxml import etree

from arqlab.ir.records import FileRefusedError, Problem

_POST_TYPES = {"1": "question", "2": "answer"}
_POSTS_SCHEMA = {"post_id": pl.String, "type": pl.String, "thread_id": pl.String}
# The editions differ: the first has no visual id, the second one or two, the third an issue as well.
_FORMULA_COLUMNS = {
    "formula_id": ("id", "formula_id"),
    "post_id": ("post_id",),
    "thread_id": ("thread_id",),
    "type": ("type",),
    "visual_id": ("visual_id",),
}
_MAY_LACK = ("visual_id",)


class Post(NamedTuple):
    """A question or an answer as the file has it; title and body are HTML, and a question is its own thread."""

    post_id: str
    kind: str
    thread_id: str
    title: str
    body: str
    tags: tuple[str, ...]


def read_posts(path: Path) -> Iterator[Post]:
    """Read the questions and answers of a `Posts.xml` that `posts_frame` accepts, one by one in the file's order."""
    with _opened(path) as file:
        for _, row in _rows(file, path):
            if kind := _POST_TYPES.get(row.get("PostTypeId") or ""):
                yield _post(row, kind)


def read_collection(posts: Path | None, index: Path | None) -> tuple[pl.DataFrame | None, pl.DataFrame | None]:
    """Read the posts and the formula index of a collection (`posts_frame`, `formulas_frame`); None for what it has not.

    Raises FileRefusedError with every problem of both files.
    """
    frames: list[pl.DataFrame | None] = []
    problems: list[Problem] = []
    for path, read in ((posts, posts_frame), (index, formulas_frame)):
        try:
            frames.append(None if path is None else read(path))
        except FileRefusedError as refused:
            problems += refused.problems
    if problems:
        raise FileRefusedError(problems)
    return frames[0], frames[1]


def posts_frame(path: Path) -> pl.DataFrame:
    """Read `Posts.xml` as a stream into post_id, type (question or answer) and thread_id (the question's id).

    Rows of other types (tag wikis) are passed over.
    Raises FileRefusedError with every problem: not well-formed, an id missing or twice, an answer without question.
    """
    problems: list[Problem] = []
    rows: dict[str, tuple[str, str, str]] = {}
    with _opened(path) as file:
        try:
            for line, row in _rows(file, path):
                post_id = row.get("Id") or ""
                kind = _POST_TYPES.get(row.get("PostTypeId") or "")
                thread = post_id if kind == "question" else row.get("ParentId")
                if kind is None:
                    continue
                if not post_id or not thread or post_id in rows:
                    problems.append(_bad_row(path, line, post_id, is_repeated=post_id in rows))
                else:
                    rows[post_id] = (post_id, kind, thread)
        except (etree.XMLSyntaxError, EOFError, OSError, zlib.error) as error:
            line_of = getattr(error, "lineno", None) or None
            problems.append(Problem(str(path), line_of, str(error), "well-formed XML", "Give the whole Posts.xml."))
    if problems:
        raise FileRefusedError(problems)
    return pl.DataFrame(list(rows.values()), schema=_POSTS_SCHEMA, orient="row")


def formulas_frame(path: Path) -> pl.DataFrame:
    """Read a formula index into formula_id, post_id, thread_id, type and visual_id (null where it has none).

    The columns are found by the names in the first line, whatever the edition.
    Raises FileRefusedError when a column is missing, an id is missing or stands twice, or the file is no TSV.
    """
    try:
        frame = pl.read_csv(path, separator="\t", infer_schema=False)
    except (pl.exceptions.PolarsError, OSError) as error:
        found = str(error).splitlines()[0]
        raise FileRefusedError(
            [Problem(str(path), None, found, "a TSV with headings", "Give the whole index.")]
        ) from error
    named = {name.strip().strip("\r").lower(): name for name in frame.columns}
    chosen = {ours: next((named[n] for n in theirs if n in named), None) for ours, theirs in _FORMULA_COLUMNS.items()}
    lacking = [_FORMULA_COLUMNS[ours][0] for ours, name in chosen.items() if name is None and ours not in _MAY_LACK]
    if lacking:
        found, expected = f"the columns {', '.join(frame.columns)[:80]}", f"also {', '.join(lacking)}"
        raise FileRefusedError([Problem(str(path), 1, found, expected, "Name the columns in the first line.")])
    ids = frame.select(
        (pl.lit(None, pl.String) if name is None else pl.col(name).str.strip_chars()).alias(ours)
        for ours, name in chosen.items()
    ).with_columns(visual_id=pl.col("visual_id").replace("", None))
    problems = list(_bad_formulas(ids, path))
    if problems:
        raise FileRefusedError(problems)
    return ids


def _opened(path: Path) -> BufferedIOBase:
    return gzip.open(path) if path.suffix == ".gz" else path.open("rb")


def _rows(file: BufferedIOBase, path: Path) -> Iterator[tuple[int, etree._Element]]:
    """Stream the rows with their lines; of a row that was read nothing stays in memory."""
    rows = etree.iterparse(file, tag="row", resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False)
    is_first = True
    for _, row in rows:
        if is_first and row.getroottree().docinfo.internalDTD is not None:
            found, todo = "a DOCTYPE", "Take the DOCTYPE out."
            raise FileRefusedError([Problem(str(path), 1, found, "XML without a DOCTYPE", todo)])
        is_first = False
        yield row.sourceline or 1, row
        row.clear()
        while row.getprevious() is not None:
            del row.getparent()[0]


def _post(row: etree._Element, kind: str) -> Post:
    post_id = row.get("Id", "")
    return Post(
        post_id=post_id,
        kind=kind,
        thread_id=post_id if kind == "question" else row.get("ParentId", ""),
        title=row.get("Title", ""),
        body=row.get("Body", ""),
        # "<algebra><limits>" in the editions' dumps, "|algebra|limits|" in newer ones.
        tags=tuple(re.findall(r"[^<>|]+", row.get("Tags", ""))),
    )


def _bad_row(path: Path, line: int, post_id: str, *, is_repeated: bool) -> Problem:
    if is_repeated:
        return Problem(str(path), line, f"the post {post_id} again", "each post once", "Take one of the two out.")
    found = f"the answer {post_id} without ParentId" if post_id else "a post without Id"
    return Problem(str(path), line, found, "Id, PostTypeId and, for an answer, ParentId", "Complete the row.")


def _bad_formulas(ids: pl.DataFrame, path: Path) -> Iterator[Problem]:
    lacking = ids.with_row_index("row").filter(
        pl.any_horizontal(pl.col("formula_id", "post_id").is_null() | (pl.col("formula_id", "post_id") == ""))
    )
    for row in lacking["row"]:
        found = f"row {row + 1} without formula or post id"
        yield Problem(str(path), None, found, "a formula id and a post id", "Complete the row.")
    repeated = ids.group_by("formula_id", maintain_order=True).len().filter(pl.col("len") > 1)
    for formula_id, count in repeated.drop_nulls().iter_rows():
        found = f"the formula {formula_id} {count} times"
        yield Problem(str(path), None, found, "each formula once", "Keep one of its rows.")
