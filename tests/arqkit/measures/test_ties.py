"""The best and worst case of a run with tied scores, against pytrec_eval and all permutations."""

import itertools

import numpy as np
import polars as pl
import pytest
import pytrec_eval

from arqkit.measures.names import AVERAGE_RELEVANCE, parse_measure
from arqkit.measures.scoring import Scorer, has_tie_bounds, score_frame, tie_orders
from arqkit.ranking import with_order
from tests.arqkit.measures.provided import EQUATION_SEARCH

OURS = {
    "nDCG": "ndcg",
    "nDCG@5": "ndcg_cut_5",
    "AP(rel=2)": "map",
    "P(rel=2)@5": "P_5",
    "RR(rel=2)": "recip_rank",
    "Bpref(rel=2)": "bpref",
}
PRIME = (
    "nDCG(judged_only=True)@2",
    "AP(rel=2,judged_only=True)",
    "P(rel=2,judged_only=True)@1",
    "AP(rel=2)@2",
    "AR",
    *EQUATION_SEARCH,
)


def drawn(seed: int, *, topics: int, items: int, scores: int) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return an index with few different scores, and qrels of two thirds of its items and more."""
    draw = np.random.default_rng(seed)
    pairs = [(f"A.{topic}", f"p{item}") for topic in range(topics) for item in range(items)]
    frame = pl.DataFrame(pairs, schema=["topic", "item"], orient="row")
    score = pl.Series("score", draw.integers(0, scores, len(pairs)).astype(float))
    labels = frame.with_columns(pl.Series("label", draw.integers(0, 4, len(pairs))))
    more = labels.with_columns(item=pl.col("item") + "x")
    qrels = pl.concat([labels.filter(pl.Series(draw.random(len(pairs)) < 0.7)), more])
    return with_order(frame.with_columns(score, rank=pl.lit(1, pl.Int64))), qrels


def by_name(scores: pl.DataFrame) -> dict[tuple[str, str], float]:
    return {(topic, name): value for topic, name, value in scores.iter_rows()}


@pytest.mark.parametrize("side", ["best", "worst"])
@pytest.mark.parametrize("seed", range(3))
def test_a_bound_is_the_score_of_a_run_whose_ties_are_broken_by_label(seed, side):
    index, qrels = drawn(seed, topics=8, items=60, scores=7)
    labels = {(topic, item): label for topic, item, label in qrels.iter_rows()}
    step = 0.1 if side == "best" else -0.1
    run: dict[str, dict[str, float]] = {}
    for topic, item, score in index.select("topic", "item", "score").iter_rows():
        run.setdefault(topic, {})[item] = score + step * labels.get((topic, item), 0)
    judged = {topic: {} for topic in run}
    for (topic, item), label in labels.items():
        judged[topic][item] = label
    names = set(OURS.values())
    graded = pytrec_eval.RelevanceEvaluator(judged, {"ndcg", "ndcg_cut"}).evaluate(run)
    binary = pytrec_eval.RelevanceEvaluator(judged, {"map", "P", "recip_rank", "bpref"}, 2)
    expected = {
        (topic, ours): {**graded[topic], **values}[theirs]
        for topic, values in binary.evaluate(run).items()
        for ours, theirs in OURS.items()
    }

    found = by_name(score_frame(getattr(tie_orders(index, qrels), side), qrels, OURS))

    assert len(names) == len(OURS)
    assert found == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("seed", range(12))
def test_no_order_of_tied_items_is_beyond_the_bounds_and_one_reaches_each(seed):
    index, qrels = drawn(seed, topics=1, items=6, scores=2)
    scorer = Scorer(qrels, [*OURS, *PRIME])
    assert all(has_tie_bounds(measure) for measure in scorer.measures)
    groups = [list(rows["item"]) for _, rows in index.group_by("score", maintain_order=True)]
    values: dict[str, list[float]] = {}
    for parts in itertools.product(*map(itertools.permutations, groups)):
        items = list(itertools.chain(*parts))
        order = pl.DataFrame({"topic": "A.0", "item": items, "order": range(1, len(items) + 1)})
        for _, name, value in scorer.score(order).iter_rows():
            values.setdefault(name, []).append(value)

    orders = tie_orders(index, qrels)
    for side, extreme in (("best", max), ("worst", min)):
        found = {name: value for _, name, value in scorer.score(getattr(orders, side)).iter_rows()}
        assert found == pytest.approx({name: extreme(each) for name, each in values.items()})


def test_scores_that_differ_beyond_32_bits_are_tied_and_ranks_tell_tied_scores_apart():
    rows = [("A.1", "p1", 1.0, 1), ("A.1", "p2", 1.0 + 1e-12, 2), ("A.2", "p1", 3.0, 1)]
    frame = pl.DataFrame(rows, schema=["topic", "item", "score", "rank"], orient="row")
    qrels = pl.DataFrame({"topic": ["A.1", "A.1"], "item": ["p1", "p2"], "label": [None, 2]})

    by_score = tie_orders(with_order(frame), qrels)
    by_rank = tie_orders(with_order(frame, by="rank"), qrels, by="rank")

    assert (by_score.items, by_score.topics) == (2, 1)
    assert (by_rank.items, by_rank.topics) == (0, 0)
    assert by_score.best["item"].to_list() == ["p2", "p1"]
    assert by_score.worst["item"].to_list() == ["p1", "p2"]


def test_the_share_of_judged_items_has_no_bounds():
    assert not has_tie_bounds(parse_measure("Judged@10"))
    assert has_tie_bounds(AVERAGE_RELEVANCE)
