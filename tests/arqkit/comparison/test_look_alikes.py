"""Copies of real runs, with noise or of some topics, and runs made from real qrels are found; the
real runs are not accused.
"""

from collections.abc import Iterator
from functools import cache
from itertools import combinations
from pathlib import Path
from random import Random

import numpy as np
import polars as pl
import pytest

from arqkit.comparison.look_alikes import is_replay, likenesses, purity_of
from tests.arqkit.comparison.test_similarity import ranking
from tests.real_data import DATA, index_frame, needs_data, read_run

TASKS = {
    "arqmath-1/runs/task1": ("arqmath-1/qrels.task1.tsv", 2),
    "arqmath-1/runs/task2": ("arqmath-1/qrels.task2.visual-v2.tsv", 2),
    "ntcir-12-wfb/runs": ("ntcir-12-wfb/qrels.concrete.txt", 3),
}
RUNS = sorted(path for folder in TASKS for path in (DATA / folder).glob("**/*.gz"))
SAME = {"PSU-task1-PSU1-auto-both-A.tsv.gz", "tf.psu-task1-mlt.base-auto-both-A.tsv.gz"}
"""The one run under two names."""
NOISE, COPIED = 0.15, 0.6
each_run = pytest.mark.parametrize("path", RUNS, ids=lambda path: path.name.split("-auto")[0])


@cache
def index(path: Path) -> pl.DataFrame:
    kept = index_frame(read_run(path)).unique(["topic", "item"], keep="first", maintain_order=True)
    return ordered(kept, "score")


@cache
def judged(path: Path) -> tuple[pl.DataFrame, int]:
    name, relevant_from = next(
        found for folder, found in TASKS.items() if str(path).startswith(str(DATA / folder))
    )
    lines = [line.split() for line in (DATA / name).read_text("utf-8").splitlines()]
    rows = [(line[0], line[2], int(float(line[3]))) for line in lines]
    frame = pl.DataFrame(rows, schema=["topic", "item", "label"], orient="row")
    return frame.filter(pl.col("label") < 5), relevant_from


def ordered(frame: pl.DataFrame, by: str) -> pl.DataFrame:
    by_topic = frame.sort(["topic", by, "item"], descending=[False, True, True])
    return by_topic.with_columns(order=pl.int_range(1, pl.len() + 1).over("topic"))


def some_topics(frame: pl.DataFrame) -> list[str]:
    topics = sorted(set(frame["topic"]))
    return Random(7).sample(topics, round(COPIED * len(topics)))


def copies(run: pl.DataFrame) -> Iterator[tuple[str, pl.DataFrame]]:
    draw = np.random.default_rng(7)
    noisy = draw.random(run.height) < NOISE
    strangers = pl.format("stranger{}", pl.int_range(pl.len()))
    yield (
        "items",
        run.with_columns(item=pl.when(pl.Series(noisy)).then(strangers).otherwise("item")),
    )
    sizes = run.select(pl.len().over("topic")).to_series().to_numpy()
    places = np.where(noisy, draw.random(run.height) * sizes, run["order"].to_numpy())
    yield "ranks", ordered(run.with_columns(place=pl.Series(-places)), "place")
    scores = run["score"].to_numpy().copy()
    scores[noisy] = draw.permutation(scores[noisy])
    yield "scores", ordered(run.with_columns(score=pl.Series(scores)), "score")
    replaced = pl.when(pl.Series(draw.random(run.height) < 0.4)).then(strangers)
    yield "40% of the items", run.with_columns(item=replaced.otherwise("item"))
    tail = pl.format("tail{}", pl.int_range(pl.len()))
    yield (
        "the first 100",
        run.with_columns(item=pl.when(pl.col("order") <= 100).then("item").otherwise(tail)),
    )
    own = pl.col("topic").is_in(some_topics(run))
    reverse = ordered(run.with_columns(place=pl.col("order").cast(pl.Float64)), "place")
    yield "topics", pl.concat([run.filter(own), reverse.select(run.columns).filter(~own)])


@needs_data
@each_run
def test_a_copy_with_noise_or_of_some_topics_is_found(path):
    run = index(path)
    for name, copy in copies(run):
        [found] = likenesses([run, copy])
        assert len(found.copied) >= COPIED * found.topics - 1, name


@needs_data
def test_no_innocent_pair_is_accused():
    for folder in TASKS:
        paths = [path for path in RUNS if str(path).startswith(str(DATA / folder))]
        found = likenesses([index(path) for path in paths])
        pairs = [{paths[one.first].name, paths[one.second].name} for one in found]
        assert pairs == [SAME] * ("task1" in folder)


def replays(
    run: pl.DataFrame, labels: pl.DataFrame, least: int
) -> Iterator[tuple[str, pl.DataFrame]]:
    relevant = labels.filter(pl.col("label") >= least)
    shuffled = relevant.with_columns(
        place=pl.Series(np.random.default_rng(7).random(relevant.height))
    )
    half = shuffled.filter(pl.int_range(pl.len()).over("topic") * 2 < pl.len().over("topic"))
    honest = run.select("topic", "item", place=-pl.col("order").cast(pl.Float64))
    before = half.select("topic", "item", "place")
    others = honest.join(before, on=["topic", "item"], how="anti")
    yield "half of the relevant", ordered(pl.concat([before, others]), "place")
    for name, made in (
        ("relevant", ordered(shuffled, "place")),
        ("ideal", ordered(labels, "label")),
    ):
        columns = ["topic", "item", "order"]
        yield name, made.select(columns)
        own = pl.col("topic").is_in(some_topics(labels))
        order = pl.col("order").cast(pl.Int64)
        honest = run.with_columns(order).select(columns).filter(~own)
        yield (
            f"60% {name}",
            pl.concat([made.with_columns(order).select(columns).filter(own), honest]),
        )


@needs_data
@each_run
def test_runs_made_from_the_qrels_are_found_and_honest_ones_are_not(path):
    labels, least = judged(path)
    assert not is_replay(purity_of(index(path), labels, relevant_from=least))
    for name, made in replays(index(path), labels, least):
        purity = purity_of(made, labels, relevant_from=least)
        assert is_replay(purity), name


LISTS = {f"t{number}": "".join(Random(number).sample("abcdefghij", 10)) for number in range(5)}


def test_each_topic_has_its_evidence():
    swapped = LISTS | {"t0": LISTS["t0"][:8] + "xy", "t1": LISTS["t1"][::-1]}
    [found] = likenesses([ranking(**LISTS), ranking(**swapped)])

    assert (found.first, found.second, found.topics) == (0, 1, 5)
    evidence = {one.topic: (one.jaccard, one.rho) for one in found.copied}
    assert evidence["t0"] == (pytest.approx(8 / 12), pytest.approx(1))
    assert evidence["t2"] == (pytest.approx(1), pytest.approx(1))
    assert evidence.keys() == LISTS.keys() - {"t1"}


def test_few_topics_short_lists_and_no_rankings_tell_nothing():
    few = dict(list(LISTS.items())[:2])
    short = {topic: items[:4] for topic, items in LISTS.items()}
    for lists in (few, short):
        assert likenesses([ranking(**lists), ranking(**lists)]) == []
    assert likenesses([]) == []
    assert likenesses([ranking(t="a").clear(), ranking(**LISTS)]) == []


@pytest.mark.parametrize(("relevant", "topics"), [("abcde", 3), ("abcdef", 0), ("abcd", 0)])
def test_topics_with_few_relevant_items_or_few_others_do_not_count(relevant, topics):
    rows = [(f"t{n}", item, int(item in relevant)) for n in range(3) for item in "abcdefghij"]
    judged = pl.DataFrame(rows, schema=["topic", "item", "label"], orient="row")
    run = ranking(**{f"t{number}": "xbacyde" for number in range(3)})

    purity = purity_of(run, judged, relevant_from=1)

    assert purity.topics == len(purity.pure) == topics
    assert is_replay(purity) is bool(topics)


def test_every_pair_is_compared():
    runs = [ranking(**LISTS)] * 3
    assert [(one.first, one.second) for one in likenesses(runs)] == list(combinations(range(3), 2))
