"""Forecasts of topics: the laws of the distribution, and the labs' real topics."""

import math
import random
from fractions import Fraction
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arqkit.formats.qrels.read import read_qrels
from arqkit.judgments.completion import (
    LAB_PRIORS,
    JudgedSample,
    RatePrior,
    estimated_prior,
    keep_probabilities,
    keep_probability,
)
from arqkit.pooling.pools import in_random_order
from arqkit.records import TaskKind
from tests.real_data import DATA, needs_data

FLAT = RatePrior(1, 1)
ANSWERS = [f"arqmath-{edition}/qrels.task1.tsv" for edition in (1, 2, 3)]
FORMULAS = [
    "arqmath-1/qrels.task2.visual-v2.tsv",
    "arqmath-2/qrels.task2.visual-v2.tsv",
    "arqmath-3/qrels.task2.visual-v3.tsv",
]
SEEDS = range(1, 11)


def judged(path: str) -> pl.DataFrame:
    """The labels of a lab's qrels: topic, item, and whether H or M."""
    qrels = read_qrels(Path(DATA / path).read_bytes(), path=path)
    return qrels.select("topic", "item", relevant=pl.col("label").is_in([2, 3]))


def half_judged(labels: pl.DataFrame, *, seed: int) -> dict[str, JudgedSample]:
    """The topics of a lab after the first half of each pool was judged in the pool's order."""
    ordered = in_random_order(labels, seed=seed).with_columns(total=pl.len().over("topic"))
    is_judged = pl.col("position") <= pl.col("total") // 2
    rows = ordered.filter(is_judged).group_by("topic", "total").agg(pl.len(), pl.sum("relevant"))
    return {topic: JudgedSample(*counts) for topic, *counts in rows.iter_rows()}


def by_bayes(sample: JudgedSample, needed: int) -> Fraction:
    """The probability under the flat prior, which makes each number of relevant items in the whole
    topic equally likely, by Bayes' rule over the hypergeometric distribution.
    """
    total, seen, found = sample
    ways = {
        every: math.comb(every, found) * math.comb(total - every, seen - found)
        for every in range(total + 1)
    }
    kept = sum(count for every, count in ways.items() if every >= needed)
    return Fraction(kept, sum(ways.values()))


@given(st.data())
def test_the_probability_is_that_of_a_random_sample(data):
    total = data.draw(st.integers(1, 40))
    seen = data.draw(st.integers(0, total))
    sample = JudgedSample(total, seen, data.draw(st.integers(0, seen)))
    needed = data.draw(st.integers(0, 5))

    found = keep_probability(sample, prior=FLAT, min_relevant=needed)

    assert found == pytest.approx(float(by_bayes(sample, needed)), abs=1e-9)


def test_a_topic_with_enough_relevant_items_is_kept_and_one_without_room_is_not():
    assert keep_probability(JudgedSample(10, 3, 2), prior=FLAT, min_relevant=2) == 1
    assert keep_probability(JudgedSample(10, 9, 0), prior=FLAT, min_relevant=2) == 0


def test_each_judged_item_without_relevance_lowers_the_probability():
    found = [
        keep_probability(
            JudgedSample(500, seen, 0), prior=LAB_PRIORS[TaskKind.ANSWERS], min_relevant=2
        )
        for seen in range(0, 500, 50)
    ]

    assert found == sorted(found, reverse=True)
    assert found[0] > 0.9
    assert found[-1] < 0.1


def test_the_prior_of_simulated_topics_is_found():
    draw = random.Random(7)
    samples = []
    for _ in range(3000):
        rate = draw.betavariate(1.2, 18)
        seen = draw.randint(50, 400)
        samples.append(JudgedSample(500, seen, sum(draw.random() < rate for _ in range(seen))))

    found = estimated_prior(samples)

    assert found is not None
    assert found.alpha == pytest.approx(1.2, rel=0.1)
    assert found.beta == pytest.approx(18, rel=0.1)


@pytest.mark.parametrize(
    "samples",
    [
        [JudgedSample(100, 50, 5)] * 9,  # nine topics are too few
        [JudgedSample(100, 29, 5)] * 40,  # 29 judged items are too few
        [JudgedSample(100, 50, 0)] * 40,
        [JudgedSample(100, 50, 50)] * 40,
    ],
)
def test_topics_that_tell_nothing_leave_the_prior_of_earlier_labs(samples):
    prior, kind = LAB_PRIORS[TaskKind.FORMULAS], TaskKind.FORMULAS
    doubtful = JudgedSample(100, 60, 1)

    found = keep_probabilities(
        {-1: doubtful, **dict(enumerate(samples))}, kind=kind, min_relevant=9
    )

    assert found[-1] == keep_probability(doubtful, prior=prior, min_relevant=9)


def test_topics_that_are_all_alike_give_a_narrow_prior_around_their_rate():
    found = estimated_prior([JudgedSample(100, 50, 5)] * 40)

    assert found
    assert found.alpha / (found.alpha + found.beta) == pytest.approx(0.1)
    assert found.alpha + found.beta > 1000


def test_the_prior_of_a_topic_is_not_made_from_the_topic():
    others = {f"A.{number}": JudgedSample(400, 200, 20 + number) for number in range(20)}
    alone = {"A.99": JudgedSample(400, 200, 1)}
    prior = estimated_prior(others.values())

    found = keep_probabilities(others | alone, kind=TaskKind.ANSWERS, min_relevant=2)

    assert prior
    assert found["A.99"] == keep_probability(alone["A.99"], prior=prior, min_relevant=2)


@needs_data
@pytest.mark.parametrize(
    ("kind", "paths"), [(TaskKind.ANSWERS, ANSWERS), (TaskKind.FORMULAS, FORMULAS)]
)
def test_the_priors_of_earlier_labs_are_those_of_the_official_qrels(kind, paths, shared_data):
    labels = pl.concat(judged(path) for path in paths)
    topics = labels.group_by("topic").agg(pl.len(), pl.sum("relevant"))

    found = estimated_prior(
        JudgedSample(count, count, relevant) for _, count, relevant in topics.iter_rows()
    )

    assert found
    assert tuple(round(value, 2) for value in found) == LAB_PRIORS[kind]


@needs_data
def test_no_relevant_item_in_half_of_the_pool_stops_few_topics_that_were_kept(shared_data):
    labs = [judged(path) for path in ANSWERS]
    stopped = [
        sum(not topic.relevant for lab in labs for topic in half_judged(lab, seed=seed).values())
        for seed in SEEDS
    ]
    topics = sum(lab["topic"].n_unique() for lab in labs)
    counts = pl.concat(labs).group_by("topic").agg(pl.len(), pl.sum("relevant")).rows()
    by_chance = sum(  # over all orders
        math.comb(total - relevant, total // 2) / math.comb(total, total // 2)
        for _, total, relevant in counts
    )

    print(f"stopped of {topics}: {stopped}, mean of all orders {by_chance:.2f}")  # noqa: T201
    assert topics == 226
    assert by_chance / topics <= 0.02
    assert sum(stopped) / len(stopped) / topics <= 0.02


@needs_data
def test_forecasts_at_half_of_the_pool_come_true_as_often_as_they_say(shared_data):
    # Dropped topics are not in the qrels: with 2, all topics would be kept. 10 divides them.
    needed, said, kept, error = 10, 0.0, 0, 0.0
    for lab in map(judged, ANSWERS):
        in_the_end = dict(lab.group_by("topic").agg(pl.sum("relevant")).iter_rows())
        for seed in SEEDS[:3]:
            found = keep_probabilities(
                half_judged(lab, seed=seed), kind=TaskKind.ANSWERS, min_relevant=needed
            )
            for topic, probability in found.items():
                is_kept = in_the_end[topic] >= needed
                said, kept = said + probability, kept + is_kept
                error += (probability - is_kept) ** 2

    assert said == pytest.approx(kept, rel=0.02)
    assert error / (226 * 3) < 0.05  # a coin would have 0.25
