"""Plans count what the pool contains, checked by hand and by pools without a run or team."""

from dataclasses import replace

import hypothesis.strategies as st
import polars as pl
import pytest
from hypothesis import given

from arqkit.pooling.plans import Planner
from arqkit.pooling.pools import PoolSources, make_pool
from arqkit.protocols.presets import PoolProtocol
from arqkit.records import ItemKind
from tests.arqkit.pooling.pool_oracle import (
    HandRun,
    as_runs,
    hand_runs,
    items_frame,
    posts_of,
    unhurried,
    visual_frame,
    visual_maps,
)

DEEPEST = 12
protocols = st.builds(
    PoolProtocol,
    method=st.sampled_from(["depth", "depth", "rank-by-rank", "none"]),
    primary=st.integers(0, 8),
    alternate=st.integers(0, 5),
    manual=st.integers(0, 5) | st.none(),
    size=st.integers(1, DEEPEST),
    instances=st.integers(1, 3),
    instance_policy=st.sampled_from(["runs", "reciprocal-rank", "threads"]),
    extra_depth=st.integers(0, 20) | st.none(),
)
pairs = st.sets(st.tuples(st.sampled_from(["A.2", "A.7"]), st.sampled_from(["1", "2", "40"])))
extras = st.fixed_dictionaries(
    {},
    optional={
        "answers": pairs.map(items_frame),
        "written": pairs.map(
            lambda items: items_frame({(topic, f"R:{item}") for topic, item in items})
        ),
        "earlier": pairs.map(
            lambda items: items_frame({(t, i, i) for t, i in items}, "topic", "item", "doc_id")
        ),
        "relevant": pairs.map(
            lambda items: items_frame({(t, posts_of(i)) for t, i in items}, "topic", "post")
        ),
    },
)


def kinds_of(runs):
    return {run.name: run.kind for run in runs}


def planner(runs: list[HandRun], *, deepest: int = DEEPEST, **given) -> Planner:
    return Planner(PoolSources(as_runs(runs), **given), visually_distinct=False, deepest=deepest)


def size(pool: pl.DataFrame) -> int:
    return pool.select("topic", "item").n_unique()


@unhurried
@given(hand_runs, visual_maps | st.none(), protocols, extras)
def test_a_plan_counts_what_the_pool_will_hold(runs, mapping, protocol, given_extras):
    protocol = replace(protocol, visually_distinct=mapping is not None)
    visual = None if mapping is None else visual_frame(mapping)
    sources = PoolSources(as_runs(runs), visual=visual, **given_extras)
    plan = Planner(sources, visually_distinct=mapping is not None, deepest=DEEPEST).plan(
        protocol, kinds_of(runs)
    )

    def make(left: list[HandRun]) -> pl.DataFrame:
        kind = ItemKind.POSTS if mapping is None else ItemKind.VISUAL_IDS
        return make_pool(replace(sources, runs=as_runs(left)), protocol, kind=kind, seed=1)

    pool = make(runs)
    assert (plan.items, plan.labels) == (size(pool), pool.height)
    by_topic = {topic: (size(rows), rows.height) for (topic,), rows in pool.group_by("topic")}
    assert {
        topic: (items, labels) for topic, items, labels in plan.topics.iter_rows() if items
    } == by_topic
    if protocol.method == "depth":
        for name, _, _, unique, _ in plan.runs.iter_rows():
            assert unique == size(pool) - size(make([run for run in runs if run.name != name]))
        for team, _, unique in plan.teams.iter_rows():
            assert unique == size(pool) - size(make([run for run in runs if run.team != team]))


def test_items_of_earlier_pools_do_not_deepen_a_supplement():
    run = HandRun("Alpha one", "Alpha", "primary", {"A.2": ["1", "2"]})
    held = items_frame({("A.2", "1", "1")}, "topic", "item", "doc_id")

    plan = planner([run], earlier=held).plan(
        PoolProtocol(method="rank-by-rank", size=1), kinds_of([run])
    )

    assert plan.items == 0


@unhurried
@given(hand_runs, st.integers(0, 8))
def test_contributions_and_overlap_match_counts_by_hand(runs, depth):
    plan = planner(runs).plan(PoolProtocol(primary=depth, alternate=depth), kinds_of(runs))

    tops = {
        run.name: {(t, item) for t, items in run.lists.items() for item in items[:depth]}
        for run in runs
    }
    teams = {
        run.team: set().union(*(tops[other.name] for other in runs if other.team == run.team))
        for run in runs
    }
    assert plan.runs.select("run", "team", "items").rows() == [
        (run.name, run.team, len(tops[run.name])) for run in runs
    ]
    assert plan.teams.select("team", "items").rows() == [
        (team, len(teams[team])) for team in sorted(teams)
    ]
    assert plan.overlap.rows() == [
        (one, two, len(tops[one] & tops[two])) for one in tops for two in tops
    ]


@unhurried
@given(hand_runs, visual_maps, st.integers(0, 8))
def test_no_item_is_unjudged_down_to_the_clear_rank_of_a_run(runs, mapping, depth):
    sources = PoolSources(as_runs(runs), visual=visual_frame(mapping))
    protocol = PoolProtocol(primary=depth, alternate=depth // 2, visually_distinct=True)
    plan = Planner(sources, visually_distinct=True, deepest=DEEPEST).plan(protocol, kinds_of(runs))
    pool = set(
        make_pool(sources, protocol, kind=ItemKind.VISUAL_IDS, seed=1)
        .select("topic", "item")
        .iter_rows()
    )

    for run, judged_to in zip(runs, plan.runs["judged_to"], strict=True):
        by_hand = DEEPEST
        for topic, items in run.lists.items():
            formulas = list(dict.fromkeys(mapping.get(item, item) for item in items))
            judged = [(topic, formula) in pool for formula in formulas]
            by_hand = min(by_hand, judged.index(False) if False in judged else DEEPEST)
        assert judged_to == by_hand


def test_contributions_of_other_runs_clear_a_run_beyond_its_depth():
    runs = [
        HandRun("deep", "T", "primary", {"A.1": ["1", "2", "3", "4"]}),
        HandRun("other", "U", "alternate", {"A.1": ["3", "2", "9", "1"]}),
    ]

    plan = planner(runs).plan(PoolProtocol(primary=3, alternate=1), kinds_of(runs))

    assert plan.runs["judged_to"].to_list() == [3, 2]


@pytest.mark.parametrize(("policy", "labels"), [("threads", 2), ("runs", 4)])
def test_labels_count_answers_or_instances_by_the_policy(policy, labels):
    runs = [HandRun("r", "T", "primary", {"B.1": ["3", "4", "5", "6"]})]
    sources = PoolSources(as_runs(runs), visual=visual_frame(dict.fromkeys("3456", "v")))
    protocol = PoolProtocol(primary=2, visually_distinct=True, instance_policy=policy)

    plan = Planner(sources, visually_distinct=True, deepest=2).plan(protocol, kinds_of(runs))

    assert (plan.items, plan.labels) == (1, labels)


def test_items_judged_earlier_are_clear_and_free():
    runs = [HandRun("r", "T", "primary", {"A.1": ["1", "2", "3"]})]
    earlier = items_frame([("A.1", "2", "2")], "topic", "item", "doc_id")

    plan = planner(runs, earlier=earlier).plan(PoolProtocol(primary=1), kinds_of(runs))

    assert (plan.items, plan.runs["judged_to"].to_list()) == (1, [2])


def test_a_run_may_be_planned_as_another_kind():
    runs = [HandRun("r", "T", "baseline-primary", {"A.1": ["1", "2", "3"]})]
    protocol = PoolProtocol(primary=3, alternate=1)

    assert planner(runs).plan(protocol, kinds_of(runs)).items == 3
    assert planner(runs).plan(protocol, {"r": "baseline-alternate"}).items == 1


def test_hours_and_cost_follow_from_the_labels():
    runs = [HandRun("r", "T", "primary", {f"A.{number}": ["1", "2", "3"] for number in range(40)})]
    plan = planner(runs).plan(PoolProtocol(primary=3), kinds_of(runs))

    cost = plan.cost(seconds=60, wage=15.5)

    assert (cost.hours, cost.money) == (2.0, 31.0)


@pytest.mark.parametrize(
    "protocol",
    [
        PoolProtocol(primary=9),
        PoolProtocol(alternate=9),
        PoolProtocol(method="rank-by-rank", size=9),
    ],
)
def test_a_depth_beyond_the_planners_is_refused(protocol):
    runs = [
        HandRun("r", "T", "primary", {"A.1": ["1"]}),
        HandRun("s", "T", "alternate", {"A.1": ["1"]}),
    ]

    with pytest.raises(ValueError, match="Depth 9 exceeds the planner's depth"):
        planner(runs, deepest=8).plan(protocol, kinds_of(runs))


@pytest.mark.parametrize(("extra_depth", "items"), [(2, 2), (3, 3), (4, 4), (5, 4)])
def test_relevant_posts_are_planned_deeper_than_any_depth_of_runs(extra_depth, items):
    run = HandRun("r", "T", "primary", {"A.2": ["1", "2", "3", "4", "6"]})
    relevant = items_frame([("A.2", posts_of("3"))], "topic", "post")
    protocol = PoolProtocol(primary=2, extra_depth=extra_depth)

    plan = planner([run], deepest=2, relevant=relevant).plan(protocol, kinds_of([run]))

    assert plan.items == items


@pytest.mark.parametrize(("given", "bytes_each"), [({}, 8), ({"visually_distinct": True}, 24)])
def test_the_size_of_a_planner_grows_with_its_rows(given, bytes_each):
    small, large = (
        Planner(
            PoolSources(
                as_runs([HandRun("r", "team", "primary", {"A.1": list(map(str, range(size)))})])
            ),
            **({"visually_distinct": False, "deepest": DEEPEST} | given),
        )
        for size in (2, DEEPEST)
    )

    assert large.nbytes - small.nbytes >= bytes_each * (DEEPEST - 2)


def test_no_runs_give_an_empty_plan():
    plan = planner([]).plan(PoolProtocol(primary=9), {})

    assert (plan.items, plan.labels, plan.runs.height, plan.teams.height, plan.overlap.height) == (
        0,
        0,
        0,
        0,
        0,
    )
