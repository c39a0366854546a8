"""Triplets of formulas: an anchor, one from its context, and one from another (002 §4.2)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

Rows = NDArray[np.int64]
"""Rows of a frame of formulas: one for each formula or, as three columns, for each triplet."""
TRIES = 100  # for a triplet, on average; a collection without contexts has none


@dataclass(frozen=True)
class TrainingSettings:
    """How the network is trained; the paper's choices are the defaults (002 §4.4)."""

    triplets: int = 100_000
    epochs: int = 20
    rate: float = 1e-4
    loss: str = "histogram"  # or triplet
    masks: bool = True
    exchanges: bool = True
    seed: int = 0


class Contexts:
    """The formulas of a collection by post and by thread, and the links between threads.

    `formulas` has the columns latex, post_id and thread_id; a formula is named by its row. `links`
    are pairs of threads.
    """

    def __init__(self, formulas: pl.DataFrame, links: Iterable[tuple[str, str]] = ()) -> None:
        """Group the formulas."""
        ranks = formulas.select(pl.col("latex", "post_id", "thread_id").rank("dense") - 1)
        self.looks, posts, threads = (column.to_numpy().astype(np.int64) for column in ranks)
        self.by_thread, self.by_post = _grouped(threads), _grouped(posts)
        self.threads, self.posts = threads, posts
        numbers = dict(zip(formulas["thread_id"], threads.tolist(), strict=True))
        self.linked = defaultdict[int, list[int]](list)
        for source, target in links:
            if source in numbers and target in numbers:
                self.linked[numbers[source]].append(numbers[target])
                self.linked[numbers[target]].append(numbers[source])

    def split(self, share: float, *, seed: int) -> tuple[Rows, Rows]:
        """Return the numbers of threads to train with and, a share of them, to hold out."""
        order = np.random.default_rng(seed).permutation(len(self.by_thread))
        held_out = round(share * len(order))
        return np.sort(order[held_out:]), np.sort(order[:held_out])

    def triplets(self, count: int, *, among: Rows, seed: int) -> Rows:
        """Return at most `count` triplets of formulas (rows) in threads with the numbers `among`.

        The anchor is a random formula of a random thread. The positive comes from its post, its
        thread or a linked thread, with equal chances, and has other LaTeX. The negative comes from
        a random thread that is neither the same nor linked. A draw that fails is repeated.
        """
        draw = _Sampler(np.random.default_rng(seed))
        inside = set(among.tolist())
        tries = TRIES * count if len(among) > 1 else 0
        drawn = (self._triplet(draw, among, inside) for _ in range(tries))
        triplets = list(islice(filter(None, drawn), count))
        return np.array(triplets, np.int64).reshape(-1, 3)

    def _triplet(
        self, draw: _Sampler, among: Rows, inside: set[int]
    ) -> tuple[int, int, int] | None:
        thread, other = draw.one_of(among), draw.one_of(among)
        anchor, negative = draw.one_of(self.by_thread[thread]), draw.one_of(self.by_thread[other])
        linked = [number for number in self.linked.get(thread, ()) if number in inside]
        ways = [self.by_post[self.posts[anchor]], self.by_thread[thread]]
        if linked:
            ways.append(self.by_thread[draw.one_of(linked)])
        positive = draw.one_of(draw.one_of(ways))
        if self.looks[positive] == self.looks[anchor] or other == thread or other in linked:
            return None
        return anchor, positive, negative


class _Sampler(NamedTuple):
    """Picks random elements; a generator's `choice` is ten times slower."""

    chance: np.random.Generator

    def one_of(self, many: Any) -> Any:
        return many[int(self.chance.random() * len(many))]


def _grouped(numbers: Rows) -> list[Rows]:
    """Return the rows that have each number from 0 on, in their order."""
    order = np.argsort(numbers, kind="stable")
    return np.split(order, np.searchsorted(numbers[order], np.arange(1, numbers.max() + 1)))


def right_order(vectors: NDArray[np.float32], triplets: Rows) -> NDArray[np.bool_]:
    """Return for each triplet whether its positive is more similar than its negative (002 §5.2).

    The similarity is the inner product. The mean is the ranking score.
    """
    anchor, positive, negative = (vectors[column] for column in triplets.T)
    near, far = (np.einsum("ij,ij->i", anchor, other) for other in (positive, negative))
    right: NDArray[np.bool_] = near > far
    return right
