"""Freezing pools and supplements, what goes into them beside the runs, and what is refused."""

from dataclasses import replace
from datetime import timedelta
from hashlib import sha256
from io import BytesIO

import polars as pl
import pytest
from django.core.files.base import ContentFile

from arqkit.protocols.presets import PROTOCOLS, PoolProtocol
from arqkit.records import TaskKind
from arqlab.core.errors import UserError
from arqlab.core.models import AuditEvent, Lab, Task, Topic
from assessment.models import Assignment, Pool, PoolInstance, PoolItem
from assessment.pools.selectors.choices import PoolChoice
from assessment.pools.selectors.frozen import pool_file
from assessment.pools.selectors.plans import plan_pool
from assessment.pools.services.changing import close_pool, discard_pool, open_pool
from assessment.pools.services.freezing import compute_pool, freeze_pool, supplement_pool
from collection.models import PostLink, VisualMap
from collection.selectors.visual_maps import newest_map
from submissions.models import Run
from tests.assessment.factories import NOW, assign, judge, make_pool
from tests.collection.factories import load_small
from tests.evaluation.factories import make_qrels, make_run
from tests.factories import FormulaTaskFactory, TopicFactory, WrittenTaskFactory

pytestmark = pytest.mark.django_db

POSTS = PoolChoice(PoolProtocol(primary=2, alternate=2), seed=1)
FORMULAS = PoolChoice(PoolProtocol(primary=1, alternate=1, visually_distinct=True), seed=1)


@pytest.fixture
def run(team, task):
    return make_run(team, task, {"A.1": ["10", "11", "12"], "A.2": ["99"]})


@pytest.fixture
def formula_task(lab, tmp_path):
    """A task on formulas of the small collection, where 7 and 9 look the same (70)."""
    load_small(lab, tmp_path)
    task = FormulaTaskFactory(lab=lab, slug="task2", position=2, trec_items="formula-ids")
    TopicFactory(task=task, query_id="B.1", position=1)
    return task


def freeze(task: Task, choice: PoolChoice = POSTS, **fields: object) -> Pool:
    return freeze_pool(task=task, choice=choice, **{"by": None, "at": NOW} | fields)


def supplement(task: Task, choice: PoolChoice = POSTS, **fields: object) -> Pool:
    return supplement_pool(
        task=task, choice=choice, **{"by": None, "at": NOW, "reason": "Late."} | fields
    )


def items_of(pool: Pool) -> set[tuple[str, str, str]]:
    return set(pool.items.values_list("topic__query_id", "kind", "item"))


def instances_of(pool: Pool) -> set[tuple[str, str, str]]:
    return set(
        PoolInstance.objects.filter(item__pool=pool).values_list("item__item", "doc_id", "post_id")
    )


# --- what a pool is made of


def test_a_pool_keeps_what_it_was_made_of(run, task, organizer):
    pool = freeze(task, by=organizer)

    assert items_of(pool) == {
        ("A.1", "posts", "10"),
        ("A.1", "posts", "11"),
        ("A.2", "posts", "99"),
    }
    assert (pool.number, pool.seed, pool.preset, pool.settings["primary"]) == (1, 1, "", 2)
    assert pool.sha256 == sha256(pool_file(pool)).hexdigest()
    with run.index.open("rb") as file:
        digest = sha256(file.read()).hexdigest()
    named = {
        "run": run.pk,
        "team": "Alpha",
        "tag": run.tag,
        "kind": "alternate",
        "depth": 2,
        "sha256": digest,
    }
    assert pool.runs == [named]
    assert pool.inputs == {"order": "score"}
    event = AuditEvent.objects.get(verb="pool.freeze")
    assert (event.actor, event.detail["items"], event.detail["sha256"]) == (
        organizer,
        3,
        pool.sha256,
    )


def test_positions_count_from_one_in_each_topic(run, task):
    pool = freeze(task)

    assert sorted(pool.items.values_list("topic__query_id", "position")) == [
        ("A.1", 1),
        ("A.1", 2),
        ("A.2", 1),
    ]


def test_a_preset_that_was_not_changed_is_named(run, task):
    assert freeze(task, PoolChoice(task.protocol.pool, 1)).preset == "arqmath-3"


def test_withdrawn_and_refused_runs_are_not_pooled(run, task, team):
    make_run(team, task, {"A.1": ["77"]}, withdrawn_at=NOW)
    Run.objects.filter(pk=make_run(team, task, {"A.1": ["78"]}).pk).update(status="invalid")

    assert {item for _, _, item in items_of(freeze(task))} == {"10", "11", "99"}


def test_the_answers_of_own_and_duplicate_threads_are_in_where_the_collection_holds_them(
    task, tmp_path
):
    collection = load_small(task.lab, tmp_path)
    Topic.objects.filter(query_id="A.1").update(thread_id="1")
    PostLink.objects.create(collection=collection, post_id="2", related_id="1", kind="duplicate")
    PostLink.objects.create(collection=collection, post_id="2000", related_id="1", kind="duplicate")

    pool = freeze(task, PoolChoice(PoolProtocol(extra_threads=True), 1))

    assert items_of(pool) == {("A.1", "posts", post) for post in ("10", "11", "12")}


def test_related_threads_are_no_duplicates(task, tmp_path):
    collection = load_small(task.lab, tmp_path)
    Topic.objects.filter(query_id="A.1").update(thread_id="1")
    PostLink.objects.create(collection=collection, post_id="2", related_id="1", kind="related")

    pool = freeze(task, PoolChoice(PoolProtocol(extra_threads=True), 1))

    assert {item for _, _, item in items_of(pool)} == {"10", "11"}


# --- generated answers


def test_the_generated_answers_of_task_3_are_mixed_into_the_pool_of_task_1(run, task, team):
    third = WrittenTaskFactory(lab=task.lab, slug="task3")
    make_run(
        team,
        third,
        {"A.1": ["A.1"], "A.7": ["A.7"]},
        tag="gpt",
        answers={"A.1": "Because.", "A.7": "No topic."},
    )

    pool = freeze(
        task, PoolChoice(PoolProtocol(primary=1, alternate=1, includes_generated_answers=True), 1)
    )

    assert items_of(pool) == {
        ("A.1", "posts", "10"),
        ("A.2", "posts", "99"),
        ("A.1", "answers", "gpt:A.1"),
    }
    assert pool.items.get(kind="answers").text == "Because."
    assert [(known["tag"], known["kind"]) for known in pool.runs] == [
        (run.tag, "alternate"),
        ("gpt", "written"),
    ]


def test_generated_answers_have_a_pool_of_their_own_too(lab, team):
    third = WrittenTaskFactory(lab=lab, slug="task3")
    TopicFactory(task=third, query_id="A.1")
    answer = '\\.\nB\\"{o}hm: \t"$\\frac{1}{2}$" & \\N, \\\\ \\t\r\n\\.\n'
    make_run(team, third, {"A.1": ["A.1"]}, tag="gpt", answers={"A.1": answer})

    pool = freeze(third, PoolChoice(third.protocol.pool, 1))

    assert items_of(pool) == {("A.1", "answers", "gpt:A.1")}
    assert pool.items.get().text == answer
    assert instances_of(pool) == {("gpt:A.1", "gpt:A.1", "")}


def test_generated_answers_are_judged_in_one_place_only(run, task, team):
    third = WrittenTaskFactory(lab=task.lab, slug="task3")
    TopicFactory(task=third, query_id="A.1")
    make_run(team, third, {"A.1": ["A.1"]}, tag="gpt", answers={"A.1": "Because."})
    mixed = PoolChoice(PoolProtocol(primary=1, alternate=1, includes_generated_answers=True), 1)

    own = freeze(third, PoolChoice(third.protocol.pool, 1))
    with pytest.raises(UserError, match="are in a pool of that task"):
        freeze(task, mixed)
    discard_pool(pool=own, by=None)
    freeze(task, mixed)
    with pytest.raises(UserError, match=f"are in the pool of {task.name}"):
        freeze(third, PoolChoice(third.protocol.pool, 1))


def test_an_id_that_the_pool_cannot_hold_is_refused(task, team):
    make_run(team, task, {"A.1": ["10", "x" * 301]})

    with pytest.raises(UserError, match=r"topic A\.1 has more than 300 characters: xxx"):
        freeze(task)


@pytest.mark.parametrize(("other", "is_refused"), [("Because not.", True), ("Because.", False)])
def test_runs_of_two_tasks_must_not_bring_one_answer_with_different_texts(
    task, team, other_team, other, is_refused
):
    for own, text in ((team, "Because."), (other_team, other)):
        third = WrittenTaskFactory(lab=task.lab)
        make_run(own, third, {"A.1": ["A.1"]}, tag="gpt", answers={"A.1": text})
    mixed = PoolChoice(PoolProtocol(includes_generated_answers=True), 1)

    if is_refused:
        with pytest.raises(
            UserError, match=r"Alpha gpt and Beta gpt of two tasks both answer A\.1 as gpt:A\.1"
        ):
            freeze(task, mixed)
    else:
        assert len(items_of(freeze(task, mixed))) == 1


# --- formulas


def test_formulas_are_pooled_with_the_instances_that_runs_brought(formula_task, team):
    make_run(team, formula_task, {"B.1": ["7", "8"]})
    make_run(team, formula_task, {"B.1": ["9"]})

    pool = freeze(formula_task, FORMULAS)

    assert items_of(pool) == {("B.1", "visual-ids", "70")}
    assert instances_of(pool) == {("70", "7", "1"), ("70", "9", "12")}
    assert pool.visual_map == newest_map(formula_task.lab.collections.get())


@pytest.mark.parametrize(("most", "crowded"), [(1, 1), (2, 0)])
def test_formulas_with_more_instances_than_are_judged_are_counted(
    formula_task, team, most, crowded
):
    make_run(team, formula_task, {"B.1": ["7", "8"]})
    make_run(team, formula_task, {"B.1": ["9"]})

    pool = freeze(
        formula_task, replace(FORMULAS, protocol=replace(FORMULAS.protocol, instances=most))
    )

    assert pool.crowded_items == crowded


def test_before_the_first_version_of_visual_ids_those_of_the_index_are_taken(formula_task, team):
    VisualMap.objects.all().delete()
    make_run(team, formula_task, {"B.1": ["7", "9", "8"]})

    pool = freeze(formula_task, FORMULAS)

    assert instances_of(pool) == {("70", "7", "1")}
    assert not pool.visual_map


def test_a_formula_appears_in_the_post_of_the_index_whatever_the_run_names(formula_task, team):
    make_run(team, formula_task, {"B.1": ["7"]}, posts={"7": "4711"})

    assert instances_of(freeze(formula_task, FORMULAS)) == {("70", "7", "1")}


def test_a_formula_that_the_index_does_not_know_appears_in_the_post_of_the_run(formula_task, team):
    make_run(team, formula_task, {"B.1": ["4242"]}, posts={"4242": "4711"})

    assert instances_of(freeze(formula_task, FORMULAS)) == {("4242", "4242", "4711")}


def test_a_run_of_visual_ids_is_left_out_with_a_reason(formula_task, team):
    make_run(team, formula_task, {"B.1": ["7"]})
    named = make_run(team, formula_task, {"B.1": ["70"]}, items="visual-ids")

    computed = compute_pool(task=formula_task, choice=FORMULAS)

    assert [(run, "visual ids" in why) for run, why in computed.sources.left_out] == [(named, True)]
    assert computed.items == 1


@pytest.mark.parametrize("judged", ["qrels", "judgments", "nothing"])
def test_formulas_in_posts_judged_relevant_in_task_1_go_deeper(
    formula_task, task, team, assessor, judged
):
    make_run(team, formula_task, {"B.1": ["4242", "8"]})
    if judged == "qrels":
        make_qrels(task, {"A.1": {"10": 2, "12": 1}})
    if judged == "judgments":
        pool = make_pool(task, {"A.1": ["10"]})
        judge(assessor, PoolInstance.objects.get(item__pool=pool), 3)

    pool = freeze(formula_task, PoolChoice(replace(FORMULAS.protocol, extra_depth=1000), 1))

    found = {doc_id for _, doc_id, _ in instances_of(pool)}
    assert sorted(pool.inputs) == ["collection", "order", "relevant"]
    assert pool.inputs["collection"] == pool.visual_map.collection.source_sha256
    assert found == ({"4242"} if judged == "nothing" else {"4242", "8"})


# --- the plan


@pytest.mark.parametrize("preset", ["arqmath-1", "arqmath-2", "arqmath-3", "ntcir-10", "ntcir-12"])
def test_the_plan_counts_what_is_frozen(formula_task, task, team, other_team, preset):
    make_qrels(task, {"A.1": {"10": 2}})
    make_run(team, formula_task, {"B.1": ["7", "9", "8", "1001", "1002"]}, is_primary=True)
    make_run(other_team, formula_task, {"B.1": ["8", "1002", "1003"]})
    protocol = replace(
        PROTOCOLS[preset].tasks[TaskKind.FORMULAS].pool, primary=2, alternate=1, size=3
    )
    choice = PoolChoice(protocol, 1)

    plan, computed = (
        plan_pool(task=formula_task, choice=choice),
        compute_pool(task=formula_task, choice=choice),
    )

    assert (plan.items, plan.labels) == (computed.items, computed.label_count)


def test_ntcir_pools_the_top_by_submitted_rank(formula_task, team):
    Lab.objects.filter(pk=team.lab_id).update(protocol="ntcir-12")
    make_run(team, formula_task, {"B.1": ["8", "9"]}, scores={"8": 1.0, "9": 2.0})
    protocol = PROTOCOLS["ntcir-12"].tasks[TaskKind.FORMULAS].pool

    pool = freeze(
        Task.objects.get(pk=formula_task.pk), PoolChoice(replace(protocol, alternate=1), seed=1)
    )

    assert items_of(pool) == {("B.1", "visual-ids", "8")}
    assert pool.inputs["order"] == "rank"


def test_a_plan_follows_runs_that_come_and_settings_that_turn(run, task, team):
    before = plan_pool(task=task, choice=POSTS)
    make_run(team, task, {"A.2": ["5", "6", "7"]})
    after = plan_pool(task=task, choice=POSTS)
    deeper = plan_pool(task=task, choice=PoolChoice(replace(POSTS.protocol, alternate=3), 1))

    assert [plan.items for plan in (before, after, deeper)] == [3, 5, 7]
    assert [topic.items for topic in deeper.topics] == [3, 4]
    assert [row.unique for row in deeper.runs] == [4, 3]
    assert deeper.judged_to == 200


def test_a_task_without_runs_has_an_empty_plan(task):
    plan = plan_pool(task=task, choice=POSTS)

    assert (plan.items, plan.runs, plan.cost(seconds=1, wage=1).hours) == (0, [], 0.0)


# --- supplements


def test_a_supplement_holds_only_what_no_pool_holds(run, task, team):
    freeze(task)
    make_run(team, task, {"A.1": ["10", "50"]})

    pool = supplement(task)

    assert (pool.number, items_of(pool)) == (2, {("A.1", "posts", "50")})
    assert AuditEvent.objects.get(verb="pool.supplement").detail["reason"] == "Late."
    with pytest.raises(UserError, match="Nothing to judge"):
        supplement(task)


def test_the_review_of_a_topic_ends_when_a_supplement_or_an_opened_pool_brings_more(
    run, task, team, assessor
):
    first, second = task.topics.order_by("position")
    assign(assessor, first, second, reviewed_since=NOW)
    freeze(task)
    make_run(team, task, {"A.1": ["10", "50"]})
    PoolItem.objects.update(done_at=NOW)
    Assignment.objects.update(reviewed_since=NOW)

    pool = supplement(task)
    assert not Assignment.objects.get(topic=first).reviewed_since
    assert Assignment.objects.get(topic=second).reviewed_since

    close_pool(pool=pool, by=None, at=NOW)
    Assignment.objects.update(reviewed_since=NOW)
    open_pool(pool=pool, by=None)
    assert not Assignment.objects.get(topic=first).reviewed_since
    assert Assignment.objects.get(topic=second).reviewed_since


def map_anew(ids: dict[str, str]) -> VisualMap:
    known = VisualMap.objects.get()
    buffer = BytesIO()
    pl.DataFrame({"formula_id": list(ids), "visual_id": list(ids.values())}).write_parquet(buffer)
    newer = VisualMap(collection=known.collection, version=2, forms=known.forms.name, made_at=NOW)
    newer.mapping.save("mapping.parquet", ContentFile(buffer.getvalue()))
    return newer


def test_after_other_visual_ids_a_judged_instance_is_not_judged_again(formula_task, team):
    make_run(team, formula_task, {"B.1": ["7", "8"]})
    freeze(formula_task, FORMULAS)
    newer = map_anew({"7": "71", "8": "71", "9": "70"})

    pool = supplement(formula_task, PoolChoice(replace(FORMULAS.protocol, alternate=2), 1))

    assert instances_of(pool) == {("71", "8", "10")}
    assert pool.visual_map == newer


def test_a_formula_of_which_other_visual_ids_left_no_pooled_instance_is_judged_again(
    formula_task, team
):
    make_run(team, formula_task, {"B.1": ["7"]})
    freeze(formula_task, FORMULAS)
    make_run(team, formula_task, {"B.1": ["9"]})
    map_anew(
        {"7": "71", "8": "72", "9": "70"}
    )  # a split: the id stays with the part that was not pooled

    assert plan_pool(task=formula_task, choice=FORMULAS).items == 1
    assert instances_of(supplement(formula_task, FORMULAS)) == {("70", "9", "12")}


# --- what is refused


def test_an_empty_pool_is_refused(task):
    with pytest.raises(UserError, match="Nothing to judge"):
        freeze(task)


def test_a_pool_that_changed_since_it_was_looked_at_is_refused(run, task, team):
    seen = compute_pool(task=task, choice=POSTS).sha256
    make_run(team, task, {"A.1": ["50"]})

    with pytest.raises(UserError, match="it now has 4 items"):
        freeze(task, expected=seen)
    assert freeze(task, expected=compute_pool(task=task, choice=POSTS).sha256).items.count() == 4


def test_a_pool_is_closed_and_opened_once(run, task, organizer):
    pool = freeze(task)
    close_pool(pool=pool, by=organizer, at=NOW)
    with pytest.raises(UserError, match="already closed"):
        close_pool(pool=pool, by=organizer, at=NOW + timedelta(days=1))
    pool.refresh_from_db()
    assert pool.closed_at == NOW

    open_pool(pool=pool, by=organizer)
    with pytest.raises(UserError, match="already open"):
        open_pool(pool=pool, by=organizer)
    verbs = AuditEvent.objects.filter(verb__in=["pool.close", "pool.open"]).values_list(
        "verb", flat=True
    )
    assert list(verbs) == ["pool.open", "pool.close"]


def test_a_pool_that_nobody_judged_is_discarded_without_a_rest(run, task, organizer):
    pool = freeze(task)
    discard_pool(pool=pool, by=organizer)

    assert not Pool.objects.exists()
    assert not PoolItem.objects.exists()
    assert AuditEvent.objects.get(verb="pool.discard").detail["items"] == 3


def test_a_judged_pool_and_one_with_a_supplement_stay(run, task, team, assessor):
    pool = freeze(task)
    make_run(team, task, {"A.1": ["50"]})
    later = supplement(task)
    with pytest.raises(UserError, match="Unfreeze the supplement first"):
        discard_pool(pool=pool, by=None)

    judge(assessor, PoolInstance.objects.get(item__pool=later), 3)
    with pytest.raises(UserError, match="has judgments"):
        discard_pool(pool=later, by=None)
    assert Pool.objects.count() == 2
