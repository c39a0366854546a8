"""The presets match the papers (protocol §4 to §8)."""

from dataclasses import replace

import polars as pl
import pytest

from arqkit.measures.names import parse_measures
from arqkit.pooling.plans import Plan
from arqkit.protocols.presets import PRIMES, PROTOCOLS, PoolProtocol
from arqkit.protocols.scales import ARQMATH, NTCIR, NTCIR_GRADES, TREC_BINARY
from arqkit.records import ItemKind, TaskKind
from tests.paths import SHARED_DATA

EVERY_TASK = [(slug, kind) for slug, protocol in PROTOCOLS.items() for kind in protocol.tasks]


def depths(slug: str, kind: TaskKind, **marks: bool) -> list[int]:
    """Return the depths of a primary and an alternate run with these other marks."""
    pool, marks = (
        PROTOCOLS[slug].tasks[kind].pool,
        {"is_manual": False, "is_baseline": False} | marks,
    )
    return [
        pool.depth_of(pool.kind_of(is_primary=is_primary, **marks)) for is_primary in (True, False)
    ]


def test_there_is_a_preset_for_every_lab_of_the_papers():
    assert list(PROTOCOLS) == [
        "arqmath-1",
        "arqmath-2",
        "arqmath-3",
        "ntcir-10",
        "ntcir-11",
        "ntcir-12",
        "ntcir-12-simto",
    ]
    assert all(protocol.slug == slug for slug, protocol in PROTOCOLS.items())


@pytest.mark.parametrize(("slug", "kind"), EVERY_TASK)
def test_every_presets_measures_can_be_computed(slug, kind):
    task = PROTOCOLS[slug].tasks[kind]

    measures = parse_measures(task.measures, relevant_from=task.relevant_from)
    assert measures[0] == parse_measures(task.measures[:1], relevant_from=task.relevant_from)[0]


@pytest.mark.parametrize(
    ("slug", "kind", "expected"),
    [
        ("arqmath-1", TaskKind.ANSWERS, [50, 20]),
        ("arqmath-1", TaskKind.FORMULAS, [25, 10]),
        ("arqmath-2", TaskKind.ANSWERS, [45, 15]),
        ("arqmath-2", TaskKind.FORMULAS, [20, 10]),
        ("arqmath-3", TaskKind.ANSWERS, [45, 20]),
        ("arqmath-3", TaskKind.FORMULAS, [25, 15]),
        ("ntcir-12", TaskKind.FORMULAS, [20, 20]),
    ],
)
def test_pools_are_as_deep_as_in_the_papers(slug, kind, expected):
    assert depths(slug, kind) == expected


@pytest.mark.parametrize(
    ("slug", "kind", "baselines", "manual"),
    [
        ("arqmath-1", TaskKind.ANSWERS, [50, 50], [50, 50]),
        ("arqmath-1", TaskKind.FORMULAS, [25, 25], [25, 10]),
        ("arqmath-2", TaskKind.ANSWERS, [45, 45], [45, 45]),
        ("arqmath-2", TaskKind.FORMULAS, [20, 20], [20, 10]),
        ("arqmath-3", TaskKind.ANSWERS, [45, 20], [45, 20]),
        ("arqmath-3", TaskKind.FORMULAS, [25, 25], [25, 15]),
        ("arqmath-3", TaskKind.GENERATED_ANSWERS, [1, 1], [1, 1]),
    ],
)
def test_baselines_and_manual_runs_are_as_deep_as_in_the_papers(slug, kind, baselines, manual):
    assert depths(slug, kind, is_baseline=True) == baselines
    assert depths(slug, kind, is_manual=True) == manual


def test_a_baseline_may_be_pooled_as_an_alternate_run_by_kind():
    pool = PoolProtocol(primary=9, alternate=4, baselines="alternate")

    assert pool.depth_of(pool.kind_of(is_primary=True, is_manual=True, is_baseline=True)) == 4


def test_a_manual_run_without_its_own_depth_is_pooled_like_a_primary_run():
    assert PoolProtocol(primary=9, alternate=4).depth_of("manual") == 9


def test_only_arqmath_1_adds_to_the_runs():
    tasks = {(slug, kind): PROTOCOLS[slug].tasks[kind].pool for slug, kind in EVERY_TASK}

    assert [key for key, pool in tasks.items() if pool.extra_threads] == [
        ("arqmath-1", TaskKind.ANSWERS)
    ]
    assert [key for key, pool in tasks.items() if pool.extra_depth] == [
        ("arqmath-1", TaskKind.FORMULAS)
    ]
    assert [key for key, pool in tasks.items() if pool.includes_generated_answers] == [
        ("arqmath-3", TaskKind.ANSWERS)
    ]


def test_ntcir_10_pools_rank_by_rank_up_to_a_hundred():
    assert PROTOCOLS["ntcir-10"].tasks[TaskKind.FORMULAS].pool == PoolProtocol(
        method="rank-by-rank", size=100, shows_formulas_alone=True
    )


def test_a_known_item_has_no_pool():
    task = PROTOCOLS["ntcir-11"].tasks[TaskKind.FORMULAS]

    assert (task.pool.method, task.measures, task.labels) == ("none", ("RR",), TREC_BINARY)


@pytest.mark.parametrize("slug", ["arqmath-1", "arqmath-2", "arqmath-3"])
@pytest.mark.parametrize("kind", [TaskKind.ANSWERS, TaskKind.FORMULAS])
def test_arqmath_ranks_a_thousand_items_by_the_prime_measures(slug, kind):
    task = PROTOCOLS[slug].tasks[kind]

    assert (task.limit, task.quota, task.labels, task.relevant_from) == (1000, 5, ARQMATH, 2)
    third = "P@10" if slug == "arqmath-1" else PRIMES[2]  # as the papers print
    assert task.measures[: task.printed] == (*PRIMES[:2], third)


@pytest.mark.parametrize(
    ("slug", "answers", "formulas"), [("arqmath-1", 63.1, 38.1), ("arqmath-3", 44.1, 26.6)]
)
def test_labels_take_as_long_as_in_the_papers(slug, answers, formulas):
    tasks = PROTOCOLS[slug].tasks

    assert tasks[TaskKind.ANSWERS].seconds == answers
    assert tasks[TaskKind.FORMULAS].seconds == formulas


@pytest.mark.shared_data
def test_judging_the_formulas_of_arqmath_3_took_120_hours_because_each_instance_is_judged():
    lines = (
        (SHARED_DATA / "arqmath-3" / "qrels.task2.instances.tsv")
        .read_text(encoding="utf-8")
        .splitlines()
    )
    topics = pl.DataFrame({"topic": ["all"], "items": [11_538], "labels": [len(lines)]})
    plan = Plan(topics, *[pl.DataFrame()] * 3)
    seconds = PROTOCOLS["arqmath-3"].tasks[TaskKind.FORMULAS].seconds

    assert round(plan.cost(seconds=seconds, wage=1).hours) == 120


def test_only_arqmath_3_has_generated_answers():
    assert [slug for slug, kind in EVERY_TASK if kind is TaskKind.GENERATED_ANSWERS] == [
        "arqmath-3"
    ]


def test_task_3_takes_one_short_answer_and_averages_over_answered_topics():
    task = PROTOCOLS["arqmath-3"].tasks[TaskKind.GENERATED_ANSWERS]

    assert (task.limit, task.max_characters, task.answered_only, task.measures[0]) == (
        1,
        1200,
        True,
        "AR",
    )


@pytest.mark.parametrize(
    ("slug", "policy"), [("arqmath-1", "runs"), ("arqmath-2", "reciprocal-rank")]
)
def test_at_most_five_instances_of_a_formula_are_judged(slug, policy):
    pool = PROTOCOLS[slug].tasks[TaskKind.FORMULAS].pool

    assert (pool.visually_distinct, pool.instances, pool.instance_policy) == (True, 5, policy)


@pytest.mark.parametrize(("slug", "kind"), EVERY_TASK)
def test_runs_are_scored_by_score_and_those_of_ntcir_pooled_by_submitted_rank(slug, kind):
    by, task = "rank" if slug.startswith("ntcir") else "score", PROTOCOLS[slug].tasks[kind]

    assert task.order == "score"
    assert task.pooling_order == by or task.pool.method == "none"


@pytest.mark.parametrize(("slug", "kind"), EVERY_TASK)
def test_arqmath_drops_topics_with_fewer_than_two_relevant_items_and_ntcir_keeps_them(slug, kind):
    assert PROTOCOLS[slug].tasks[kind].min_relevant == (0 if slug.startswith("ntcir") else 2)


@pytest.mark.parametrize(("slug", "kind"), EVERY_TASK)
def test_ntcir_takes_the_format_of_trec_only(slug, kind):
    assert PROTOCOLS[slug].tasks[kind].trec_only == slug.startswith("ntcir")


NTCIR_KINDS = (TaskKind.FORMULAS, TaskKind.DOCUMENTS)


@pytest.mark.parametrize("slug", ["ntcir-10", "ntcir-12", "ntcir-12-simto"])
def test_ntcir_sums_two_labels_and_counts_from_three(slug):
    task = PROTOCOLS[slug].tasks[TaskKind.FORMULAS]

    assert (task.labels, task.relevant_from) == (NTCIR, 3)
    assert (task.adds(NTCIR_GRADES), task.relevant_in(NTCIR_GRADES)) == (True, 2)
    assert (task.adds(NTCIR), task.relevant_in(NTCIR)) == (False, 3)


@pytest.mark.parametrize(
    ("slug", "reported"),
    [("ntcir-10", {"P@5", "P@10", "SetP", "AP"}), ("ntcir-12", {"P@5", "P@10", "P@15", "P@20"})],
)
def test_ntcir_also_has_tasks_of_documents_with_the_measures_of_its_year(slug, reported):
    formulas, documents = (PROTOCOLS[slug].tasks[kind] for kind in NTCIR_KINDS)

    whole = replace(formulas.pool, shows_formulas_alone=False)
    assert (documents.items, documents.pool) == (ItemKind.DOCUMENTS, whole)
    assert (documents.labels, documents.relevant_from) == (NTCIR, 3)
    assert reported <= set(documents.measures) <= set(formulas.measures)
    assert not [name for name in documents.measures if "judged_only" in name]


@pytest.mark.parametrize("kind", [TaskKind.ANSWERS, TaskKind.FORMULAS])
def test_arqmath_1_reports_p_10_before_its_judged_only_form(kind):
    measures = PROTOCOLS["arqmath-1"].tasks[kind].measures
    assert measures[2:4] == ("P@10", PRIMES[2])
    assert sorted(measures) == sorted(PROTOCOLS["arqmath-2"].tasks[kind].measures)
