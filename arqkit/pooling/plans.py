"""Pool plans: size, contributions, overlap and cost of a pool before it is frozen.

A Planner numbers the runs' rows once. Each plan is then a count over these numbers, fast enough to
follow a slider.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from arqkit.pooling.pools import (
    PoolSources,
    gather,
    numbered,
    one_post_each,
    rank_by_rank,
    without_earlier,
)
from arqkit.protocols.presets import PoolProtocol, RunKind
from arqkit.ranking import Frame
from arqkit.topics import topic_order

Mask = NDArray[np.bool_]
COMPARED = 40
"""The most runs whose overlap a plan counts: no chart shows the pairs of more."""


@dataclass(frozen=True)
class Cost:
    """The cost of judging: hours of assessors, and money at their wage."""

    hours: float
    money: float


@dataclass(frozen=True)
class Plan:
    """The figures of a pool that is not frozen yet.

    - topics: topic, items, labels (an item with several instances takes several labels).
    - runs: run, team, items (contributed), unique (contributed by no other run or extra), judged_to
      (no item is unjudged down to this rank in any topic; in Task 2 a rank of formulas; at most the
      planner's depth).
    - teams: team, items, unique.
    - overlap: run, other, shared (items both contribute), for every ordered pair of at most
      `COMPARED` runs: those that contribute the fewest unique items.
    """

    topics: pl.DataFrame
    runs: pl.DataFrame
    teams: pl.DataFrame
    overlap: pl.DataFrame

    @property
    def items(self) -> int:
        """Return the number of items of all topics."""
        return int(self.topics["items"].sum())

    @property
    def labels(self) -> int:
        """Return the number of labels that all topics need."""
        return int(self.topics["labels"].sum())

    def cost(self, *, seconds: float, wage: float) -> Cost:
        """Return the cost at a number of seconds per label and a wage per hour."""
        hours = self.labels * seconds / 3600
        return Cost(hours, hours * wage)


class _PlannedRun(NamedTuple):
    name: str
    team: str


class Planner:
    """The rows of the runs, numbered once for many plans.

    `deepest` is the greatest depth a plan may use. Items in the task's earlier pools count as
    judged and add nothing to a plan.
    """

    def __init__(self, sources: PoolSources, *, visually_distinct: bool, deepest: int) -> None:
        # Without their indexes, which are files or as large as the planner itself.
        self._runs = tuple(_PlannedRun(run.name, run.team) for run in sources.runs)
        self._deepest = deepest
        self._visually_distinct = visually_distinct
        rows = _rows(sources, visual=sources.visual if visually_distinct else None, deepest=deepest)
        # The depth of a pool of a given size depends on all items, also those of earlier pools.
        ranked = rows.lazy().filter(pl.col("run").is_not_null()).group_by("topic", "item")
        least, most = (ranked.agg(getattr(pl.col("needs"), end)()) for end in ("min", "max"))
        self._ranked = pl.concat([least, most]).unique().collect()
        rows = without_earlier(rows, sources.earlier)
        topics = topic_order(rows["topic"].unique())
        self._topics = topics.categories.to_list()
        # Extras come from no run: they get the number after the last run, and depth 0.
        names = pl.Enum([run.name for run in self._runs])
        rows = rows.with_columns(
            pl.col("topic").cast(topics).to_physical(),
            pl.col("run").cast(names).to_physical().fill_null(len(self._runs)),
        )
        rows = rows.with_columns(item=_dense("topic", numbered("item")))
        self._instances = pl.DataFrame()
        # Otherwise an item takes one label. Numbering its instances would dominate the run time.
        if visually_distinct:
            self._instances = rows.select(
                "topic", "item", "doc_id", "post", number=_dense("item", numbered("doc_id"))
            )
        is_extra = sources.relevant is not None
        self._rows = rows.select("order", "is_relevant") if is_extra else pl.DataFrame()
        # Millions of rows: the smallest numbers that are large enough.
        rows = rows.select(
            pl.col("run").cast(pl.Int16 if len(self._runs) < 2**15 else pl.Int32),
            pl.col("item").cast(pl.Int32),
            pl.col("needs").clip(upper_bound=deepest + 1).cast(pl.Int16),
            "topic",
        )
        self._run, self._item, self._needs = (
            rows[name].to_numpy() for name in ("run", "item", "needs")
        )
        self._topic_of = _lookup(self._item, rows["topic"].to_numpy())

    @property
    def nbytes(self) -> int:
        """Return about how many bytes it takes."""
        arrays = (self._run, self._item, self._needs, self._topic_of)
        frames = (self._ranked, self._instances, self._rows)
        return sum(array.nbytes for array in arrays) + sum(int(f.estimated_size()) for f in frames)

    def plan(self, protocol: PoolProtocol, kinds: Mapping[str, RunKind]) -> Plan:
        """Return the figures of a pool; `kinds` maps the names of runs to their pooling kinds.

        Raises ValueError for a depth or size beyond the planner's depth.
        """
        reached = self._reached(protocol, kinds)
        contributes = np.zeros((len(self._runs) + 1, len(self._topic_of)), dtype=np.bool_)
        contributes[self._run[reached], self._item[reached]] = True
        pooled: Mask = np.logical_or.reduce(contributes)
        contributes = contributes[:, pooled]
        items, unique = _contributions(contributes)
        fewest = np.argsort(unique.to_numpy(), kind="stable")[:COMPARED]
        return Plan(
            topics=self._per_topic(pooled, reached, protocol),
            runs=pl.DataFrame(
                self._runs, schema={"run": pl.String, "team": pl.String}, orient="row"
            ).with_columns(
                items, unique, judged_to=pl.Series(self._judged_to(pooled), dtype=pl.Int64)
            ),
            teams=self._per_team(contributes),
            overlap=self._overlap(contributes, sorted(fewest.tolist())),
        )

    def _reached(self, protocol: PoolProtocol, kinds: Mapping[str, RunKind]) -> Mask:
        depths = [protocol.depth_of(kinds[run.name]) for run in self._runs]
        by_method = {"depth": max(depths, default=0), "rank-by-rank": protocol.size, "none": 0}
        if by_method[protocol.method] > self._deepest:
            depth = by_method[protocol.method]
            raise ValueError(f"Depth {depth} exceeds the planner's depth {self._deepest}.")
        reached: Mask
        if protocol.method == "depth":
            reached = self._needs <= np.array([*depths, 0])[self._run]
        elif protocol.method == "rank-by-rank":
            reached = self._needs <= self._rank_by_rank(protocol.size)[self._topic_of[self._item]]
        else:
            reached = self._needs == 0
        if protocol.extra_depth is not None and self._rows.width:
            near = self._rows["order"].to_numpy() <= protocol.extra_depth
            reached |= near & self._rows["is_relevant"].to_numpy()
        return reached

    def _rank_by_rank(self, size: int) -> NDArray[np.int64]:
        depths = dict(rank_by_rank(self._ranked, size=size).iter_rows())
        return np.array([depths.get(topic, 0) for topic in self._topics], dtype=np.int64)

    def _per_topic(self, pooled: Mask, reached: Mask, protocol: PoolProtocol) -> pl.DataFrame:
        labels = pooled.astype(np.int64)
        if self._visually_distinct:
            count = self._answers if protocol.instance_policy == "threads" else self._shown
            instances = np.bincount(count(reached), minlength=len(pooled))
            labels = np.minimum(instances, protocol.instances)
        counts = {"items": pooled, "labels": labels}
        size = len(self._topics)
        sums = {
            name: np.bincount(self._topic_of, weights=count, minlength=size)
            for name, count in counts.items()
        }
        return pl.DataFrame(
            {"topic": self._topics} | {name: total.astype(np.int64) for name, total in sums.items()}
        )

    def _shown(self, reached: Mask) -> NDArray[np.int64]:
        number = self._instances["number"].to_numpy()
        is_reached = np.zeros(number.max(initial=-1) + 1, dtype=np.bool_)
        is_reached[number[reached]] = True
        return _lookup(number, self._item)[is_reached]

    def _answers(self, reached: Mask) -> NDArray[np.int64]:
        """Return the item of each pooled answer post; under the policy `threads`, posts are judged.

        Runs may name different posts for an instance, so its post depends on the rows that are
        reached.
        """
        instances = one_post_each(self._instances.drop("number").filter(pl.Series(reached)))
        post = pl.coalesce("post", pl.format("instance {}", "doc_id"))
        return instances.select("item", post=post).unique()["item"].to_numpy()

    def _per_team(self, contributes: Mask) -> pl.DataFrame:
        teams = sorted({run.team for run in self._runs})
        of_team = [
            [number for number, run in enumerate(self._runs) if run.team == team] for team in teams
        ]
        together = np.array([*(contributes[runs].any(axis=0) for runs in of_team), contributes[-1]])
        return pl.DataFrame({"team": teams}, schema={"team": pl.String}).with_columns(
            *_contributions(together)
        )

    def _overlap(self, contributes: Mask, places: Sequence[int]) -> pl.DataFrame:
        from scipy.sparse import csr_array

        names = [self._runs[place].name for place in places]
        # Most items come from few runs: a dense product would take ten times as long.
        sparse = csr_array(contributes[places], dtype=np.int64)
        shared = csr_array(sparse @ sparse.T).toarray()
        pairs = {
            "run": [name for name in names for _ in names],
            "other": names * len(names),
            "shared": shared.ravel(),
        }
        return pl.DataFrame(
            pairs, schema={"run": pl.String, "other": pl.String, "shared": pl.Int64}
        )

    def _judged_to(self, pooled: Mask) -> NDArray[np.int64]:
        """Return the rank before the first unjudged item of each run, over all topics."""
        first = np.full(len(self._runs) + 1, self._deepest + 1, dtype=np.int64)
        missing = ~pooled[self._item]
        np.minimum.at(first, self._run[missing], self._needs[missing])
        return first[:-1] - 1


def _rows(sources: PoolSources, *, visual: Frame | None, deepest: int) -> pl.DataFrame:
    """Return the runs' rows that a plan may count, and the extras as rows without a run.

    Extras have depth 0.
    """
    relevant = sources.relevant
    rows = gather(sources.runs, visual=visual, deepest=None if relevant is not None else deepest)
    rows = rows.with_columns(is_relevant=pl.lit(False))
    if relevant is not None:
        judged = relevant.select("topic", "post").unique().with_columns(is_relevant=pl.lit(True))
        rows = rows.drop("is_relevant").join(judged, on=["topic", "post"], how="left")
        rows = rows.with_columns(pl.col("is_relevant").fill_null(False))
        rows = rows.filter((pl.col("needs") <= deepest) | pl.col("is_relevant"))
    extras = [
        items.select(
            "topic", "item", doc_id="item", order=pl.lit(0, pl.Int32), needs=pl.lit(0, pl.Int32)
        )
        for items in (sources.answers, sources.written)
        if items is not None
    ]
    every = pl.concat([rows, *extras], how="diagonal")
    return every.with_columns(pl.col("is_relevant").fill_null(False))


def _dense(outer: str, inner: pl.Expr) -> pl.Expr:
    """Number pairs from 0 without gaps, ordered by `outer`."""
    return pl.struct(outer, inner).rank("dense").cast(pl.Int64) - 1


def _lookup(numbers: NDArray[np.int64], values: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return an array from number to value; rows with the same number have the same value."""
    by_number = np.zeros(numbers.max(initial=-1) + 1, dtype=np.int64)
    by_number[numbers] = values
    return by_number


def _contributions(contributes: Mask) -> tuple[pl.Series, pl.Series]:
    """Count the items of each row but the last (the extras), and those no other row contributes."""
    unique = contributes[:-1] & (contributes.sum(axis=0, dtype=np.uint16) == 1)
    return pl.Series("items", contributes[:-1].sum(axis=1)), pl.Series("unique", unique.sum(axis=1))
