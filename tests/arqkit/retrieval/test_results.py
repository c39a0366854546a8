"""Tables of results."""

import numpy as np
import polars as pl
import pytest
from scipy.stats import bootstrap

from arqkit.measures.scoring import score_frame
from arqkit.protocols.presets import PRIMES
from arqkit.ranking import with_order
from benchmarks.labs.results import results_table
from tests.arqkit.retrieval.sample import qrels_of, whole_ranking
from tests.real_data import needs_data

LABELS = [("1", "a", 3), ("1", "b", 0), ("1", "c", None), ("2", "a", 2), ("2", "d", 2)]
QRELS = pl.DataFrame(LABELS, schema=["topic", "item", "label"], orient="row")
UP = pl.DataFrame({"topic": ["1", "1", "2"], "item": ["a", "b", "a"], "score": [2.0, 1.0, 1.0]})
DOWN = UP.with_columns(score=-pl.col("score"))


def test_a_row_has_the_mean_the_judged_pairs_and_the_difference():
    table = results_table({"down": DOWN, "up": UP}, QRELS, against="down", measures=["AP"])
    cells = table.select("system", "mean", "difference", "judged", "topics").rows()

    assert cells == [("down", 0.5, None, 3, 2), ("up", 0.75, 0.25, 3, 2)]


def test_only_judgments_of_the_items_count():
    table = results_table({"up": UP}, QRELS, items=["a", "b"], measures=["AP"])

    assert table.select("mean", "judged").rows() == [(1.0, 3)]


@needs_data
@pytest.mark.parametrize("place", range(3))
def test_intervals_are_those_of_scipy(place):
    qrels, ranking = qrels_of(1), whole_ranking(1)
    index, reverse = with_order(ranking), ranking.with_columns(score=-pl.col("score"))
    table = results_table({"bm25": ranking, "reverse": reverse}, qrels, against="bm25")
    values, other = (
        score_frame(each, qrels, [PRIMES[place]])["value"].to_numpy()
        for each in (index, with_order(reverse))
    )

    def ends(sample: np.ndarray) -> list[float]:
        draws = np.random.default_rng(0)
        found = bootstrap((sample,), np.mean, n_resamples=10_000, method="percentile", rng=draws)
        return [found.confidence_interval.low, found.confidence_interval.high]

    columns = ["low", "high"], ["difference_low", "difference_high"]
    assert table.select(columns[0]).row(place) == pytest.approx(ends(values))
    assert table.select(columns[1]).row(place + 3) == pytest.approx(ends(other - values))
