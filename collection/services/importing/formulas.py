"""Import of a formula index: LaTeX, layout and MathML of every instance, joined by formula id.

For a data dump without one, it is extracted from posts and comments: an import of posts adds the
formulas of each post and writes them to disk, those of the earlier rows again if it is resumed.

Math Stack Exchange has 28 million instances. The index is read in parts that are written to disk,
so that only one part of a file is in memory at a time. Eight-byte hashes of all ids map each layout
to the part with its instance, whatever the order of the files.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import datetime
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory

import polars as pl
from django.conf import settings
from django.db import transaction
from django.db.models.functions import Coalesce

from arqkit.formats.batches import in_slices
from arqkit.formats.formulas.index import IndexPart, read_index
from arqkit.formats.formulas.seen_ids import SeenIds
from arqkit.formulas.layout import read_layouts
from arqkit.parts import mapped
from arqkit.texts.html.allowed_html import FORMULA
from arqkit.texts.html.dump_posts import ReadyPost
from arqkit.texts.html.sanitizer import source_latex
from arqlab.core.models.reading import rows_in_chunks, values_in_chunks
from arqlab.jobs.services.jobs import clear_problems
from collection.models import Collection, Comment, Import, Post
from collection.selectors.collections import scan_columns
from collection.services.importing.import_records import (
    FORMULA_KINDS,
    Progress,
    finish_import,
    open_import,
    save_progress,
    stopped_on_error,
)
from collection.services.parquet_files import (
    INDEX_COLUMNS,
    STORED_AS,
    IndexRows,
    Layouts,
    Parts,
    replace_files,
)

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

FIELDS = {"latex": "formulas_index", "slt": "slt_index", "opt": "opt_index"}


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
        of_stored_posts = super().rows().filter(~pl.col("post_id").is_in(self._dropped))
        rows = of_stored_posts.with_columns(pl.col("formula_id", "latex").str.split("\0")).explode(
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
    imported = collection.imports.filter(kind__in=FORMULA_KINDS, kept__gt=0)
    if collection.formulas_index and imported.exists():
        return
    counts = [record.counts for record in collection.imports.filter(kind=Import.Kind.POSTS)]
    formulas = sum(record.get("formulas", 0) for record in counts)
    ours = sum(record.get("formulas_numbered", 0) for record in counts)
    has_documents = collection.imports.filter(kind=Import.Kind.DOCUMENTS).exists()
    is_stored = 2 * ours > formulas or (has_documents and not formulas)
    name = _store(collection, extracted, reimported) if is_stored else ""
    replace_files(collection, formulas_index=name)


def _store(collection: Collection, extracted: FoundFormulas, reimported: SeenIds) -> str:
    if collection.formulas_index:
        extracted.close()
        is_of_post = ~pl.col("type").is_in(["comment", "document"])
        index = scan_columns(collection.formulas_index).filter(is_of_post).select(*TEXT_SCHEMA)
        for frame in index.collect_batches(maintain_order=True):
            is_current = [int(post_id) not in reimported for post_id in frame["post_id"]]
            if (is_kept := pl.Series(is_current, dtype=pl.Boolean)).any():
                extracted.add(frame.filter(is_kept))
    for text in chain(_comment_formulas(collection), _document_formulas(collection)):
        extracted.add_text(*text)
    extracted.close()
    return extracted.store(slug=collection.slug, what="formulas")


def _comment_formulas(collection: Collection) -> Iterator[tuple[str, ...]]:
    """Yield the formulas of comments on searched posts, with the values of `TEXT_SCHEMA`."""
    posts = Post.objects.filter(collection=collection, is_searched=True)
    comments = Comment.objects.filter(collection=collection)
    fields = ("comment_id", "post_id", Coalesce("clean_text", "text"))
    rows = values_in_chunks(comments, *fields, size=COMMENTS)
    for some in in_slices(rows, size=COMMENTS):
        named = posts.filter(post_id__in={post_id for _, post_id, _ in some})
        threads = dict(named.values_list("post_id", "thread_id"))
        for comment_id, post_id, text in some:
            if post_id in threads and (formulas := FORMULA.findall(text)):
                ids = "\0".join(formula_id for formula_id, _ in formulas)
                latex = "\0".join(source_latex(written)[0] for _, written in formulas)
                yield post_id, threads[post_id], "comment", comment_id, ids, latex


def _document_formulas(collection: Collection) -> Iterator[tuple[str | None, ...]]:
    """Yield the formulas of documents, as `_comment_formulas` does."""
    documents = collection.posts.filter(kind=Post.Kind.DOCUMENT)
    for post in rows_in_chunks(documents, size=COMMENTS):
        if formulas := FORMULA.findall(post.safe_title + post.safe_body):
            ids = "\0".join(formula_id for formula_id, _ in formulas)
            latex = "\0".join(source_latex(written)[0] for _, written in formulas)
            yield post.post_id, None, "document", None, ids, latex


def import_formulas(
    *,
    collection: Collection,
    files: Mapping[str, Path],
    at: datetime,
    progress: Progress | None = None,
) -> list[Import]:
    """Import the representations of a formula index. Return one record per file.

    `files` maps kinds (latex, slt, opt) to a TSV or a folder of TSVs. A representation that is
    missing, or that has no readable row, does not change. An import that was stopped starts again
    from the beginning, because nothing of it was stored.
    """
    with ExitStack() as stack:
        records: dict[str, Import] = {}
        for kind in (kind for kind in FORMULA_KINDS if kind in files):
            path, starts_over = files[kind], lambda record: False
            records[kind] = open_import(collection, kind, path, at=at, starts_over=starts_over)
            stack.enter_context(stopped_on_error(records[kind]))
        if not all(_is_current(collection, record) for record in records.values()):
            with TemporaryDirectory(prefix="arqlab-formulas-") as folder:
                _Reading(collection, files, records, Path(folder), at, progress).run()
    return list(records.values())


def delete_formulas(collection: Collection, kinds: Iterable[str] = FORMULA_KINDS) -> None:
    """Delete representations of formulas, and the records of their imports."""
    kinds = tuple(kinds)
    replace_files(collection, **{FIELDS[kind]: "" for kind in kinds})
    Import.objects.filter(collection=collection, kind__in=kinds).delete()


def _is_current(collection: Collection, record: Import) -> bool:
    """Return whether the stored columns come from the record's file, the latest of its kind."""
    newest = Import.objects.filter(collection=collection, kind=record.kind, state=Import.State.DONE)
    file = getattr(collection, FIELDS[record.kind]) or collection.formulas_index
    return newest.order_by("-finished_at", "-pk").first() == record and bool(file)


@dataclass(frozen=True)
class _Reading:
    """One pass over index files that are imported into a collection, with its parts in a folder."""

    collection: Collection
    files: Mapping[str, Path]
    records: Mapping[str, Import]
    folder: Path
    at: datetime
    progress: Progress | None

    def run(self) -> None:
        """Read the files, and replace the stored columns."""
        for record in self.records.values():
            clear_problems(record)
            record.rows = record.kept = 0
            record.counts, record.state, record.finished_at = {}, Import.State.RUNNING, None
            save_progress(record=record, at=self.at)
        names = self._store()
        with transaction.atomic():
            replace_files(self.collection, **names)
            for record in self.records.values():
                finish_import(record=record, at=self.at)

    def _store(self) -> dict[str, str]:
        """Read the files and store the columns. Return the names of the stored files by field."""
        rows = IndexRows(self.folder / "rows")
        for frame in self._rows():
            rows.add(frame)
        rows.close()
        layouts = Layouts(self.folder / "layouts", rows)
        kinds = [kind for kind in ("slt", "opt") if kind in self.files]
        stored = {FIELDS[kind]: self._mathml(kind, layouts) for kind in kinds}
        names = {field: name for field, name in stored.items() if name}
        if "slt_index" not in names:
            for frame in self._stored("formula_id", "layout"):
                layouts.add(frame)
        if any(record.kept for record in self.records.values()):
            names["formulas_index"] = self._index(rows, layouts)
        return names

    def _rows(self) -> Iterator[pl.DataFrame]:
        """Yield the rows of the index.

        They come from the LaTeX file, else from the stored index, else from another representation.
        """
        if "latex" in self.files:
            for part in self._parts("latex"):
                yield part.frame.rename(STORED_AS)
            if self.records["latex"].kept:
                return
        others = [path for kind, path in self.files.items() if kind != "latex"]
        if self._is_indexed():
            yield from self._stored(*INDEX_COLUMNS)
        elif others:
            for part in read_index(others[0]):
                yield part.frame.rename({"visual_id": "given_visual_id"}).with_columns(
                    latex=pl.lit(None, pl.String)
                )

    def _is_indexed(self) -> bool:
        """Return whether the stored index was imported, and not extracted from texts."""
        earlier = self.collection.imports.filter(kind__in=FORMULA_KINDS, kept__gt=0).exclude(
            pk__in=[record.pk for record in self.records.values()]
        )
        return bool(self.collection.formulas_index) and earlier.exists()

    def _mathml(self, kind: str, layouts: Layouts) -> str:
        """Store the MathML of a representation. Return the file's name, empty without rows."""
        written, unknown, read = Parts(self.folder / kind), 0, 0

        def formulas() -> Iterator[pl.DataFrame]:
            for part in self._parts(kind):
                written.add(part.frame.select("formula_id", mathml="formula"))
                yield part.frame.select("formula_id", "formula")

        if kind == "slt":
            frames = mapped(read_layouts, formulas(), cluster=settings.DASK)
        else:
            frames = (frame.select("formula_id") for frame in formulas())
        for frame in frames:
            unknown += layouts.add(frame)
            read += frame["layout"].count() if kind == "slt" else 0
        counts = {"instances": self.records[kind].kept, "without LaTeX": unknown}
        self.records[kind].counts = counts | ({"with a layout": read} if kind == "slt" else {})
        slug = self.collection.slug
        return written.store(slug=slug, what=kind) if self.records[kind].kept else ""

    def _index(self, rows: IndexRows, layouts: Layouts) -> str:
        written, posts = Parts(self.folder / "index"), _post_ids(self.collection)
        instances = with_layout = with_visual_id = spurious = 0
        for frame in layouts.joined(rows):
            instances += frame.height
            with_layout += frame["layout"].count()
            with_visual_id += frame["given_visual_id"].count()
            spurious += 0 if posts is None else frame.join(posts, on="post_id", how="anti").height
            written.add(frame)
        counts = {"instances": instances, "with a layout": with_layout}
        counts |= {
            "without a layout": instances - with_layout,
            "with a visual id given": with_visual_id,
        }
        if posts is not None:
            counts["whose post is not in the collection"] = spurious
        if record := self.records.get("latex"):
            record.counts = counts
        return written.store(slug=self.collection.slug, what="formulas")

    def _parts(self, kind: str) -> Iterator[IndexPart]:
        """Yield the parts of a representation and update its record."""
        record = self.records[kind]
        for part in read_index(self.files[kind]):
            record.rows += part.frame.height + len(part.problems)
            record.kept += part.frame.height
            save_progress(record=record, problems=part.problems, at=self.at)
            if self.progress:
                self.progress(record.rows, None)
            yield part

    def _stored(self, *columns: str) -> Iterator[pl.DataFrame]:
        """Yield columns of the stored index in batches."""
        if self.collection.formulas_index:
            index = scan_columns(self.collection.formulas_index)
            yield from index.select(columns).collect_batches(maintain_order=True)


def _post_ids(collection: Collection) -> pl.DataFrame | None:
    """Return the ids of the collection's posts, or None if it has no posts."""
    ids = Post.objects.filter(collection=collection).values_list("post_id", flat=True)
    frame = pl.DataFrame({"post_id": list(ids)}, schema={"post_id": pl.String})
    return frame if frame.height else None
