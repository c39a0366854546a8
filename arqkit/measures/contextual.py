"""Contextual similarity (CS) of generated answers: BERTScore's F1 by a language model (004 §6.4.2).

Source: Zhang et al., BERTScore: Evaluating text generation with BERT, 2019, §3, without weights by
frequency and without rescaling. Each token of a text is matched with the most similar one of the
other; the tokens that the model adds, such as [CLS], can be matched but do not count.

The model is a folder with a tokenizer and weights, as transformers saves them. ARQMath-3 used
MathBERTa (witiko/mathberta). Nothing is downloaded.
"""

from __future__ import annotations

from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arqkit.extras import needs_extra

LAYER = 10
"""The layer of a base model whose vectors BERTScore uses; that of a smaller model is its last."""
RESERVED = 2
"""The positions that a RoBERTa model has for padding, beside those of tokens."""
_NEEDED = ("torch", "transformers")


class TokenVectors(NamedTuple):
    """The vectors of a text's tokens, of length 1, and which tokens are the text's own."""

    vectors: NDArray[np.float16]
    counts: NDArray[np.bool_]

    def __len__(self) -> int:
        return int(self.counts.sum())


def model_problem(folder: str) -> str:
    """Return why no model of answers can be loaded from a folder, and what to do; "" if it can."""
    path = Path(folder)
    if not folder:
        return (
            "This server has no language model for answers. Save one, such as MathBERTa, in a "
            "folder, and name the folder in ARQLAB_ANSWER_MODEL."
        )
    if not (path / "config.json").is_file():
        return (
            f"The folder {folder} has no config.json, so it is no model of transformers. Correct "
            "ARQLAB_ANSWER_MODEL."
        )
    if missing := [name for name in _NEEDED if find_spec(name) is None]:
        return f"The packages {', '.join(missing)} are not installed. Run: bin/setup --systems"
    return ""


class AnswerModel:
    """A language model in a folder: its tokens of texts, and their vectors."""

    def __init__(self, folder: str) -> None:
        with needs_extra("models"):
            from transformers import AutoModel, AutoTokenizer
        self._tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
        self._model = AutoModel.from_pretrained(folder, local_files_only=True).eval()
        config = self._model.config
        self._layer = min(LAYER, config.num_hidden_layers)
        self._most = min(
            self._tokenizer.model_max_length, config.max_position_embeddings - RESERVED
        )

    def tokens(self, text: str) -> list[str]:
        """Return the tokens of a text."""
        return list(self._tokenizer.tokenize(text))

    def vectors(self, text: str) -> TokenVectors:
        """Return the vectors of a text's tokens in context, up to the most that the model takes."""
        import torch

        encoded = self._tokenizer(
            text.strip(),
            return_tensors="pt",
            truncation=True,
            max_length=self._most,
            return_special_tokens_mask=True,
        )
        is_own = encoded.pop("special_tokens_mask")[0].numpy() == 0
        with torch.inference_mode():
            layers = self._model(**encoded, output_hidden_states=True).hidden_states
        vectors = torch.nn.functional.normalize(layers[self._layer][0].float(), dim=-1)
        return TokenVectors(vectors.numpy().astype(np.float16), is_own)


@lru_cache(maxsize=1)
def answer_model(folder: str, content: str) -> AnswerModel:
    """Return the model in a folder, loaded once in a process for the same `model_content`."""
    return AnswerModel(folder)


def model_content(folder: str) -> str:
    """Return what differs if another model is in a folder: the names, sizes and times of files."""
    files = sorted(Path(folder).iterdir()) if folder and Path(folder).is_dir() else []
    stats = ((file.name, file.stat()) for file in files)
    return repr([(name, stat.st_size, stat.st_mtime_ns) for name, stat in stats])


def vectors_f1(first: TokenVectors, second: TokenVectors) -> float:
    """Return BERTScore's F1 of two texts; 0 if a text has no token of its own."""
    if not len(first) or not len(second):
        return 0.0
    alike = first.vectors.astype(np.float32) @ second.vectors.astype(np.float32).T
    precision = float(alike.max(axis=1)[first.counts].mean())
    recall = float(alike.max(axis=0)[second.counts].mean())
    total = precision + recall
    return 2 * precision * recall / total if total > 0 else 0.0
