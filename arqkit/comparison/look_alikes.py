"""Runs that look like copies of other runs, or of the qrels, judged topic by topic.

Means hide copies: noise, or honest topics beside copied ones, pull them down to the values of
honest runs. Rankings have the columns topic, item and `order` (1 is the top; `arqkit.ranking`),
without ties. The limits are between the published runs of ARQMath-1 and copies made from them.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
import polars as pl

from arqkit.measures.columns import Reals

COPIED = ((0.35, 0.98, 10), (0.6, 0.95, 5), (0.9, 0.65, 5), (0.95, 0.35, 200))
"""A topic is copied with so similar items (Jaccard coefficient) in so similar an order (Spearman's
rho), of at least so many items in common: some items are replaced, or nearly all kept and moved.
With 40% of the items replaced, the coefficient is .43."""
POOLED = 50
"""The depth at which rankings are compared, too: whoever copies what is pooled may add a tail."""
SHORTEST = 5
"""Topics of which fewer judged items are found tell nothing about replays."""
PURITY, PURITY_OF_HALF = 0.8, 0.9
"""A topic replays the qrels if so large a part of its first judged items is relevant: of as many as
there are relevant items, or of half as many, in case that half of them were taken."""
MOST_RELEVANT = 0.5
"""Topics with a higher share of relevant judged items are ignored: any run does well there."""
SUSPICIOUS = 0.4
"""A run is suspicious from this share of the topics that are not ignored."""
FEWEST = 3
"""Fewer topics may be alike by chance."""


class CopiedTopic(NamedTuple):
    """A topic with the similarity of its items and of their order in two rankings."""

    topic: str
    jaccard: float
    rho: float


class Likeness(NamedTuple):
    """Two rankings by their places, the number of topics of both, and those that are alike."""

    first: int
    second: int
    topics: int
    copied: list[CopiedTopic]


class PureTopic(NamedTuple):
    """A topic with the number of its first judged items, and how many of them are relevant."""

    topic: str
    items: int
    relevant: int


class Purity(NamedTuple):
    """The number of topics that could show a replay, and the topics that replay the qrels."""

    topics: int
    pure: list[PureTopic]


def likenesses(rankings: Sequence[pl.DataFrame], *, depth: int = POOLED) -> list[Likeness]:
    """Return the pairs of rankings that are alike in many topics, most topics first.

    Only topics that both rankings answer are compared: whole, and to a depth, such as that of the
    pool. A pair that is alike both ways is listed as it has more topics.
    """
    tops = [ranking.filter(pl.col("order") <= depth) for ranking in rankings]
    most: dict[tuple[int, int], Likeness] = {}
    for likeness in [*_likenesses(rankings), *_likenesses(tops)]:
        pair = likeness.first, likeness.second
        if pair not in most or len(most[pair].copied) < len(likeness.copied):
            most[pair] = likeness
    return sorted(
        most.values(), key=lambda likeness: (-len(likeness.copied), likeness.first, likeness.second)
    )


def _likenesses(rankings: Sequence[pl.DataFrame]) -> list[Likeness]:
    topics: dict[tuple[int, int], int] = defaultdict(int)
    similar: dict[tuple[int, int], dict[str, float]] = defaultdict(dict)
    for topic, table in _jaccards(rankings):
        for pair in combinations(np.flatnonzero(~np.isnan(table.diagonal())).tolist(), 2):
            topics[pair] += 1
            if (value := float(table[pair])) >= COPIED[0][0]:
                similar[pair][topic] = value
    alike = []
    for pair, jaccards in similar.items():
        if not _is_suspicious(len(jaccards), topics[pair]):
            continue
        first, second = (rankings[place] for place in pair)
        copied = [
            CopiedTopic(topic, jaccards[topic], rho)
            for topic, common, rho in _correlations(first, second, jaccards)
            if any(
                jaccards[topic] >= items and rho >= order and common >= least
                for items, order, least in COPIED
            )
        ]
        if _is_suspicious(len(copied), topics[pair]):
            alike.append(Likeness(*pair, topics[pair], copied))
    return alike


def purity_of(ranking: pl.DataFrame, judged: pl.DataFrame, *, relevant_from: int) -> Purity:
    """Return the topics in which a ranking replays the qrels (topic, item, label).

    For a topic with R relevant items, the first R judged items of the ranking are examined: in a
    replay, all of them are relevant, in any order. Unjudged items between them do not matter. The
    first half of them is examined, too.
    """
    sizes = judged.group_by("topic").agg(
        known=pl.len(), relevant=(pl.col("label") >= relevant_from).sum()
    )
    telling = sizes.filter(pl.col("relevant") <= pl.col("known") * MOST_RELEVANT)
    rows = ranking.join(judged, on=["topic", "item"]).join(telling, on="topic").sort("order")
    first, half = (
        rows.filter(pl.int_range(pl.len()).over("topic") < (pl.col("relevant") / parts).ceil())
        .group_by("topic", maintain_order=True)
        .agg(items=pl.len(), found=(pl.col("label") >= relevant_from).sum())
        .filter(pl.col("items") >= SHORTEST)
        for parts in (1, 2)
    )
    pure = [
        topics.filter(pl.col("found") >= pl.col("items") * least)
        for topics, least in ((first, PURITY), (half, PURITY_OF_HALF))
    ]
    either = pl.concat(pure).unique("topic", keep="first", maintain_order=True)
    return Purity(first.height, [PureTopic(*row) for row in either.iter_rows()])


def is_replay(purity: Purity) -> bool:
    """Return whether more topics replay the qrels than chance can explain."""
    return _is_suspicious(len(purity.pure), purity.topics)


def _is_suspicious(similar: int, topics: int) -> bool:
    return similar >= max(FEWEST, SUSPICIOUS * topics)


def _jaccards(rankings: Sequence[pl.DataFrame]) -> Iterator[tuple[str, Reals]]:
    """Yield each topic with the Jaccard coefficients of the items of all pairs of rankings.

    A ranking without the topic has NaN on the diagonal.
    """
    frames = [
        frame.select("topic", "item", run=pl.lit(place)) for place, frame in enumerate(rankings)
    ]
    for (topic,), rows in pl.concat(frames).group_by("topic") if frames else ():
        items = rows["item"].rank("dense").to_numpy()
        has = np.zeros((len(rankings), int(items.max()) + 1), dtype=np.float32)
        has[rows["run"].to_numpy(), items] = 1
        common, sizes = has @ has.T, has.sum(axis=1)
        union = sizes[:, None] + sizes - common
        yield (
            str(topic),
            np.divide(common, union, out=np.full(common.shape, np.nan), where=union > 0),
        )


def _correlations(
    first: pl.DataFrame, second: pl.DataFrame, topics: Iterable[str]
) -> Iterator[tuple[str, int, float]]:
    """Yield each topic with the number of common items and their Spearman's rho."""
    both = first.filter(pl.col("topic").is_in(list(topics))).join(second, on=["topic", "item"])
    rho = pl.corr("order", "order_right", method="spearman")
    rows = both.group_by("topic", maintain_order=True).agg(items=pl.len(), rho=rho)
    yield from rows.drop_nans("rho").iter_rows()
