"""Pools: unions by hand, reproducible bytes, supplements, and pools of the labs' real runs."""

from collections.abc import Mapping
from dataclasses import replace

import hypothesis.strategies as st
import numpy as np
import polars as pl
import pytest
from hypothesis import given

from arqkit.formats.formulas.index import read_index
from arqkit.formats.qrels.read import read_qrels
from arqkit.pooling.pools import (
    PooledRun,
    PoolSources,
    depth_needed,
    gather,
    in_random_order,
    instance_candidates,
    make_pool,
    rank_by_rank,
    reached,
    write_pool,
)
from arqkit.protocols.presets import PROTOCOLS, PoolProtocol
from arqkit.records import ItemKind, TaskKind
from tests.arqkit.pooling.pool_oracle import (
    HandRun,
    as_run,
    as_runs,
    contributed,
    hand_runs,
    items_frame,
    posts_of,
    top,
    unhurried,
    visual_frame,
    visual_maps,
)
from tests.real_data import DATA, index_frame, needs_data, read_run

PROTOCOL = PoolProtocol(primary=4, alternate=2, manual=3)
FORMULAS = replace(PROTOCOL, visually_distinct=True, instances=3)
depths = st.integers(0, 7)


def pooled(pool: pl.DataFrame) -> set[tuple[str, str]]:
    return set(pool.select("topic", "item").rows())


def posts_pool(
    runs: list[HandRun], protocol: PoolProtocol = PROTOCOL, *, seed: int = 1, **given
) -> pl.DataFrame:
    return make_pool(PoolSources(as_runs(runs), **given), protocol, kind=ItemKind.POSTS, seed=seed)


def formulas_pool(
    runs: list[HandRun],
    mapping: Mapping[str, str],
    protocol: PoolProtocol = FORMULAS,
    *,
    seed: int = 1,
    **given,
) -> pl.DataFrame:
    sources = PoolSources(as_runs(runs), visual=visual_frame(mapping), **given)
    return make_pool(sources, protocol, kind=ItemKind.VISUAL_IDS, seed=seed)


def run(name: str, *items: str, topic: str = "A.2", kind="primary") -> HandRun:
    return HandRun(name, "T", kind, {topic: list(items)})


# --- the union


@unhurried
@given(hand_runs, depths, depths, depths)
def test_a_pool_of_posts_is_the_union_of_the_tops_by_hand(runs, primary, alternate, manual):
    protocol = PoolProtocol(primary=primary, alternate=alternate, manual=manual)
    deep = {"primary": primary, "baseline-primary": primary, "manual": manual}

    pool = posts_pool(runs, protocol)

    assert pooled(pool) == set().union(
        *(contributed(each, None, deep.get(each.kind, alternate)) for each in runs)
    )
    assert pool.select("topic", "item").is_unique().all()
    assert pool["doc_id"].equals(pool["item"])
    assert pool["post_id"].equals(pool["item"])


@unhurried
@given(hand_runs, visual_maps, depths)
def test_a_pool_of_formulas_takes_each_list_to_the_depth_in_distinct_formulas(runs, mapping, depth):
    pool = formulas_pool(
        runs, mapping, PoolProtocol(primary=depth, alternate=depth, visually_distinct=True)
    )

    assert pooled(pool) == set().union(*(contributed(each, mapping, depth) for each in runs))


@unhurried
@given(hand_runs, visual_maps, depths)
def test_the_instances_of_a_formula_are_those_within_the_depth_of_a_run(runs, mapping, depth):
    everything = PoolProtocol(primary=depth, alternate=depth, visually_distinct=True, instances=100)

    pool = formulas_pool(runs, mapping, everything)

    by_hand = {
        (topic, mapping.get(doc, doc), doc, posts_of(doc))
        for each in runs
        for topic, items in each.lists.items()
        for doc in top(items, mapping, depth)
    }
    assert set(pool.select("topic", "item", "doc_id", "post_id").rows()) == by_hand
    assert pool.height == len(by_hand)


@unhurried
@given(hand_runs, visual_maps, depths)
def test_the_depth_of_a_row_is_the_smallest_that_includes_it(runs, mapping, depth):
    for each in runs:
        needed = depth_needed(as_run(each).index, visual=visual_frame(mapping)).filter(
            pl.col("needs") <= depth
        )

        by_hand = {
            (topic, doc)
            for topic, items in each.lists.items()
            for doc in top(items, mapping, depth)
        }
        assert set(needed.select("topic", "doc_id").rows()) == by_hand


def test_the_depth_ends_with_the_first_instance_of_the_last_formula():
    rows = depth_needed(
        as_run(run("r", "1", "2", "3", "4", "5")).index, visual=visual_frame({"2": "1", "4": "3"})
    )

    assert rows.select("doc_id", "needs").rows() == [
        ("1", 1),
        ("2", 2),
        ("3", 2),
        ("4", 3),
        ("5", 3),
    ]


@unhurried
@given(hand_runs, visual_maps | st.none(), st.integers(1, 8))
def test_rank_by_rank_adds_one_rank_of_all_runs_until_the_pool_is_large_enough(runs, mapping, size):
    protocol = PoolProtocol(method="rank-by-rank", size=size, visually_distinct=mapping is not None)
    pool = posts_pool(runs, protocol) if mapping is None else formulas_pool(runs, mapping, protocol)

    for topic in {topic for each in runs for topic in each.lists}:
        by_hand: set[tuple[str, str]] = set()
        for depth in range(1, 30):
            of_topic = [
                each._replace(lists={topic: each.lists[topic]})
                for each in runs
                if topic in each.lists
            ]
            by_hand = set().union(*(contributed(each, mapping, depth) for each in of_topic))
            if len(by_hand) >= size:
                break
        assert pooled(pool.filter(topic=topic)) == by_hand


def test_a_pool_size_of_zero_is_refused():
    with pytest.raises(ValueError, match="Pool size 0 is too small"):
        rank_by_rank(gather(as_runs([run("r", "1")])), size=0)


def test_a_known_item_has_no_pool():
    assert posts_pool([run("r", "1", "2")], PoolProtocol(method="none")).is_empty()


def test_a_run_with_depth_zero_contributes_nothing():
    rows = gather(as_runs([run("r", "1", "2"), run("s", "3")]))

    assert reached(rows, {"r": 1}).select("topic", "item").rows() == [("A.2", "1")]
    assert reached(rows, {}).is_empty()


def test_a_baseline_may_be_pooled_as_an_alternate_run():
    runs = [
        run("r", "1", "2", "3", kind="baseline-alternate"),
        run("s", "4", "5", "6", kind="baseline-primary"),
    ]

    assert {item for _, item in pooled(posts_pool(runs))} == {"1", "2", "4", "5", "6"}


def test_two_runs_with_the_same_name_are_refused():
    with pytest.raises(ValueError, match="Two pooled runs share a name"):
        gather(as_runs([run("r", "1"), run("r", "2")]))


@unhurried
@given(hand_runs, visual_maps | st.none(), st.integers(0, 20))
def test_a_depth_limit_removes_deeper_rows_only(runs, mapping, deepest):
    visual = None if mapping is None else visual_frame(mapping)
    key = ["run", "topic", "doc_id"]

    shallow = gather(as_runs(runs), visual=visual, deepest=deepest).sort(key)

    assert shallow.equals(
        gather(as_runs(runs), visual=visual).filter(pl.col("needs") <= deepest).sort(key)
    )


def test_an_index_without_posts_can_be_pooled():
    bare = PooledRun("r", "T", "primary", as_run(run("r", "1")).index.drop("post"))

    pool = make_pool(PoolSources([bare]), FORMULAS, kind=ItemKind.VISUAL_IDS, seed=1)

    assert pool.rows() == [("A.2", 1, "visual-ids", "1", "1", "", 1, 1)]


def test_an_instance_has_the_post_that_most_runs_name():
    named = [
        (f"r{number}", post) for number, post in enumerate(["p1", "p2", "p2", None, None, None])
    ]
    indexes = {
        name: as_run(run(name, "1")).index.with_columns(post=pl.lit(post, pl.String))
        for name, post in named
    }
    runs = [PooledRun(name, "T", "primary", index) for name, index in indexes.items()]

    assert make_pool(PoolSources(runs), FORMULAS, kind=ItemKind.VISUAL_IDS, seed=1)[
        "post_id"
    ].to_list() == ["p2"]


def test_indexes_and_maps_may_be_lazy():
    early = PoolSources(
        as_runs([run("r", "1", "2", "3")]), visual=visual_frame({"1": "v", "2": "v"})
    )
    late = PoolSources(
        [replace(each, index=each.index.lazy()) for each in early.runs], visual=early.visual.lazy()
    )

    pools = [
        make_pool(sources, FORMULAS, kind=ItemKind.VISUAL_IDS, seed=1) for sources in (early, late)
    ]

    assert pools[0].equals(pools[1])


# --- what else comes in


@unhurried
@given(
    hand_runs,
    visual_maps,
    depths,
    st.sets(st.tuples(st.sampled_from(["A.2", "A.9"]), st.sampled_from(["p1", "p4"]))),
)
def test_formulas_in_relevant_posts_are_pooled_down_to_the_extra_depth(
    runs, mapping, extra, relevant
):
    protocol = PoolProtocol(
        primary=2, alternate=2, visually_distinct=True, extra_depth=extra, instances=100
    )

    pool = formulas_pool(runs, mapping, protocol, relevant=items_frame(relevant, "topic", "post"))

    by_hand = {
        (topic, doc)
        for each in runs
        for topic, items in each.lists.items()
        for rank, doc in enumerate(items, start=1)
        if doc in top(items, mapping, 2) or (rank <= extra and (topic, posts_of(doc)) in relevant)
    }
    assert set(pool.select("topic", "doc_id").rows()) == by_hand


@pytest.mark.parametrize(("extra", "items"), [(2, {"1"}), (3, {"1", "3"}), (4, {"1", "3", "4"})])
def test_the_extra_depth_includes_its_last_rank(extra, items):
    pool = formulas_pool(
        [run("r", "1", "2", "3", "4")],
        {},
        replace(FORMULAS, primary=1, extra_depth=extra),
        relevant=items_frame([("A.2", posts_of("3"))], "topic", "post"),
    )

    assert {item for _, item in pooled(pool)} == items


@pytest.mark.parametrize("ids", [("70", "80"), ("80", "70")])
def test_an_instance_with_several_visual_ids_has_the_smallest(ids):
    visual = pl.DataFrame({"formula_id": ["1", "1"], "visual_id": list(ids)})
    index = as_run(run("r", "1", "2")).index

    assert depth_needed(index, visual=visual)["item"].to_list() == ["70", "2"]


@pytest.mark.parametrize("threads", [("500", "600"), ("600", "500")])
def test_a_post_in_several_threads_counts_in_the_smallest(threads):
    known = pl.DataFrame({"post": ["p0", "p0"], "thread": list(threads)})
    rows = gather(as_runs([run("r", "1")]))
    candidates = instance_candidates(rows, rows, known)

    assert candidates.select("doc_id", "thread").rows() == [("1", "500")]


def test_without_an_extra_depth_relevant_posts_add_nothing():
    pool = formulas_pool(
        [run("r", "1", "2", "6")],
        {},
        replace(FORMULAS, primary=1),
        relevant=items_frame([("A.2", "p2")], "topic", "post"),
    )

    assert pooled(pool) == {("A.2", "1")}


def test_answers_of_the_topics_threads_and_generated_answers_are_mixed_in():
    answers, written = items_frame([("A.2", "1"), ("A.9", "7")]), items_frame([("A.2", "GPT:A.2")])

    pool = posts_pool([run("r", "1", "2")], answers=answers, written=written)

    assert pool.select("topic", "kind", "item", "doc_id", "post_id", "instance").sort(
        "topic", "item"
    ).rows() == [
        ("A.2", "posts", "1", "1", "1", 1),
        ("A.2", "posts", "2", "2", "2", 1),
        ("A.2", "answers", "GPT:A.2", "GPT:A.2", "", 1),
        ("A.9", "posts", "7", "7", "7", 1),
    ]


@unhurried
@given(hand_runs, hand_runs, visual_maps)
def test_a_pool_and_its_supplement_partition_the_larger_pool(runs, late, mapping):
    every = [*runs, *(each._replace(name=f"late {each.name}") for each in late)]
    first = formulas_pool(runs, mapping)

    supplement = formulas_pool(every, mapping, earlier=first.select("topic", "item", "doc_id"))

    assert pooled(first).isdisjoint(pooled(supplement))
    assert pooled(first) | pooled(supplement) == pooled(formulas_pool(every, mapping))


def test_a_new_visual_map_does_not_repeat_instances():
    first = formulas_pool([run("r", "1", "2")], {"1": "v", "2": "v"})

    supplement = formulas_pool(
        [run("r", "1", "2", "3")],
        {"2": "w", "3": "w"},
        earlier=first.select("topic", "item", "doc_id"),
    )

    assert supplement.select("item", "doc_id").rows() == [("w", "3")]


def test_judged_extras_are_not_repeated():
    given_items = {
        "answers": items_frame([("A.2", "1")]),
        "written": items_frame([("A.2", "GPT:A.2")]),
    }
    first = posts_pool([run("r", "2")], **given_items)

    assert posts_pool([run("r", "2")], **given_items, earlier=first).is_empty()


# --- order and bytes


@unhurried
@given(hand_runs, visual_maps, st.integers(), st.randoms(use_true_random=False))
def test_the_order_of_runs_and_rows_does_not_matter(runs, mapping, seed, chance):
    for policy in ("runs", "reciprocal-rank", "threads"):
        protocol = replace(FORMULAS, instance_policy=policy)
        pool = formulas_pool(runs, mapping, protocol, seed=seed)
        shuffled = chance.sample(as_runs(runs), len(runs))
        again = PoolSources(
            [
                replace(each, index=each.index.sample(fraction=1, shuffle=True, seed=1))
                for each in shuffled
            ],
            visual=visual_frame(dict(chance.sample(list(mapping.items()), len(mapping)))),
        )
        other = make_pool(again, protocol, kind=ItemKind.VISUAL_IDS, seed=seed)

        assert write_pool(other) == write_pool(pool)
        assert write_pool(pool.sample(fraction=1, shuffle=True, seed=2)) == write_pool(pool)


def test_the_bytes_of_a_pool_never_change():
    """Check the draws against coreutils.

    The smallest draw of topic A.2 is `printf '7\torder\tA.2\t3' | b2sum -l 64`.
    """
    written = items_frame([("A.10", "GPT:A.10")])

    pool = posts_pool(
        [run("r", "1", "2", "3"), run("s", "4", topic="A.10")], seed=7, written=written
    )

    assert write_pool(pool).decode().splitlines() == [
        "topic\tposition\tkind\titem\tdoc_id\tpost_id",
        "A.2\t1\tposts\t3\t3\t3",
        "A.2\t2\tposts\t1\t1\t1",
        "A.2\t3\tposts\t2\t2\t2",
        "A.10\t1\tposts\t4\t4\t4",
        "A.10\t2\tanswers\tGPT:A.10\tGPT:A.10\t",
    ]


def test_another_seed_gives_the_same_items_in_another_order():
    runs = [run("r", *map(str, range(50)))]
    protocol = PoolProtocol(primary=50)

    one, other = (posts_pool(runs, protocol, seed=seed) for seed in (1, 2))

    assert pooled(one) == pooled(other)
    assert one["item"].to_list() != other["item"].to_list()


@unhurried
@given(hand_runs, st.integers())
def test_positions_count_from_one_in_each_topic(runs, seed):
    pool = posts_pool(runs, seed=seed)

    for topic in pool["topic"].unique():
        of_topic = pool.filter(topic=topic)
        assert of_topic["position"].to_list() == list(range(1, of_topic.height + 1))


def test_the_order_of_a_topic_depends_on_nothing_else_in_the_pool():
    alone = in_random_order(items_frame([("A.1", str(number)) for number in range(9)]), seed=3)
    among = in_random_order(
        items_frame([(topic, str(number)) for topic in ("A.1", "A.2") for number in range(9)]),
        seed=3,
    )

    assert among.filter(topic="A.1").equals(alone)
    assert among.filter(topic="A.2")["item"].to_list() != alone["item"].to_list()


def test_every_order_is_as_likely_as_any_other():
    items = items_frame([("A.1", item) for item in "abc"])

    orders = ["".join(in_random_order(items, seed=seed)["item"]) for seed in range(1200)]

    counts = [orders.count(order) for order in ("abc", "acb", "bac", "bca", "cab", "cba")]
    assert sum(counts) == 1200
    assert min(counts) > 150  # 200 expected, each with a standard deviation of 13


# --- the labs' real runs

REAL_RUNS = {
    "MathDowsers/alpha05noReRank": (
        "judged-only/MathDowsers-task1-alpha05noReRank-auto-both-A.tsv.gz",
        "alternate",
    ),
    "PSU/PSU1": ("PSU-task1-PSU1-auto-both-A.tsv.gz", "alternate"),
    "PSU/PSU2": ("judged-only/PSU-task1-PSU2-auto-both-P.tsv.gz", "primary"),
    "PSU/PSU3": ("judged-only/PSU-task1-PSU3-auto-both-A.tsv.gz", "alternate"),
}
TASK1_RUNS = DATA / "arqmath-1/runs/task1"


def real_top(path, depth: int) -> set[tuple[str, str]]:
    """Read the top of each topic without our readers: by 32-bit score, then by id, descending."""
    lists: dict[str, list[tuple[np.float32, bytes, str]]] = {}
    for topic, item, _, score in read_run(path):
        lists.setdefault(topic, []).append((np.float32(score), item.encode(), item))
    return {
        (topic, item)
        for topic, rows in lists.items()
        for *_, item in sorted(rows, reverse=True)[:depth]
    }


@needs_data
def test_the_pool_of_real_runs_is_the_union_computed_independently():
    runs = [
        PooledRun(name, name.split("/")[0], kind, index_frame(read_run(TASK1_RUNS / file)))
        for name, (file, kind) in REAL_RUNS.items()
    ]
    protocol = PROTOCOLS["arqmath-1"].tasks[TaskKind.ANSWERS].pool

    pool = make_pool(PoolSources(runs), protocol, kind=ItemKind.POSTS, seed=2020)

    depth = {"primary": 50, "alternate": 20}
    by_hand = set().union(
        *(real_top(TASK1_RUNS / file, depth[kind]) for file, kind in REAL_RUNS.values())
    )
    assert len(by_hand) > 5000
    assert pooled(pool) == by_hand


@needs_data
def test_the_lab_judged_the_contributions_of_an_official_run():
    """Check PSU1, an alternate run, pooled to depth 20 (000 §4.4).

    Items with the labels 5 and 6 are not in the official qrels.
    """
    judged = read_qrels((DATA / "arqmath-1/qrels.task1.tsv").read_bytes(), path="qrels.task1.tsv")
    index = index_frame(read_run(TASK1_RUNS / REAL_RUNS["PSU/PSU1"][0]))
    psu = PooledRun("PSU1", "PSU", "alternate", index.join(judged, on="topic", how="semi"))

    def unjudged(protocol: PoolProtocol) -> list[int]:
        pool = make_pool(PoolSources([psu]), protocol, kind=ItemKind.POSTS, seed=1)
        left = pool.join(judged, on=["topic", "item"], how="anti")
        return [pool.height, left.height]

    preset = PROTOCOLS["arqmath-1"].tasks[TaskKind.ANSWERS].pool
    assert unjudged(preset) == [77 * 20, 7]
    assert unjudged(replace(preset, alternate=30))[1] > 300


@needs_data
def test_the_pool_of_a_real_formula_run_matches_its_lists_by_hand():
    path = DATA / "arqmath-1/runs/task2/MIRMU-task2-OutOfCompetitionEnsemble-auto-math-A.tsv.gz"
    index = index_frame(read_run(path))
    mapping = pl.concat(
        [part.frame for part in read_index(DATA / "collection/formulas.latex.tsv.gz")]
    ).select("formula_id", "visual_id")
    # The sample knows few of the run's formulas. The others share a formula by their last digit.
    made = index.select(
        formula_id="item", visual_id=pl.lit("made ") + pl.col("item").str.slice(-1)
    ).unique()
    made = made.join(mapping, on="formula_id", how="anti").filter(pl.col("visual_id") == "made 7")
    visual = pl.concat([mapping, made])
    protocol = PROTOCOLS["arqmath-1"].tasks[TaskKind.FORMULAS].pool

    pool = make_pool(
        PoolSources([PooledRun("MIRMU", "MIRMU", "alternate", index)], visual=visual),
        protocol,
        kind=ItemKind.VISUAL_IDS,
        seed=1,
    )

    known = dict(visual.drop_nulls().rows())
    lists = {
        topic: rows["item"].to_list() for (topic,), rows in index.sort("order").group_by("topic")
    }
    assert pooled(pool) == contributed(HandRun("MIRMU", "MIRMU", "alternate", lists), known, 10)
