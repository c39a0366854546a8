"""Build an index of words in parts, so that its memory does not grow with the text of a collection.

The terms of some passages are counted in memory and written to a part. Then all parts are merged
into the arrays that bm25s searches, on disk: the weight of each term in each of its passages.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.lib.format import open_memmap
from numpy.typing import NDArray

from arqkit.extras import needs_extra

if TYPE_CHECKING:
    from bm25s import BM25

TERMS_AT_ONCE = 2_000_000
"""Terms in memory while an index is built, with repetitions: those of some 6,000 answers."""
_PASSAGE = (1 << 32) - 1
Weigh = Callable[[NDArray[np.int64], int], NDArray[np.float64]]
"""The weight of terms, from the number of passages that have each and the number of passages."""


class WordParts:
    """The terms of passages, counted in files of a folder, and how many terms each passage has."""

    def __init__(self, folder: Path, at_once: int = TERMS_AT_ONCE) -> None:
        """Start without passages, in a folder that exists."""
        self.vocabulary: dict[str, int] = {}
        self._folder, self._at_once = folder, at_once
        self._lengths, self._terms, self._files = array("i"), array("i"), list[Path]()
        self._first = 0

    def add(self, terms: Iterable[str]) -> None:
        """Add the next passage with its terms, which may be repeated."""
        known, before = self.vocabulary, len(self._terms)
        self._terms.extend(known.setdefault(term, len(known)) for term in terms)
        self._lengths.append(len(self._terms) - before)
        if len(self._terms) >= self._at_once:
            self._write()

    def merge(self, *, k1: float, b: float, weigh: Weigh) -> None:
        """Write the index of all passages as bm25s saves it, and delete the parts.

        The weight of a term in a passage is that of BM25, with the inverse document frequency
        `weigh`. Postings are in the order of terms and passages, however many parts there are.
        """
        self._write()
        frequencies = np.zeros(len(self.vocabulary), np.int64)
        for file in self._files:
            frequencies += self._counted(np.load(file)[0] >> 32)
        heads = np.cumsum(frequencies) - frequencies
        lengths = np.frombuffer(self._lengths, np.int32)
        norms, weights = (
            k1 * (1 - b + b * lengths / lengths.mean()),
            weigh(frequencies, len(lengths)),
        )
        scores, passages = self._arrays(k1, b, np.append(heads, frequencies.sum()))
        for file in self._files:
            keys, counts = np.load(file)
            terms, own = keys >> 32, keys & _PASSAGE
            in_part = self._counted(terms)
            places = np.arange(len(keys)) + (heads - np.cumsum(in_part) + in_part)[terms]
            scores[places] = weights[terms] * counts / (counts + norms[own])
            passages[places] = own
            heads += in_part
            file.unlink()

    def _write(self) -> None:
        """Write how often each passage since the last part has which term, by term and passage."""
        lengths = self._lengths[self._first :]
        numbers = np.repeat(np.arange(self._first, len(self._lengths)), lengths)
        keys = np.frombuffer(self._terms, np.int32).astype(np.int64) << 32 | numbers
        file = self._folder / f"part{len(self._files)}.npy"
        np.save(file, np.unique(keys, return_counts=True))
        self._files.append(file)
        self._first, self._terms = len(self._lengths), array("i")

    def _counted(self, terms: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.bincount(terms, minlength=len(self.vocabulary))

    def _arrays(
        self, k1: float, b: float, starts: NDArray[np.int64]
    ) -> tuple[NDArray[np.float32], NDArray[np.int32]]:
        """Write the rest of the index, and return its weights and passages, which are on disk."""
        with needs_extra("retrieval"):
            from bm25s import BM25
        index: BM25 = BM25(k1=k1, b=b, method="lucene")
        index.vocab_dict, index.nonoccurrence_array = self.vocabulary, None
        empty = {"data": np.zeros(0), "indices": np.zeros(0)}
        index.scores = empty | {"indptr": starts, "num_docs": len(self._lengths)}
        index.save(self._folder, show_progress=False)
        shape = (int(starts[-1]),)
        return (
            open_memmap(self._folder / "data.csc.index.npy", "w+", np.float32, shape),
            open_memmap(self._folder / "indices.csc.index.npy", "w+", np.int32, shape),
        )
