"""The measures of equation search (002), against trec_eval and their definitions written out."""

import itertools
from collections import defaultdict

import numpy as np
import polars as pl
import pytest
import pytrec_eval

from arqkit.formats.qrels.read import read_qrels
from arqkit.measures.scoring import means, score_frame, tie_orders
from arqkit.protocols.scales import ARQMATH
from arqkit.ranking import with_order
from tests.real_data import DATA, index_frame, needs_data, read_run

RUNS = [
    ("task1/PSU-task1-PSU1-auto-both-A.tsv.gz", "qrels.task1.tsv"),
    ("task2/Baseline-task2-TangentS-auto-math-P.visual-ids.tsv.gz", "qrels.task2.visual-v2.tsv"),
]
CLASSES, OF_EACH = 13, 8


def scores(index: pl.DataFrame, qrels: pl.DataFrame, measure: str) -> dict[str, float]:
    """Return the value of each topic."""
    return {topic: value for topic, _, value in score_frame(index, qrels, [measure]).iter_rows()}


@pytest.fixture(scope="module", params=RUNS, ids=["PSU1", "TangentS"])
def real(request):
    """Return a real run, its index and qrels, and the labels of each topic."""
    run, qrels = request.param
    rows = read_run(DATA / "arqmath-1/runs" / run)
    frame = ARQMATH.only_judged(
        read_qrels((DATA / "arqmath-1" / qrels).read_bytes(), path="qrels")
    ).drop_nulls("label")
    labels: dict[str, dict[str, int]] = defaultdict(dict)
    for topic, item, label in frame.select("topic", "item", "label").iter_rows():
        labels[topic][item] = label
    by_topic: dict[str, dict[str, float]] = defaultdict(dict)
    for topic, item, _, score in rows:
        by_topic[topic][item] = score
    return by_topic, index_frame(rows), frame, dict(labels)


def trec_eval(measure: str, run, labels) -> dict[str, dict[str, float]]:
    evaluator = pytrec_eval.RelevanceEvaluator(labels, {measure, "num_rel"}, relevance_level=2)
    return evaluator.evaluate(run)


@needs_data
def test_umap_is_trec_evals_average_precision_times_the_number_of_relevant_items(real):
    run, index, qrels, labels = real
    known = trec_eval("map_cut.1000", run, labels)

    found = scores(index, qrels, "uMAP@1000")

    expected = {topic: each["map_cut_1000"] * each["num_rel"] for topic, each in known.items()}
    assert found == pytest.approx(dict.fromkeys(labels, 0.0) | expected, abs=1e-9)
    assert max(found.values()) > 1


@needs_data
def test_the_nearest_neighbour_is_right_if_trec_evals_first_judged_item_is(real):
    run, index, qrels, labels = real
    judged = {
        topic: {item: score for item, score in items.items() if item in labels.get(topic, ())}
        for topic, items in run.items()
    }
    known = trec_eval("P.1", judged, labels)

    found = scores(index, qrels, "OneNN")

    expected = {topic: each["P_1"] for topic, each in known.items()}
    assert found == dict.fromkeys(labels, 0.0) | expected
    assert 0 < sum(found.values()) < len(labels)


@needs_data
def test_the_ranking_score_is_the_share_of_ordered_pairs_of_all_judged_ones(real):
    run, index, qrels, labels = real
    expected = {}
    for topic, of_topic in labels.items():
        # trec_eval's order: 32-bit scores, then ids, both descending. The lowest is: not found.
        place = {item: (np.float32(score), item) for item, score in run.get(topic, {}).items()}
        keys = {item: place.get(item, (np.float32("-inf"), "")) for item in of_topic}
        relevant = [keys[item] for item, label in of_topic.items() if label >= 2]
        others = [keys[item] for item, label in of_topic.items() if label < 2]
        right = sum(one > other for one, other in itertools.product(relevant, others))
        expected[topic] = right / max(len(relevant) * len(others), 1)

    assert scores(index, qrels, "RankingScore") == pytest.approx(expected, abs=1e-12)


@pytest.fixture(scope="module")
def equations():
    """Return the similarities of 104 equations of 13 classes, their classes, and the search as a
    task: each equation is a topic, whose judged items are the others, relevant if of its class.
    """
    draw = np.random.default_rng(3)
    classes = np.repeat(np.arange(CLASSES), OF_EACH)
    vectors = draw.normal(size=(CLASSES, 16))[classes] + draw.normal(size=(len(classes), 16))
    similar = np.round(vectors @ vectors.T, 1)  # some are equal
    pairs = [(a, b) for a in range(len(classes)) for b in range(len(classes)) if a != b]
    run = pl.DataFrame(
        [(f"E.{a}", f"e{b}", float(similar[a, b]), 1) for a, b in pairs],
        schema={"topic": pl.String, "item": pl.String, "score": pl.Float64, "rank": pl.Int64},
        orient="row",
    )
    qrels = pl.DataFrame(
        [(f"E.{a}", f"e{b}", int(classes[a] == classes[b])) for a, b in pairs],
        schema={"topic": pl.String, "item": pl.String, "label": pl.Int64},
        orient="row",
    )
    return similar, classes, with_order(run), qrels


def test_the_mean_over_topics_is_the_papers_score_of_all_triples_with_ties_at_their_worst(
    equations,
):
    similar, classes, index, qrels = equations
    same = classes[:, None] == classes[None, :]
    right = triples = 0
    for one, two, three in itertools.permutations(range(len(classes)), 3):
        if same[one, two] and not same[one, three]:
            triples += 1
            right += similar[one, two] > similar[one, three]  # formula 3: a tie is not right
    worst = tie_orders(index, qrels).worst

    found = means(score_frame(worst, qrels, ["RankingScore(rel=1)"]))

    assert found == {"RankingScore(rel=1)": pytest.approx(right / triples, abs=1e-12)}
    assert 0.5 < right / triples < 1


def test_the_mean_over_topics_is_the_accuracy_in_leave_one_out_validation(equations):
    similar, classes, index, qrels = equations
    others = similar.copy()
    np.fill_diagonal(others, -np.inf)

    best = means(score_frame(tie_orders(index, qrels).best, qrels, ["OneNN(rel=1)"]))
    worst = means(score_frame(tie_orders(index, qrels).worst, qrels, ["OneNN(rel=1)"]))

    nearest = [set(classes[row == row.max()]) for row in others]
    some = [own in found for own, found in zip(classes, nearest, strict=True)]
    every = [found == {own} for own, found in zip(classes, nearest, strict=True)]
    assert (best["OneNN(rel=1)"], worst["OneNN(rel=1)"]) == pytest.approx(
        (np.mean(some), np.mean(every))
    )


@pytest.mark.parametrize(
    ("run", "value"),
    [
        (["+1", "+2", "-1", "-2"], 1),  # all four pairs
        (["+1", "-1", "+2"], 3 / 4),  # -2 was not found, so both are above it
        (["+1", "?", "-1"], 1 / 2),  # +2 and -2 were not found: no order; ? is not judged
        (["-1", "-2"], 0),
        ([], 0),
    ],
)
def test_an_item_that_was_not_found_is_below_those_that_were(run, value):
    labels = {"+1": 3, "+2": 2, "-1": 1, "-2": 0}
    qrels = pl.DataFrame({"topic": "A.1", "item": list(labels), "label": list(labels.values())})
    index = pl.DataFrame(
        {"topic": ["A.1"] * len(run), "item": run, "order": range(1, len(run) + 1)},
        schema={"topic": pl.String, "item": pl.String, "order": pl.Int32},
    )

    assert scores(index, qrels, "RankingScore") == {"A.1": value}


def test_a_topic_without_both_kinds_of_items_has_no_pair_and_a_ranking_score_of_zero():
    qrels = pl.DataFrame({"topic": ["A.1", "A.2"], "item": ["1", "1"], "label": [3, 0]})
    index = qrels.select("topic", "item", order=pl.lit(1, pl.Int32))

    assert scores(index, qrels, "RankingScore") == {"A.1": 0.0, "A.2": 0.0}
