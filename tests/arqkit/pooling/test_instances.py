"""Instances to judge: each policy by its definition, and unbiased random draws."""

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from hashlib import blake2b

import hypothesis.strategies as st
import polars as pl
import pytest
from hypothesis import given

from arqkit.pooling.pools import (
    PoolSources,
    choose_instances,
    gather,
    instance_candidates,
    make_pool,
)
from arqkit.protocols.presets import PoolProtocol
from arqkit.records import ItemKind
from tests.arqkit.pooling.pool_oracle import (
    HandRun,
    as_runs,
    hand_runs,
    items_frame,
    posts_of,
    top,
    unhurried,
    visual_frame,
    visual_maps,
)

SCHEMA = {
    "topic": pl.String,
    "item": pl.String,
    "doc_id": pl.String,
    "post": pl.String,
    "runs": pl.UInt32,
    "ranks": pl.List(pl.Int32),
    "thread": pl.String,
}
LIMIT = 3
counts = st.lists(st.integers(1, 4), min_size=1, max_size=8)
rank_lists = st.lists(st.lists(st.integers(1, 12), min_size=1, max_size=4), min_size=1, max_size=8)
# doc_id is the place in the list; several instances of a post, several posts of a thread, some of
# none
places = st.lists(
    st.tuples(st.sampled_from(["p1", "p2", "p3", "p4", "p5", "p6", None]), st.just("")),
    min_size=1,
    max_size=12,
).map(lambda docs: [(post, THREADS.get(post)) for post, _ in docs])
THREADS = {"p1": "t1", "p2": "t1", "p3": "t1", "p4": "t2", "p5": "t3"}


def candidates(
    size: int,
    *,
    runs: Sequence[int] | None = None,
    ranks: Sequence[list[int]] | None = None,
    places: Sequence[tuple[str | None, str | None]] | None = None,
) -> pl.DataFrame:
    rows = [
        (
            "B.1",
            "v1",
            f"d{number}",
            places[number][0] if places else f"p{number}",
            runs[number] if runs else 1,
            ranks[number] if ranks else [1],
            places[number][1] if places else None,
        )
        for number in range(size)
    ]
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def chosen(found: pl.DataFrame) -> list[str]:
    return found.sort("position")["doc_id"].to_list()


def numbers(found: pl.DataFrame) -> list[int]:
    return [int(doc_id[1:]) for doc_id in chosen(found)]


@unhurried
@given(counts, st.integers())
def test_by_runs_instances_of_the_most_runs_are_chosen_first(runs, seed):
    found = choose_instances(
        candidates(len(runs), runs=runs), policy="runs", limit=LIMIT, seed=seed
    )

    assert [runs[number] for number in numbers(found)] == sorted(runs, reverse=True)[:LIMIT]


@unhurried
@given(rank_lists, st.integers())
def test_by_reciprocal_rank_instances_with_the_highest_sums_are_chosen_first(ranks, seed):
    found = choose_instances(
        candidates(len(ranks), ranks=ranks), policy="reciprocal-rank", limit=LIMIT, seed=seed
    )

    votes = [sum(Fraction(1, rank) for rank in each) for each in ranks]
    assert [votes[number] for number in numbers(found)] == sorted(votes, reverse=True)[:LIMIT]


def test_equal_sums_of_reciprocal_ranks_tie_exactly():
    ranks = [[10] * 10, [1], [2, 6, 3]]
    assert sum([1 / 10] * 10) != 1

    first = {
        chosen(
            choose_instances(
                candidates(3, ranks=ranks), policy="reciprocal-rank", limit=1, seed=seed
            )
        )[0]
        for seed in range(60)
    }

    assert first == {"d0", "d1", "d2"}


@pytest.mark.parametrize("policy", ["runs", "reciprocal-rank", "threads"])
def test_ties_are_broken_at_random_without_bias(policy):
    found = Counter(
        doc_id
        for seed in range(900)
        for doc_id in chosen(choose_instances(candidates(6), policy=policy, limit=2, seed=seed))
    )

    assert sum(found.values()) == 1800
    assert min(found.values()) > 240  # 300 expected, with a standard deviation of 14
    assert len(found) == 6


@pytest.mark.parametrize(
    ("policy", "drawn"),
    [
        ("runs", "instance\tB.1\tv1\td"),
        ("reciprocal-rank", "instance\tB.1\tv1\td"),
        ("threads", "thread\tB.1\tv1\tpost p"),
    ],
)
def test_of_equal_instances_the_smallest_draw_comes_first(policy, drawn):
    """A frozen pool is made again from its seed: draws never change, nor does their direction."""
    found = choose_instances(candidates(8), policy=policy, limit=8, seed=7)

    draws = {
        number: blake2b(f"7\t{drawn}{number}".encode(), digest_size=8).digest()
        for number in range(8)
    }
    assert numbers(found) == sorted(draws, key=draws.__getitem__)


@unhurried
@given(places, st.integers())
def test_threads_are_chosen_as_in_the_protocol(places, seed):
    """Check the three cases of 001, for answers with the formula and threads with the answers."""
    found = choose_instances(
        candidates(len(places), places=places), policy="threads", limit=LIMIT, seed=seed
    )

    # An instance whose post is not known is a post, and a post whose thread is not known a thread.
    answer_of = [post or f"of d{number}" for number, (post, _) in enumerate(places)]
    thread_of = {
        answer: thread or answer for answer, (_, thread) in zip(answer_of, places, strict=True)
    }
    answers = [answer_of[number] for number in numbers(found)]
    threads = [thread_of[answer] for answer in answers]
    assert len(set(answers)) == len(answers), "each answer is judged once"
    if len(thread_of) <= LIMIT:
        assert set(answers) == set(thread_of), "1: all answers are judged"
    elif len(set(thread_of.values())) < LIMIT:
        assert len(answers) == LIMIT
        assert set(threads) == set(thread_of.values()), (
            "2: one answer of each thread, the rest from the others"
        )
    else:
        assert len(answers) == len(set(threads)) == LIMIT, "3: one answer of each of N threads"


def test_a_thread_with_many_answers_has_no_better_chance():
    places = [
        *[(f"p{number}", "large") for number in range(12)],
        *[(f"q{number}", f"t{number}") for number in range(3)],
    ]

    threads = Counter(
        dict(enumerate(places))[number][1]
        for seed in range(800)
        for number in numbers(
            choose_instances(candidates(15, places=places), policy="threads", limit=2, seed=seed)
        )
    )

    assert sorted(threads) == ["large", "t0", "t1", "t2"]
    assert max(threads.values()) < 460  # 400 expected, with a standard deviation of 14


def test_the_rest_is_drawn_uniformly_from_the_remaining_answers():
    places = [("p0", "small"), ("p1", "small"), *[(f"q{number}", "large") for number in range(5)]]

    small = sum(
        places[number][1] == "small"
        for seed in range(1500)
        for number in numbers(
            choose_instances(candidates(7, places=places), policy="threads", limit=3, seed=seed)
        )[2:]
    )

    assert (
        240 < small < 360
    )  # one of five that are left: 300 expected, with a standard deviation of 15


def test_positions_count_from_one_for_each_formula():
    both = pl.concat([candidates(2), candidates(2).with_columns(item=pl.lit("v2"))])

    found = choose_instances(both, policy="runs", limit=5, seed=1)

    assert found.select("item", "position").sort("item", "position").rows() == [
        ("v1", 1),
        ("v1", 2),
        ("v2", 1),
        ("v2", 2),
    ]


# --- what the instances of a pool are chosen by


@unhurried
@given(hand_runs, visual_maps, st.integers(0, 6))
def test_runs_are_the_contributing_runs_and_ranks_those_in_all_runs(runs, mapping, depth):
    rows = gather(as_runs(runs), visual=visual_frame(mapping))

    found = instance_candidates(rows.filter(pl.col("needs") <= depth), rows, None)

    by_hand = set()
    for topic in {topic for run in runs for topic in run.lists}:
        lists = [run.lists[topic] for run in runs if topic in run.lists]
        tops = [top(items, mapping, depth) for items in lists]
        for doc in {doc for items in tops for doc in items}:
            ranks = sorted(items.index(doc) + 1 for items in lists if doc in items)
            by_hand.add(
                (
                    topic,
                    mapping.get(doc, doc),
                    doc,
                    posts_of(doc),
                    sum(doc in t for t in tops),
                    tuple(ranks),
                )
            )
    assert {
        (*row[:5], tuple(sorted(row[5]))) for row in found.drop("thread").iter_rows()
    } == by_hand
    assert found["thread"].is_null().all()


def test_known_threads_of_posts_are_used():
    runs = as_runs([HandRun("r", "T", "primary", {"B.1": ["1", "3", "6", "9", "12"]})])
    visual = visual_frame(dict.fromkeys(("1", "3", "6", "9", "12"), "v"))
    threads = items_frame(
        [("p0", "t1"), ("p1", "t1"), ("p2", "t1"), ("p3", "t1"), ("p4", "t2")], "post", "thread"
    )
    protocol = PoolProtocol(
        primary=2, visually_distinct=True, instances=2, instance_policy="threads"
    )

    pools = [
        make_pool(
            PoolSources(runs, visual=visual, threads=threads),
            protocol,
            kind=ItemKind.VISUAL_IDS,
            seed=seed,
        )
        for seed in range(20)
    ]

    assert all(pool["post_id"].to_list().count("p4") == 1 for pool in pools)
    assert {number for pool in pools for number in pool["candidates"]} == {5}  # two are judged
    assert len({frozenset(pool["doc_id"]) for pool in pools}) == 4
