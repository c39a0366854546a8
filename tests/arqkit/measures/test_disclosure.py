"""What disclosed means tell an attacker who knows how labels are distributed, and has accounts.

The attacker draws worlds of labels, keeps those in which all runs would have the means that are
seen, and guesses each label as most of these worlds have it. Whoever knows the base rate only
guesses the commonest label. The runs are those of real attacks: few topics, few items, other
orders, one item less, other accounts.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl
import pytest

from arqkit.measures.disclosure import (
    first_with_items,
    has_enough_topics,
    item_numbers,
    shown_mean,
    shown_means,
    step_of,
)
from arqkit.measures.names import parse_measures
from arqkit.measures.scoring import Scorer

MEASURES = parse_measures(
    ["nDCG(judged_only=True)@1000", "AP(rel=2,judged_only=True)", "P(rel=2,judged_only=True)@10"]
)
WORLDS, HIDDEN, BASE_RATE = 300, 60, 0.25
SUBMISSIONS = 3
Lists = Mapping[str, Sequence[str]]


def items_of(topics: int, items: int) -> dict[str, list[str]]:
    return {f"A.{topic}": [f"{topic}i{item}" for item in range(items)] for topic in range(topics)}


def drawn_labels(draw: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Return labels of which one in four is relevant."""
    return 2 * (draw.random(shape) < BASE_RATE).astype(int)


def means_of(lists: Lists, judged: dict[str, list[str]], worlds: np.ndarray) -> np.ndarray:
    """Return the mean of each measure in each world (rows): all are scored at once as topics."""
    names = list(judged)
    size = len(next(iter(judged.values())))
    pairs = [(world, topic) for world in range(len(worlds)) for topic in names]
    qrels = pl.DataFrame(
        {
            "topic": [f"{world} {topic}" for world, topic in pairs for _ in range(size)],
            "item": [item for _, topic in pairs for item in judged[topic]],
            "label": worlds.ravel(),
        }
    )
    rows = [(topic, item, place) for topic in lists for place, item in enumerate(lists[topic], 1)]
    run = pl.DataFrame(rows, schema=["name", "item", "order"], orient="row")
    every = pl.DataFrame({"world": range(len(worlds))}).join(run, how="cross")
    index = every.select(
        topic=pl.format("{} {}", "world", "name"), item="item", order=pl.col("order").cast(pl.Int32)
    )
    scores = Scorer(qrels, MEASURES).score(index)["value"].to_numpy()
    return scores.reshape(len(MEASURES), len(worlds), len(names)).mean(axis=2).T


def seen_means(
    runs: Sequence[Lists], judged: dict[str, list[str]], worlds: np.ndarray
) -> np.ndarray:
    """Return what is shown of the runs in each world (rows); nothing is -1."""
    frame = pl.DataFrame(
        [(topic, item) for topic, items in judged.items() for item in items],
        schema=["topic", "item"],
        orient="row",
    )
    step = step_of(
        topics=len(judged), labels=frame.height, means=SUBMISSIONS * len(shown_means(MEASURES))
    )
    tables = [
        pl.DataFrame(
            [(topic, item) for topic in run for item in run[topic]],
            schema={"topic": pl.String, "item": pl.String},
            orient="row",
        )
        for run in runs
    ]
    seen = np.full((len(worlds), len(runs), len(MEASURES)), -1.0)
    if step is None:
        return seen.reshape(len(worlds), -1)
    enough = [place for place, table in enumerate(tables) if has_enough_topics(table, frame)]
    firsts = first_with_items([item_numbers(tables[place], frame) for place in enough])
    for place, first in zip(enough, firsts, strict=True):
        means = means_of(runs[enough[first]], judged, worlds)
        seen[:, place] = [
            [
                shown_mean(value, measure, step=step, highest=3)
                for value, measure in zip(row, MEASURES, strict=True)
            ]
            for row in means
        ]
    return seen.reshape(len(worlds), -1)


def unguarded(
    runs: Sequence[Lists], judged: dict[str, list[str]], worlds: np.ndarray
) -> np.ndarray:
    """Return the means with three digits, as they were shown of all runs."""
    return np.hstack([means_of(run, judged, worlds).round(3) for run in runs])


def gain(show, runs: Sequence[Lists], judged: dict[str, list[str]], topics: int) -> float:
    """Return how many labels of the first topics are guessed right above the base rate.

    It is the mean over hidden worlds, each guessed from all other worlds.
    """
    draw = np.random.default_rng(5)
    worlds = drawn_labels(draw, (WORLDS, len(judged), len(next(iter(judged.values())))))
    # Worlds that differ in the attacked topics only: all that the attacker does not know elsewhere
    # would only hide them.
    worlds[:, topics:] = worlds[0, topics:]
    seen = show(runs, judged, worlds)
    gained = 0.0
    for world in range(HIDDEN):
        alike = (seen == seen[world]).all(axis=1)
        alike[world] = False
        shares = (worlds[alike, :topics] > 0).mean(axis=0) if alike.any() else BASE_RATE
        guess = np.where(np.broadcast_to(shares, worlds[world, :topics].shape) > 0.5, 2, 0)
        right = (guess == worlds[world, :topics]).sum()
        gained += right - (worlds[world, :topics] == 0).sum()
    return gained / HIDDEN


def in_order(items: Sequence[str], seed: int) -> list[str]:
    return list(np.random.default_rng(seed).permutation(items))


def attacks(topics: int, items: int) -> dict[str, tuple[int, list[Lists]]]:
    """Return runs by the name of the attack, with the number of topics whose labels it wants."""
    judged = items_of(topics, items)
    names = list(judged)
    rubbish = {topic: [judged[topic][-1]] for topic in names}  # judged, and hardly ever relevant
    junk = {topic: ["unjudged"] for topic in names}

    def orders(wanted: int, others: Lists, count: int) -> list[Lists]:
        return [
            {**others, **{topic: in_order(judged[topic][:6], seed) for topic in names[:wanted]}}
            for seed in range(count)
        ]

    def fewer(wanted: int) -> list[Lists]:
        whole = {**rubbish, **{topic: judged[topic][:6] for topic in names[:wanted]}}
        less = [
            {**whole, names[0]: [item for item in judged[names[0]][:6] if item != gone]}
            for gone in judged[names[0]][:6]
        ]
        return [whole, *less]

    strangers = [
        {**{topic: [judged[topic][seed % items]] for topic in names}, names[0]: one[names[0]]}
        for seed, one in enumerate(orders(1, {}, 9))
    ]
    return {
        "one topic": (1, orders(1, {}, 3)),
        "one topic, unjudged items elsewhere": (1, orders(1, junk, 3)),
        "one topic, rubbish elsewhere": (1, orders(1, rubbish, 3)),
        "two topics": (2, orders(2, rubbish, 3)),
        "all topics in orders, of three accounts": (topics, orders(topics, {}, 9)),
        "one item less in each run": (1, fewer(1)),
        "one item less in each run of all topics": (1, fewer(topics)),
        "other items elsewhere, of three accounts": (1, strangers),
    }


TASKS = [(16, 8), (16, 60), (50, 12)]
"""Numbers of topics, and of labels in each."""


@pytest.mark.parametrize(("topics", "items"), TASKS)
@pytest.mark.parametrize("name", attacks(2, 8))
def test_an_attack_guesses_no_more_labels_than_the_base_rate(name, topics, items):
    wanted, runs = attacks(topics, items)[name]
    labels = wanted * items

    assert gain(seen_means, runs, items_of(topics, items), wanted) <= 0.02 * labels


@pytest.mark.parametrize("name", ["one topic", "one topic, rubbish elsewhere"])
def test_means_with_three_digits_told_most_labels(name):
    """Without this, the attacks above would prove nothing."""
    wanted, runs = attacks(16, 8)[name]

    assert gain(unguarded, runs, items_of(16, 8), wanted) > 0.8
