"""The files of a collection as the labs publish them: annotated posts, formula indexes (000 §3.2).

The posts have an id for each formula, and the indexes name each formula in LaTeX, as a symbol
layout tree (SLT, Presentation MathML) and as an operator tree (OPT, Content MathML). An import
reads all of them again.
"""

from collections.abc import Callable, Iterator
from datetime import datetime
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import polars as pl
from django.conf import settings
from lxml import etree

from arqkit.formats.formulas.index import COLUMNS
from arqkit.parts import mapped
from arqkit.texts.maths.conversion import latex_mathml, latexml_name
from arqlab.core.errors import UserError
from arqlab.core.models.reading import rows_in_chunks
from collection.models import Collection, Comment, Post
from collection.selectors.collections import scan_columns
from collection.selectors.visual_maps import newest_map
from collection.services.importing.formulas import FIELDS
from collection.services.importing.import_records import Progress

HEADINGS = {"formula_id": "id"}
"""The columns of an index that the labs head with other names than `COLUMNS`."""
BATCH = 500
POST_TYPES = {Post.Kind.QUESTION.value: "1", Post.Kind.ANSWER.value: "2"}


def export_collection(
    *, collection: Collection, folder: Path, progress: Progress | None = None
) -> list[str]:
    """Write the files of a collection into a folder, which is made. Return a line for each file.

    `progress` is called while formulas without a tree in the collection are converted. Raise
    `UserError` for a collection without posts and formulas, and for a folder that has files.
    """
    posts = Post.objects.filter(collection=collection, kind__in=POST_TYPES)
    if not collection.formulas_index and not posts.exists():
        raise UserError(f"{collection} has no posts and no formulas. Import them first.")
    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.iterdir()):
        raise UserError(f"The folder {folder} has files. Name an empty or a new one.")
    lines = []
    comments = Comment.objects.filter(collection=collection)
    for name, rows in (
        ("Posts.xml", map(_post_row, rows_in_chunks(posts, size=BATCH))),
        ("Comments.xml", map(_comment_row, rows_in_chunks(comments, size=BATCH))),
    ):
        if count := _write_rows(folder / name, rows):
            lines.append(f"{name}: {count:,} rows.")
    if collection.formulas_index:
        lines += [_write_index(collection, kind, folder, progress) for kind in FIELDS]
    return lines


def _write_rows(path: Path, rows: Iterator[dict[str, object]]) -> int:
    """Write rows as a data dump has them. Return their number; without rows, no file remains."""
    count = 0
    with etree.xmlfile(str(path), encoding="utf-8") as file:
        file.write_declaration()
        with file.element(path.stem.lower()):
            for row in rows:
                attributes = {
                    name: str(value) for name, value in row.items() if value not in (None, "")
                }
                file.write("\n  ", etree.Element("row", attributes))
                count += 1
            file.write("\n")
    if not count:
        path.unlink()
    return count


def _post_row(post: Post) -> dict[str, object]:
    is_question = post.kind == Post.Kind.QUESTION
    return {
        "Id": post.post_id,
        "PostTypeId": POST_TYPES[post.kind],
        "ParentId": "" if is_question else post.thread_id,
        "AcceptedAnswerId": post.accepted_id,
        "CreationDate": _moment(post.created_at),
        "Score": post.score,
        "ViewCount": post.views,
        "Title": post.safe_title if is_question else "",
        "Body": post.safe_body,
        "Tags": "".join(f"<{tag}>" for tag in post.tags),
        "OwnerUserId": post.author_id,
        "OwnerDisplayName": post.author_name,
    }


def _comment_row(comment: Comment) -> dict[str, object]:
    return {
        "Id": comment.comment_id,
        "PostId": comment.post_id,
        "Score": comment.score,
        "Text": comment.safe_text,
        "CreationDate": _moment(comment.created_at),
        "UserId": comment.author_id,
        "UserDisplayName": comment.author_name,
    }


def _moment(at: datetime | None) -> str:
    return f"{at:%Y-%m-%dT%H:%M:%S.}{at.microsecond // 1000:03}" if at else ""


def _write_index(collection: Collection, kind: str, folder: Path, progress: Progress | None) -> str:
    """Write the index of a representation. Return a line about it."""
    name = f"formulas.{kind}.tsv"
    with TemporaryDirectory(prefix="arqlab-export-") as scratch:
        if kind == "latex":
            rows = _rows(collection).with_columns(formula="latex")
        else:
            rows = _trees(collection, kind, Path(scratch), progress)
        rows = rows.select(pl.col(column).alias(HEADINGS.get(column, column)) for column in COLUMNS)
        rows.sink_csv(folder / name, separator="\t", quote_style="necessary")
        written = pl.scan_csv(folder / name, separator="\t", infer_schema=False)
        count = int(written.select(pl.len()).collect().item())
    if not count:
        (folder / name).unlink()
        return f"{name}: not written. Import trees, or install LaTeXML and set ARQLAB_LATEXML=1."
    return f"{name}: {count:,} formulas."


def _trees(
    collection: Collection, kind: str, scratch: Path, progress: Progress | None
) -> pl.LazyFrame:
    """Return the instances that have a tree: of an imported index, or converted from their LaTeX.

    Content MathML is converted if LaTeXML is installed and in the settings.
    """
    rows = _rows(collection)
    if file := getattr(collection, FIELDS[kind]):
        imported = scan_columns(file).select("formula_id", formula="mathml")
        rows = rows.join(imported, on="formula_id", how="left", maintain_order="left")
    else:
        rows = rows.with_columns(formula=pl.lit(None, pl.String))
    is_content = kind == "opt"
    if not is_content or (settings.LATEXML and latexml_name()):
        waiting = rows.filter(pl.col("formula").is_null() & pl.col("latex").is_not_null())
        todo = waiting.select(pl.col("latex").unique(maintain_order=True)).collect()["latex"]
        convert = partial(latex_mathml, exact=settings.LATEXML, content=is_content)
        converted = _converted(todo, convert, scratch, progress)
        rows = rows.join(converted, on="latex", how="left", maintain_order="left")
        rows = rows.with_columns(pl.coalesce("formula", "made"))
    return rows.filter(pl.col("formula").is_not_null())


def _rows(collection: Collection) -> pl.LazyFrame:
    """Return the instances of a collection with their LaTeX and newest visual ids, in order."""
    rows = scan_columns(collection.formulas_index).rename({"given_visual_id": "visual_id"})
    version = newest_map(collection)
    if version is not None:
        newest = scan_columns(version.mapping).select("formula_id", newest="visual_id")
        rows = rows.join(newest, on="formula_id", how="left", maintain_order="left")
        rows = rows.with_columns(visual_id=pl.coalesce("newest", "visual_id"))
    return rows


def _converted(
    todo: pl.Series,
    convert: Callable[[list[str]], list[str | None]],
    scratch: Path,
    progress: Progress | None,
) -> pl.LazyFrame:
    """Return the trees of distinct LaTeX strings (`latex`, `made`), converted in batches."""
    schema = {"latex": pl.String, "made": pl.String}
    batches = [todo[start : start + BATCH].to_list() for start in range(0, len(todo), BATCH)]
    parts = [scratch / f"{number:06}.parquet" for number in range(len(batches))]
    for number, trees in enumerate(mapped(convert, batches, cluster=settings.DASK)):
        part = {"latex": batches[number], "made": trees}
        pl.DataFrame(part, schema=schema).write_parquet(parts[number])
        if progress:
            progress(min(len(todo), (number + 1) * BATCH), len(todo))
    return pl.scan_parquet(parts) if parts else pl.LazyFrame(schema=schema)
