"""Parquet files in the storage that rows of the database refer to, and their parts while written.

A file name contains a digest of the content, so readers may cache a file by its name. A replaced
file is deleted after the commit; files that killed workers left behind are deleted later.
"""

import hashlib
from collections.abc import Iterator
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import polars as pl
from django.core.files import File
from django.db import transaction

from arqkit.formats.batches import in_slices
from arqkit.formats.formulas.index import COLUMNS
from arqlab.core.files import kept
from arqlab.core.models.reading import values_in_chunks
from arqlab.core.selectors import named_files
from collection.models import Collection, Post

FOLDER = "collections"
ORPHAN_AGE = timedelta(days=1)
"""The age from which an unused file is deleted.

A file is stored before the row that refers to it is committed, but never this long before.
"""

PART = 25_000
"""Rows per part, and the number of rows in memory while the parts are written."""
POSTS_SCHEMA = {"post_id": pl.String, "type": pl.String, "thread_id": pl.String}

ROWS = 250_000
"""Rows of a part, about 100 MB with their layouts."""
GROUP = 25_000
"""Rows of a row group, about 15 MB with their MathML; several are in memory at a time."""
STORED_AS = {"visual_id": "given_visual_id", "formula": "latex"}
"""Columns of an index file that are stored under other names."""
INDEX_COLUMNS = tuple(STORED_AS.get(name, name) for name in COLUMNS)
LAYOUT_SCHEMA = {"formula_id": pl.String, "layout": pl.String}


def store_file(*, slug: str, what: str, path: Path) -> str:
    """Store a Parquet file under a name that is unique to its content. Return the name."""
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
        file.seek(0)
        return kept.save(f"{FOLDER}/{slug}-{what}-{digest[:12]}.parquet", File(file))


def store_frame(*, slug: str, what: str, frame: pl.DataFrame) -> str:
    """Store a frame as a Parquet file. Return the name."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "columns.parquet"
        frame.write_parquet(path)
        return store_file(slug=slug, what=what, path=path)


def replace_files(collection: Collection, **names: str) -> None:
    """Set file fields of a collection ("" for no file). Delete replaced files after the commit."""
    for field, name in names.items():
        replaced = str(getattr(collection, field).name or "")
        setattr(collection, field, name)
        if replaced and replaced != name:
            transaction.on_commit(partial(kept.delete, replaced))
    collection.save(update_fields=list(names))


def delete_unused_files(*, at: datetime) -> int:
    """Delete the Parquet files that are unused and older than a day. Return their number."""
    files_in_use = set(named_files("collection"))
    deleted = 0
    for path in list(kept.names(FOLDER)):
        if path.endswith(".parquet") and path not in files_in_use and _is_old(path, at):
            kept.delete(path)
            deleted += 1
    return deleted


def _is_old(path: str, at: datetime) -> bool:
    try:
        return kept.get_modified_time(path) < at - ORPHAN_AGE
    except FileNotFoundError:  # another worker or a commit deleted it
        return False


def write_posts_index(collection: Collection) -> None:
    """Store the searched posts of a collection as its posts index."""
    posts = Post.objects.filter(collection=collection, is_searched=True)
    rows = values_in_chunks(posts, "post_id", "kind", "thread_id", size=PART)
    with TemporaryDirectory() as folder:
        parts = Parts(Path(folder, "parts"))
        for some in in_slices(rows, size=PART):
            parts.add(pl.DataFrame(some, schema=POSTS_SCHEMA, orient="row"))
        name = parts.store(slug=collection.slug, what="posts")
    replace_files(collection, posts_index=name)


class Parts:
    """Frames that are written to disk one by one and then stored as one Parquet file."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self.folder, self.count = folder, 0

    def add(self, frame: pl.DataFrame) -> None:
        """Write the next frame to disk."""
        frame.write_parquet(self.path(self.count), compression="lz4")
        self.count += 1

    def path(self, number: int) -> Path:
        """Return the path of a frame."""
        return self.folder / f"{number:06}.parquet"

    def rows(self) -> pl.LazyFrame:
        """Return a lazy scan of all frames."""
        return pl.scan_parquet([self.path(number) for number in range(self.count)])

    def store(self, *, slug: str, what: str) -> str:
        """Store all frames as one file of a collection. Return its name, empty without frames."""
        if not self.count:
            return ""
        whole = self.folder / "whole.parquet"
        self.rows().sink_parquet(whole, compression="zstd", row_group_size=GROUP)
        return store_file(slug=slug, what=what, path=whole)


class IndexRows(Parts):
    """The rows of a formula index without layouts, in parts of at most `ROWS`, with ids' parts."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._waiting = pl.DataFrame(schema=dict.fromkeys(INDEX_COLUMNS, pl.String))
        self._hashes: list[np.ndarray] = []
        self._sorted, self._parts = np.empty(0, np.uint64), np.empty(0, np.uint16)

    def add(self, frame: pl.DataFrame) -> None:
        """Add the next rows."""
        frame = frame.select(INDEX_COLUMNS)
        self._hashes.append(frame["formula_id"].hash(0).to_numpy())
        self._waiting = pl.concat([self._waiting, frame])
        while self._waiting.height >= ROWS:
            super().add(self._waiting.head(ROWS))
            self._waiting = self._waiting.slice(ROWS)

    def close(self) -> None:
        """Write the last rows, and sort the hashes of the ids."""
        if self._waiting.height or not self.count:
            super().add(self._waiting)
        hashes = np.concatenate(self._hashes) if self._hashes else np.empty(0, np.uint64)
        self._hashes.clear()
        order = np.argsort(hashes)
        self._sorted, self._parts = hashes[order], (order // ROWS).astype(np.uint16)

    def parts_of(self, ids: pl.Series) -> pl.Series:
        """Return the part each id belongs to, or null."""
        hashes = ids.hash(0).to_numpy()
        places = np.searchsorted(self._sorted, hashes)
        places[places == len(self._sorted)] = 0
        if not len(self._sorted):
            return pl.Series([None] * len(ids), dtype=pl.UInt16)
        is_known = pl.Series(self._sorted[places] == hashes)
        return pl.select(pl.when(is_known).then(pl.Series(self._parts[places]))).to_series()


class Layouts:
    """Layout strings on disk, grouped by the part of the index that has their instance."""

    def __init__(self, folder: Path, rows: IndexRows) -> None:
        folder.mkdir()
        self._folder, self._rows, self._count = folder, rows, 0

    def add(self, frame: pl.DataFrame) -> int:
        """Add rows of formula_id and optionally layout. Return how many ids are in no part."""
        frame = frame.with_columns(part=self._rows.parts_of(frame["formula_id"]))
        if "layout" in frame.columns:
            with_layout = frame.drop_nulls(["part", "layout"])
            groups = with_layout.partition_by("part", as_dict=True, include_key=False)
            for (part,), group in groups.items():
                path = self._folder / f"{part:06}-{self._count:06}.parquet"
                group.write_parquet(path, compression="lz4")
            self._count += 1
        return frame["part"].null_count()

    def joined(self, rows: IndexRows) -> Iterator[pl.DataFrame]:
        """Yield the parts of the index with the column `layout`, null if it is unknown."""
        for number in range(rows.count):
            files = sorted(self._folder.glob(f"{number:06}-*.parquet"))
            layouts = pl.read_parquet(files) if files else pl.DataFrame(schema=LAYOUT_SCHEMA)
            frame = pl.read_parquet(rows.path(number))
            yield frame.join(layouts, on="formula_id", how="left", maintain_order="left")
