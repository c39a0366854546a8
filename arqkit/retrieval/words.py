r"""TF-IDF and BM25 over posts, with LaTeX among the words (000 §4.3, 004 §4.3).

A passage is an item with a title and a body, both HTML: an answer with its question's title, or a
document. Its terms are the words of the text without stop words and, of each formula, its LaTeX
tokens and their adjacent pairs: `x^2` has `x`, `^`, `2`, `x ^` and `^ 2`. Braces are left out: one
author writes `x^2` and another `x^{2}`. A query is a topic's title and body, read in the same way.

004 §4.3 maps symbols to words first, because Terrier drops punctuation: with `formulas="words"`,
`x+1` has `x`, `plus` and `1`, which text has too. `formulas="none"` searches the text alone.
"""

from __future__ import annotations

import json
import re
from array import array
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np
import polars as pl
from numpy.lib.format import open_memmap
from numpy.typing import NDArray

from arqkit.extras import needs_extra
from arqkit.formats.runs.writing import MOST_ITEMS
from arqkit.records import TopicRecord
from arqkit.retrieval.rankings import RANKING, ranking_of_scores
from arqkit.texts.posts.queries import STOP_WORDS
from arqkit.texts.posts.text import pieces, words

if TYPE_CHECKING:
    from bm25s import BM25

TERMS_AT_ONCE = 2_000_000
"""Terms in memory while an index is built, with repetitions: those of some 6,000 answers."""
# A term and its passage are one number of 64 bits, the passage in the lower half: one sort orders
# by both.
_PASSAGE = (1 << 32) - 1
Weigh = Callable[[NDArray[np.int64], int], NDArray[np.float64]]
"""The weight of terms, from the number of passages that have each and the number of passages."""

FormulaTerms = Literal["latex", "words", "none"]
Passage = tuple[str, str, str]
"""An item, its title and its body; both are HTML."""

_TOKEN = re.compile(r"\\[a-zA-Z]+|\\.|[0-9]+|[^\s{}]")
# Characters that are not part of words. The name of a macro is its word: \int is int.
_SYMBOLS = {
    "+": "plus", "-": "minus", "*": "star", "/": "slash", "=": "equals", "<": "less than",
    ">": "greater than", "^": "power", "_": "subscript", "!": "factorial", "'": "prime",
    "|": "bar", ":": "colon", ";": "semicolon", ",": "comma", ".": "period", "&": "ampersand",
    "(": "open parenthesis", ")": "close parenthesis", "[": "open bracket", "]": "close bracket",
    "%": "percent", "~": "tilde",
}  # fmt: skip


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
        term_ids, before = self.vocabulary, len(self._terms)
        self._terms.extend(term_ids.setdefault(term, len(term_ids)) for term in terms)
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
            terms, part_passages = keys >> 32, keys & _PASSAGE
            in_part = self._counted(terms)
            places = np.arange(len(keys)) + (heads - np.cumsum(in_part) + in_part)[terms]
            scores[places] = weights[terms] * counts / (counts + norms[part_passages])
            passages[places] = part_passages
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


if TYPE_CHECKING:
    from bm25s import BM25


@dataclass(frozen=True)
class WordSettings:
    """The model, the terms of formulas, and the parameters k1 and b of both models.

    - bm25: BM25 as Lucene computes it (Kamphuis et al., ECIR 2020).
    - tf-idf: Terrier's `TF_IDF`, up to a constant factor: the saturated term frequency of BM25
      multiplied by log(1 + passages / passages with the term).
    """

    model: Literal["bm25", "tf-idf"]
    k1: float
    b: float = 0.75
    formulas: FormulaTerms = "latex"


BM25_SETTINGS = WordSettings("bm25", k1=1.5)
"""The defaults of bm25s."""
TF_IDF_SETTINGS = WordSettings("tf-idf", k1=1.2)
"""The defaults of Terrier, as in the labs (000 §4.3)."""


def passage_terms(title: str, body: str, formulas: FormulaTerms = "latex") -> Iterator[str]:
    """Yield the terms of a title and a body (HTML) with repetitions."""
    for piece in pieces(f"{title}\n\n{body}"):
        if isinstance(piece, str):
            yield from (word for word in words(piece) if word not in STOP_WORDS)
        elif formulas != "none":
            tokens = _TOKEN.findall(piece.latex)
            if formulas == "words":
                tokens = [word for token in tokens for word in words(_SYMBOLS.get(token, token))]
            yield from tokens
            yield from map(" ".join, pairwise(tokens))


class WordIndex:
    """An index of passages for the settings that it was built with."""

    def __init__(self, settings: WordSettings, items: pl.Series, index: BM25) -> None:
        """Take what `open` read."""
        self.settings, self._items, self._index = settings, items, index

    @classmethod
    def build(
        cls,
        passages: Iterable[Passage],
        settings: WordSettings = BM25_SETTINGS,
        *,
        folder: Path,
        at_once: int = TERMS_AT_ONCE,
    ) -> WordIndex:
        """Return the index of passages, which are read once, and write it into an empty folder.

        Only `at_once` terms, with repetitions, are in memory, and each different term. Raises
        ValueError if no passage has a term.
        """
        items, parts = list[str](), WordParts(folder, at_once)
        for item, title, body in passages:
            items.append(item)
            parts.add(passage_terms(title, body, settings.formulas))
        if not parts.vocabulary:
            raise ValueError("No passage has a word or a formula to search for.")
        parts.merge(k1=settings.k1, b=settings.b, weigh=_WEIGHTS[settings.model])
        pl.DataFrame({"item": items}, {"item": pl.String}).write_parquet(folder / "items.parquet")
        (folder / "settings.json").write_text(json.dumps(asdict(settings)), encoding="utf-8")
        return cls.open(folder)

    @classmethod
    def open(cls, folder: Path) -> WordIndex:
        """Return the index in a folder. Its postings stay on disk until a query reads them."""
        with needs_extra("retrieval"):
            from bm25s import BM25
        settings = json.loads((folder / "settings.json").read_text(encoding="utf-8"))
        items = pl.read_parquet(folder / "items.parquet")["item"]
        return cls(WordSettings(**settings), items, BM25.load(folder, mmap=True))

    def search(self, topics: Iterable[TopicRecord], *, limit: int = MOST_ITEMS) -> pl.DataFrame:
        """Return the ranking of the topics: passages with a term of the topic, the best `limit`.

        A term counts as often as the topic has it.
        """
        return pl.concat([pl.DataFrame(schema=RANKING), *self._rankings(topics, limit)])

    def _rankings(self, topics: Iterable[TopicRecord], limit: int) -> Iterator[pl.DataFrame]:
        for topic in topics:
            terms = list(passage_terms(topic.title, topic.body, self.settings.formulas))
            if term_ids := self._index.get_tokens_ids(terms):
                scores = self._index.get_scores_from_ids(term_ids)
                yield ranking_of_scores(topic.query_id, self._items, scores, limit=limit)


def _of_lucene(frequencies: NDArray[np.int64], passages: int) -> NDArray[np.float64]:
    """Return the inverse document frequency of Lucene's BM25."""
    return np.log1p((passages - frequencies + 0.5) / (frequencies + 0.5))


def _of_terrier(frequencies: NDArray[np.int64], passages: int) -> NDArray[np.float64]:
    """Return the inverse document frequency of Terrier (`TF_IDF.java`), in natural logarithms."""
    return np.log1p(passages / frequencies)


_WEIGHTS: dict[str, Weigh] = {"bm25": _of_lucene, "tf-idf": _of_terrier}
