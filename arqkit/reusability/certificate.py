"""The reusability of qrels: scores and ranks if a team, a run or the deep ranks had been missing.

Sources: Zobel, How reliable are the results of large-scale information retrieval experiments?, 1998
(leave one run out); Buckley & Voorhees, Retrieval evaluation with incomplete information, 2004;
Sakai, Alternatives to bpref, 2007 (measures of judged items only: the prime).

Contributions have the columns topic, item, run and needs: the items that each run brought into the
pool, and the depth of the run at which it did. A judged item without a contribution came from no
run, such as an answer of the topic's own thread. No run's absence removes it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from arqkit.comparison.correlation import ranking_effects
from arqkit.measures.columns import Integers, JudgedRanking, Reals, column_values, ratio, sums
from arqkit.measures.names import Measure, parse_measure
from arqkit.topics import topic_order

Mask = NDArray[np.bool_]
DIGITS_COMPARED = 12
"""Decimals of means: beyond them, equal values may differ by the order of their sums."""

DEPTHS = (1, 2, 3, 5, 10, 15, 20, 30, 40, 50, 75, 100, 150, 200, 300, 500, 750, 1000)
"""The depths that the ablation tries, up to the pool's."""
MOST_DEPTHS = 8
"""Each depth scores all runs again."""
MOST_ORPHANS = 0.1
"""The share of judged items that may have come from no run, such as ARQMath-1's thread answers."""
_PRIME_KINDS = ("nDCG", "AP", "P")


class _Joined(NamedTuple):
    """The judged items of a run, best first in each topic.

    `line` has their lines in the qrels, `top` the number of items among the first ones of a topic,
    judged or not.
    """

    ranking: JudgedRanking
    line: Integers
    top: Reals


class Rescorer:
    """Qrels and runs, prepared once for many parts of the qrels.

    `qrels` has the columns topic, item and label; lines with a null label are unjudged. A part
    (`Mask`) has a value for each line of `judged`. Every topic of the qrels counts for each part: a
    topic that has lost its judged items has 0. The measures are columnar.
    """

    def __init__(self, qrels: pl.DataFrame, measures: Iterable[Measure], *, cutoff: int = 10):
        self.measures = tuple(measures)
        self.cutoff = cutoff
        self.runs: list[str] = []
        topics = topic_order(qrels["topic"].unique())
        self.topics = len(topics.categories)
        # Highest labels first, as the ideal ranking needs them.
        self.judged = (
            qrels.drop_nulls("label")
            .select(
                "topic",
                "item",
                pl.col("label").cast(pl.Int64),
                code=pl.col("topic").cast(topics).to_physical().cast(pl.Int64),
            )
            .sort("code", "label", "item", descending=[False, True, False])
        )
        self._codes = self.judged.select("topic", "code").unique()
        self._lines = self.judged.select("topic", "item", "code", "label").with_row_index("line")
        self._joined: list[_Joined] = []

    @cached_property
    def everything(self) -> Mask:
        """Return the mask of the whole qrels."""
        return np.ones(self.judged.height, dtype=np.bool_)

    def add(self, run: str, index: pl.DataFrame) -> None:
        """Add a run by its name and its index (topic, item, order)."""
        rows = index.select("topic", "item", "order")
        lines = rows.join(self._lines, on=["topic", "item"]).sort("code", "order")
        names = ("code", "label", "order", "line")
        topic, label, order, line = (lines[name].cast(pl.Int64).to_numpy() for name in names)
        first = rows.filter(pl.col("order") <= self.cutoff).join(self._codes, on="topic")
        code = first["code"].to_numpy()
        self.runs.append(run)
        self._joined.append(
            _Joined(
                JudgedRanking(topic, label, order),
                line,
                sums(code, np.ones(len(code)), self.topics),
            )
        )

    def means(self, part: Mask) -> Reals:
        """Return the mean of each measure over all topics: a row per run, a column per measure."""
        ideal = JudgedRanking(
            *(self.judged[name].to_numpy()[part] for name in ("code", "label", "code"))
        ).without_unjudged()
        means = np.zeros((len(self.runs), len(self.measures)))
        for row, joined in enumerate(self._joined):
            run = _restricted(joined, part)
            prime = run.without_unjudged()
            for column, measure in enumerate(self.measures):
                ranking = prime if measure.judged_only else run
                values = column_values(measure, ranking, ideal, self.topics)
                means[row, column] = values.mean()
        return means.round(DIGITS_COMPARED)

    def unjudged(self, part: Mask) -> Reals:
        """Return the % of unjudged items among the first items of each run, the mean over topics.

        Topics that a run does not answer are left out; a run without any has 0.
        """
        percentages = []
        for joined in self._joined:
            run = _restricted(joined, part)
            topic = run.topic[run.position <= self.cutoff]
            judged = sums(topic, np.ones(len(topic)), self.topics)
            answered = joined.top > 0
            shares = 1 - ratio(judged[answered], joined.top[answered])
            percentages.append(100 * float(shares.mean()) if answered.any() else 0.0)
        return np.array(percentages)


def _restricted(joined: _Joined, part: Mask) -> JudgedRanking:
    """Return the judged ranking of a run without the items that a part leaves out."""
    is_left = part[joined.line]
    ranking = joined.ranking
    return JudgedRanking(ranking.topic[is_left], ranking.label[is_left], ranking.position[is_left])


class Harm(NamedTuple):
    """The mean and largest change of a run's score, the largest of its rank, and the lowest tau."""

    mean: float | None
    largest: float | None
    ranks: int | None
    tau: float | None


@dataclass(frozen=True, eq=False)
class LeftOut:
    """The results without the items that only one party, a team or a run, contributed.

    - parties: party, items and relevant (the judged items that only it contributed), and a column
      for each measure: Kendall's tau-b of the rankings of all runs with and without these items.
    - changes: the runs of each party by measure, with and without these items: value, rank and
      unjudged (% of the first items), and the changes of value and rank. All runs are scored
      either way. Runs with the same value share the better rank.
    """

    parties: pl.DataFrame
    changes: pl.DataFrame

    def part(self, *, runs: Collection[str], parties: Collection[str]) -> LeftOut:
        """Return the rows of some parties, and the changes of some runs."""
        listed = pl.col("party").is_in(list(parties))
        changed = self.changes.filter(pl.col("run").is_in(list(runs)))
        return LeftOut(self.parties.filter(listed), changed)

    def harm(self, measure: Measure) -> Harm:
        """Return how much leaving out the parties changes scores and ranks by a measure."""
        changes = self.changes.filter(pl.col("measure") == measure.name)
        size, ranks = changes["change"].abs(), changes["rank_change"].abs()
        values = size.mean(), size.max(), ranks.max(), self.parties[measure.name].min()
        return Harm(*values)  # type: ignore[arg-type]  # polars knows only literals


class Certificate(NamedTuple):
    """How far qrels can be trusted to score runs that were not pooled.

    - orphans: the judged items that no run contributed. They stay in a pool of any depth.
    - runs: run, measure, value, rank and unjudged (%) with all judgments.
    - depths: depth, items and relevant (that a pool of this depth has), measure, tau (of the
      rankings with it and with all judgments), and change (the largest of a run's mean).
    - primes: measure, prime, and tau of the rankings by the two.
    """

    judged: int
    relevant: int
    orphans: int
    runs: pl.DataFrame
    teams: LeftOut
    each_run: LeftOut
    depths: pl.DataFrame
    primes: pl.DataFrame

    def of_runs(self, *, runs: Collection[str], teams: Collection[str]) -> Certificate:
        """Return the certificate with the rows of some runs and teams. Ranks stay those among all.

        What is not about one run or team stays: the counts, the shallower pools and the primes.
        """
        return self._replace(
            runs=self.runs.filter(pl.col("run").is_in(list(runs))),
            teams=self.teams.part(runs=runs, parties=teams),
            each_run=self.each_run.part(runs=runs, parties=runs),
        )

    @property
    def depths_are_meaningless(self) -> bool:
        """Return whether so many judged items came from no run that no pool is really shallower."""
        return self.orphans > MOST_ORPHANS * self.judged


def certified_measures(measures: Sequence[Measure]) -> tuple[Measure, ...]:
    """Return the measures of a certificate: the columnar ones, with and without the prime.

    The order is that of `measures`, so the main one stays first if it is among them.
    """
    by_name = {
        measure.name: measure for measure in measures if measure.is_columnar and measure.is_rating
    }
    for measure in list(by_name.values()):
        if measure.kind in _PRIME_KINDS:
            other = _other_side(measure)
            by_name.setdefault(other.name, other)
    return tuple(by_name.values())


def certify(
    rescorer: Rescorer, contributions: pl.DataFrame, teams: Mapping[str, str], *, relevant_from: int
) -> Certificate:
    """Return the certificate of qrels. `teams` has the team of each run that contributed.

    The runs of the rescorer are the ones that are scored.
    """
    study = Study(rescorer, contributions, relevant_from)
    return Certificate(
        rescorer.judged.height,
        int(study.relevant.sum()),
        rescorer.judged.height - study.lines["line"].n_unique(),
        study.ranked(study.whole, rescorer.everything),
        study.leave_out(teams),
        study.leave_out({run: run for run in teams}),
        study.ablate(),
        study.primes(),
    )


@dataclass(frozen=True, eq=False)
class Study:
    """The means of all runs with all judgments, to be compared with those by a part of them."""

    rescorer: Rescorer
    contributions: pl.DataFrame
    relevant_from: int

    @cached_property
    def relevant(self) -> Mask:
        """Return which lines of the qrels are relevant."""
        return self.rescorer.judged["label"].to_numpy() >= self.relevant_from

    @cached_property
    def whole(self) -> Reals:
        """Return the means of all runs with all judgments."""
        return self.rescorer.means(self.rescorer.everything)

    @cached_property
    def lines(self) -> pl.DataFrame:
        """Return line, run and needs of the contributions that were judged."""
        judged = self.rescorer.judged.select("topic", "item").with_row_index("line")
        return self.contributions.join(judged, on=["topic", "item"]).select("line", "run", "needs")

    def ranked(self, means: Reals, part: Mask) -> pl.DataFrame:
        """Return run, measure, value, rank and unjudged by the judgments of a part."""
        unjudged = np.repeat(self.rescorer.unjudged(part), len(self.rescorer.measures))
        rank = pl.col("value").rank("min", descending=True).over("measure").cast(pl.Int64)
        return self._by_run(means).with_columns(unjudged=unjudged, rank=rank)

    def leave_out(self, parties: Mapping[str, str]) -> LeftOut:
        """Score all runs without what only one party contributed, for each party with runs.

        `parties` maps the names of runs, scored or not, to their parties.
        """
        whole = self.ranked(self.whole, self.rescorer.everything)
        rows: list[dict[str, object]] = []
        changes = [_changes("", whole.clear(), whole.clear())]
        for party, sole in self.sole_items(parties):
            means = self.rescorer.means(~sole)
            rows.append({"party": party, **self._counts(sole)})
            rows[-1].update(self._taus(means))
            party_runs = [run for run in self.rescorer.runs if parties[run] == party]
            without = self.ranked(means, ~sole).filter(pl.col("run").is_in(party_runs))
            changes.append(_changes(party, whole, without))
        counts = pl.DataFrame(schema={"party": pl.String, "items": pl.Int64, "relevant": pl.Int64})
        taus = [pl.Series(measure.name, dtype=pl.Float64) for measure in self.rescorer.measures]
        columns = counts.with_columns(taus).schema
        return LeftOut(pl.DataFrame(rows, schema=columns), pl.concat(changes))

    def sole_items(self, parties: Mapping[str, str]) -> Iterator[tuple[str, Mask]]:
        """Yield each party of the scored runs with the judged items that only it contributed."""
        named = pl.DataFrame(
            {"run": list(parties), "party": list(parties.values())},
            schema={"run": pl.String, "party": pl.String},
        )
        brought = self.lines.join(named, on="run").group_by("line").agg(pl.col("party").unique())
        sole = brought.filter(pl.col("party").list.len() == 1).explode("party")
        for party in dict.fromkeys(parties[run] for run in self.rescorer.runs):
            mask = ~self.rescorer.everything
            mask[sole.filter(pl.col("party") == party)["line"].to_numpy()] = True
            yield party, mask

    def ablate(self) -> pl.DataFrame:
        """Score all runs with the judged items of shallower pools: `Certificate.depths`."""
        # Items from no run are in a pool of any depth.
        needs = np.zeros(self.rescorer.judged.height, dtype=np.int64)
        least = self.lines.group_by("line").agg(pl.col("needs").min())
        needs[least["line"].to_numpy()] = least["needs"].to_numpy()
        deepest = int(needs.max(initial=0))
        tried = [*(depth for depth in DEPTHS if depth < deepest), deepest][-MOST_DEPTHS:]
        rows = []
        for depth in tried if deepest else ():
            part = needs <= depth
            means = self.rescorer.means(part)
            taus, changes = self._taus(means), np.abs(means - self.whole).max(axis=0, initial=0)
            for measure, change in zip(self.rescorer.measures, changes.tolist(), strict=True):
                name = measure.name
                figures = {"measure": name, "tau": taus.get(name), "change": change}
                rows.append({"depth": depth, **self._counts(part), **figures})
        counts = dict.fromkeys(("depth", "items", "relevant"), pl.Int64())
        figure_types = {"measure": pl.String(), "tau": pl.Float64(), "change": pl.Float64()}
        return pl.DataFrame(rows, schema={**counts, **figure_types})

    def primes(self) -> pl.DataFrame:
        """Compare the rankings by each measure and by its prime: `Certificate.primes`."""
        means, measures = self._by_run(self.whole), self.rescorer.measures
        rows = []
        for measure in measures:
            for prime in measures:
                if prime.judged_only and _other_side(prime).name == measure.name:
                    both = [
                        means.filter(pl.col("measure") == side.name).with_columns(
                            measure=pl.lit("")
                        )
                        for side in (measure, prime)
                    ]
                    tau = ranking_effects(*both)[""].tau
                    rows.append({"measure": measure.name, "prime": prime.name, "tau": tau})
        schema = {"measure": pl.String, "prime": pl.String, "tau": pl.Float64}
        return pl.DataFrame(rows, schema=schema)

    def _by_run(self, means: Reals) -> pl.DataFrame:
        runs, names = self.rescorer.runs, [measure.name for measure in self.rescorer.measures]
        return pl.DataFrame(
            {
                "run": [run for run in runs for _ in names],
                "measure": names * len(runs),
                "value": means.ravel(),
            },
            schema={"run": pl.String, "measure": pl.String, "value": pl.Float64},
        )

    def _taus(self, means: Reals) -> dict[str, float | None]:
        """Return Kendall's tau-b of the rankings by these means and by all judgments."""
        effects = ranking_effects(self._by_run(self.whole), self._by_run(means))
        return {name: effect.tau for name, effect in effects.items()}

    def _counts(self, part: Mask) -> dict[str, int]:
        return {"items": int(part.sum()), "relevant": int((part & self.relevant).sum())}


def _other_side(measure: Measure) -> Measure:
    """Return the prime of a measure, or the measure of which it is the prime."""
    parameters = [] if measure.rel is None else [f"rel={measure.rel}"]
    parameters += [] if measure.judged_only else ["judged_only=True"]
    in_brackets = f"({','.join(parameters)})" if parameters else ""
    return parse_measure(
        measure.kind + in_brackets + (f"@{measure.cutoff}" if measure.cutoff else "")
    )


def _changes(party: str, whole: pl.DataFrame, without: pl.DataFrame) -> pl.DataFrame:
    """Return the rows of `LeftOut.changes` of a party."""
    both = whole.join(without, on=["run", "measure"], suffix="_without", maintain_order="left")
    return both.select(
        pl.lit(party).alias("party"),
        "run",
        "measure",
        "value",
        "rank",
        "value_without",
        "rank_without",
        "unjudged",
        "unjudged_without",
        change=pl.col("value_without") - pl.col("value"),
        rank_change=pl.col("rank_without") - pl.col("rank"),
    )
