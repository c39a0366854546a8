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
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from arqkit.extras import needs_extra
from arqkit.formats.runs.writing import MOST_ITEMS
from arqkit.records import TopicRecord
from arqkit.retrieval.rankings import RANKING, ranking_of_scores
from arqkit.retrieval.word_parts import TERMS_AT_ONCE, Weigh, WordParts
from arqkit.texts.posts.queries import STOP_WORDS
from arqkit.texts.posts.text import pieces, words

if TYPE_CHECKING:
    from bm25s import BM25

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
            if known := self._index.get_tokens_ids(terms):
                scores = self._index.get_scores_from_ids(known)
                yield ranking_of_scores(topic.query_id, self._items, scores, limit=limit)


def _of_lucene(found: NDArray[np.int64], passages: int) -> NDArray[np.float64]:
    """Return the inverse document frequency of Lucene's BM25."""
    return np.log1p((passages - found + 0.5) / (found + 0.5))


def _of_terrier(found: NDArray[np.int64], passages: int) -> NDArray[np.float64]:
    """Return the inverse document frequency of Terrier (`TF_IDF.java`), in natural logarithms."""
    return np.log1p(passages / found)


_WEIGHTS: dict[str, Weigh] = {"bm25": _of_lucene, "tf-idf": _of_terrier}
