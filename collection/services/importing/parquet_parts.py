"""Rows on their way into columns: in parts on disk, so that memory does not grow with their number."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl

from arqlab.formats.formulas.index import COLUMNS
from collection.services.parquet_files import store_file

ROWS = 250_000
"""Rows of a part: with their layouts about 100 MB."""
GROUP = 25_000
"""Rows that are written together: with their MathML about 15 MB, of which several are under way at
a time.
"""
STORED_AS = {"visual_id": "given_visual_id", "formula": "latex"}
"""Columns of an index file that are stored under names of ours."""
INDEX_COLUMNS = tuple(STORED_AS.get(name, name) for name in COLUMNS)
LAYOUT_SCHEMA = {"formula_id": pl.String, "layout": pl.String}


class Parts:
    """Frames put down one after the other, and written as one Parquet file."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self.folder, self.count = folder, 0

    def add(self, frame: pl.DataFrame) -> None:
        """Put the next frame down."""
        frame.write_parquet(self.path(self.count), compression="lz4")
        self.count += 1

    def path(self, number: int) -> Path:
        """Return where a frame stands."""
        return self.folder / f"{number:06}.parquet"

    def rows(self) -> pl.LazyFrame:
        """Open all frames as one."""
        return pl.scan_parquet([self.path(number) for number in range(self.count)])

    def store(self, *, slug: str, what: str) -> str:
        """Store all frames as one file of a collection; gives its name, empty where there is no
        frame.
        """
        if not self.count:
            return ""
        whole = self.folder / "whole.parquet"
        self.rows().sink_parquet(whole, compression="zstd", row_group_size=GROUP)
        return store_file(slug=slug, what=what, path=whole)


class IndexRows(Parts):
    """The rows of a formula index without layouts, all parts but the last of `ROWS` rows, and where
    each id stands.
    """

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self._waiting = pl.DataFrame(schema=dict.fromkeys(INDEX_COLUMNS, pl.String))
        self._hashes: list[np.ndarray] = []
        self._sorted, self._parts = np.empty(0, np.uint64), np.empty(0, np.uint16)

    def add(self, frame: pl.DataFrame) -> None:
        """Take the next rows."""
        frame = frame.select(INDEX_COLUMNS)
        self._hashes.append(frame["formula_id"].hash(0).to_numpy())
        self._waiting = pl.concat([self._waiting, frame])
        while self._waiting.height >= ROWS:
            super().add(self._waiting.head(ROWS))
            self._waiting = self._waiting.slice(ROWS)

    def close(self) -> None:
        """Put the last rows down, and sort what is known of the ids."""
        if self._waiting.height or not self.count:
            super().add(self._waiting)
        hashes = np.concatenate(self._hashes) if self._hashes else np.empty(0, np.uint64)
        self._hashes.clear()
        order = np.argsort(hashes)
        self._sorted, self._parts = hashes[order], (order // ROWS).astype(np.uint16)

    def parts_of(self, ids: pl.Series) -> pl.Series:
        """Return the part that each id stands in; null where it stands in none."""
        hashes = ids.hash(0).to_numpy()
        places = np.searchsorted(self._sorted, hashes)
        places[places == len(self._sorted)] = 0
        if not len(self._sorted):
            return pl.Series([None] * len(ids), dtype=pl.UInt16)
        found = self._sorted[places] == hashes
        return pl.select(pl.when(pl.Series(found)).then(pl.Series(self._parts[places]))).to_series()


class Layouts:
    """Layout strings, put down by the part of the index that their instance stands in."""

    def __init__(self, folder: Path, rows: IndexRows) -> None:
        folder.mkdir()
        self._folder, self._rows, self._count = folder, rows, 0

    def add(self, frame: pl.DataFrame) -> int:
        """Take formula_id and, where there is one, layout of the next rows; gives how many are in
        no part.
        """
        frame = frame.with_columns(part=self._rows.parts_of(frame["formula_id"]))
        if "layout" in frame.columns:
            known = frame.drop_nulls(["part", "layout"])
            for (part,), group in known.partition_by(
                "part", as_dict=True, include_key=False
            ).items():
                group.write_parquet(
                    self._folder / f"{part:06}-{self._count:06}.parquet", compression="lz4"
                )
            self._count += 1
        return frame["part"].null_count()

    def joined(self, rows: IndexRows) -> Iterator[pl.DataFrame]:
        """Return the parts of the index with the column layout, null where none was read."""
        for number in range(rows.count):
            found = sorted(self._folder.glob(f"{number:06}-*.parquet"))
            layouts = pl.read_parquet(found) if found else pl.DataFrame(schema=LAYOUT_SCHEMA)
            frame = pl.read_parquet(rows.path(number))
            yield frame.join(layouts, on="formula_id", how="left", maintain_order="left")
