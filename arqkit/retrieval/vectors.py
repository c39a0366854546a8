"""Nearest neighbours of vectors by cosine, with faiss.

Vectors are stored with length 1 and compared by their squared Euclidean distance d, because
1 - d/2 is their cosine and d is 0 only for an exact copy, whatever the rounding.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from numpy.typing import NDArray

from arqkit.extras import needs_extra
from arqkit.retrieval.rankings import RANKING

if TYPE_CHECKING:
    from faiss import Index

Vectors = NDArray[np.float32]

FLAT = 3_000_000
"""Vectors that are kept whole, 768 MB in 64 dimensions. More take a quarter of that, one byte a
number, if the index still finds the nearest ones."""
LEAST_RECALL = 0.95
"""Of the 10 nearest neighbours, the share that a compressed index must find."""
# The vectors whose neighbours are compared, and those from which the code of a byte is learnt.
_PROBES, _TRAINING = 200, 100_000
_AT_ONCE = 16
"""Queries: faiss rounds more than 19 at once in another way, which depends on how many they are."""


class VectorIndex:
    """An index of vectors with the ids of their items."""

    def __init__(self, items: pl.Series, index: Index, recall: float = 1.0) -> None:
        """Take the parts of an index; use `build` or `open`."""
        self._items, self._index = items, index
        self.recall = recall
        """The share of the 10 nearest neighbours that it finds: 1 unless it is compressed."""

    def __len__(self) -> int:
        """Return how many vectors are in the index."""
        return len(self._items)

    @classmethod
    def build(
        cls,
        blocks: Iterable[tuple[Sequence[str], Vectors]],
        *,
        flat: int = FLAT,
        least_recall: float = LEAST_RECALL,
    ) -> VectorIndex:
        """Return the index of blocks of ids and vectors (float32, a row for each id).

        Each block is read once. Raises ValueError if there are no blocks or a vector has length 0.
        """
        with needs_extra("models"):
            import faiss
        items, recall, is_open = list[str](), 1.0, True
        index: Index | None = None
        for ids, vectors in blocks:
            index = index or faiss.IndexFlatL2(vectors.shape[1])
            index.add(directions(vectors))
            items += ids
            if is_open and len(items) > flat:
                is_open, (compressed, compressed_recall) = False, _compressed(index)
                if compressed_recall >= least_recall:
                    index, recall = compressed, compressed_recall
        if index is None:
            raise ValueError("There is no vector. Expected at least one block of vectors.")
        return cls(pl.Series("item", items, pl.String), index, recall)

    def save(self, folder: Path) -> None:
        """Write the index into a folder."""
        import faiss

        faiss.write_index(self._index, str(folder / "vectors.faiss"))
        self._items.to_frame().write_parquet(folder / "items.parquet")
        np.save(folder / "recall.npy", self.recall)

    @classmethod
    def open(cls, folder: Path) -> VectorIndex:
        """Return a saved index. Flat vectors stay on disk until a query reads them."""
        with needs_extra("models"):
            import faiss
        index = faiss.read_index(str(folder / "vectors.faiss"), faiss.IO_FLAG_MMAP_IFC)
        items = pl.read_parquet(folder / "items.parquet")["item"]
        return cls(items, index, float(np.load(folder / "recall.npy")))

    def search(self, topics: Sequence[str], vectors: Vectors, *, limit: int = 1000) -> pl.DataFrame:
        """Return the ranking (topic, item, score) of each topic: the `limit` nearest items.

        `vectors` has a row for each topic; the score is the cosine, between -1 and 1. Exact copies
        come first, and equal scores in the order of ids. Topics do not influence one another.
        """
        queries, frames = directions(vectors), [pl.DataFrame(schema=RANKING)]
        for start in range(0, len(queries), _AT_ONCE):
            neighbours = self._index.search(
                queries[start : start + _AT_ONCE], min(limit, len(self))
            )
            for topic, distances, numbers in zip(topics[start:], *neighbours, strict=False):
                scores = 1 - distances.astype(np.float64) / 2
                rows = {"topic": topic, "item": self._items.gather(numbers), "score": scores}
                frames.append(pl.DataFrame(rows).sort(-pl.col("score"), "item"))
        return pl.concat(frames)


def directions(vectors: Vectors) -> Vectors:
    """Return vectors with length 1, float32; raise ValueError if one is zero or not finite."""
    lengths = np.linalg.norm(vectors.astype(np.float64), axis=1, keepdims=True)
    if len(wrong := np.flatnonzero(~(np.isfinite(lengths) & (lengths > 0)))):
        raise ValueError(
            f"Vector {wrong[0] + 1} of {len(vectors)} has the length {lengths[wrong[0], 0]}."
            " Expected finite numbers that are not all 0."
        )
    return np.ascontiguousarray(vectors / lengths, np.float32)


def _compressed(flat: Index) -> tuple[Index, float]:
    """Return the vectors in one byte a number, and the share of 10 neighbours found with that."""
    import faiss

    compressed = faiss.IndexScalarQuantizer(flat.d, faiss.ScalarQuantizer.QT_8bit, faiss.METRIC_L2)
    vectors = flat.reconstruct_n(0, flat.ntotal)
    compressed.train(vectors[:_TRAINING])
    compressed.add(vectors)
    probes = np.linspace(0, flat.ntotal - 1, _PROBES, dtype=np.int64)
    nearest, retrieved = (index.search(vectors[probes], 11)[1] for index in (flat, compressed))
    shares = [
        len({*some} & {*all_} - {probe}) / len({*all_} - {probe})
        for probe, some, all_ in zip(probes, retrieved, nearest, strict=True)
    ]
    return compressed, float(np.mean(shares))
