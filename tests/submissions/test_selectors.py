"""Queries on runs."""

from pathlib import Path

import pytest
from django.contrib.auth.models import AnonymousUser
from pytest_django import DjangoAssertNumQueries

from arqkit.records import ItemKind, TaskKind
from arqlab.core.models import Task
from submissions.models import Run, RunProblem
from submissions.selectors import (
    file_limits,
    ordered_index,
    quotas_of,
    report_summary,
    run_items,
    runs_visible_to,
    task_pack,
)
from tests.collection.factories import load_small
from tests.evaluation.factories import make_run
from tests.factories import Scene
from tests.submissions.factories import RunFactory, ValidRunFactory

pytestmark = pytest.mark.django_db


def test_the_rules_follow_the_task(scene: Scene) -> None:
    rules = task_pack(scene.task).rules
    assert (rules.kind, rules.topics, rules.limit) == (TaskKind.ANSWERS, ("A.1", "A.2"), 1000)
    assert (rules.order, rules.items, rules.posts, rules.formulas) == (
        "score",
        ItemKind.POSTS,
        None,
        None,
    )


def test_overrides_take_precedence_over_the_protocol(scene: Scene) -> None:
    Task.objects.update(overrides={"limit": 10, "order": "rank"})
    rules = task_pack(Task.objects.select_related("lab").get()).rules
    assert (rules.limit, rules.order) == (10, "rank")


def test_a_run_may_have_twice_the_lines_that_its_task_allows(scene: Scene) -> None:
    assert file_limits(scene.task).max_lines == 100_000
    Task.objects.update(overrides={"limit": 60_000})
    assert file_limits(Task.objects.select_related("lab").get()).max_lines == 240_000
    Task.objects.update(overrides={"limit": 10**6})
    assert file_limits(Task.objects.select_related("lab").get()).max_lines == 500_000


@pytest.mark.parametrize("complete", [True, False])
def test_the_rules_include_the_collection(scene: Scene, tmp_path: Path, complete: bool) -> None:
    load_small(scene.lab, tmp_path, complete=complete)
    rules = task_pack(scene.task).rules
    assert (rules.posts.height, rules.formulas.height, rules.complete) == (5, 3, complete)


def test_the_rules_need_few_queries(
    scene: Scene, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    task = Task.objects.select_related("lab").get()
    with django_assert_num_queries(4):
        task_pack(task)


def test_the_quotas_of_many_teams_need_one_query(
    scene: Scene, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    ValidRunFactory.create_batch(2, task=scene.task, team=scene.team)
    with django_assert_num_queries(1):
        assert quotas_of([scene.team, scene.other_team], scene.task) == [
            (scene.team, 5, 3),
            (scene.other_team, 5, 5),
        ]


def test_the_quota_left_is_never_negative(scene: Scene) -> None:
    ValidRunFactory.create_batch(7, task=scene.task, team=scene.team)
    [quota] = quotas_of([scene.team], scene.task)
    assert quota.left == 0


@pytest.mark.parametrize(
    ("person", "seen"),
    [
        ("member", 1),
        ("other_member", 0),
        ("organizer", 1),
        ("superuser", 1),
        ("assessor", 0),
        ("outsider", 0),
    ],
)
def test_users_see_the_runs_of_their_team_and_organizers_see_all(
    scene: Scene, person: str, seen: int
) -> None:
    RunFactory(task=scene.task, team=scene.team)
    assert runs_visible_to(getattr(scene, person), scene.task).count() == seen


def test_visitors_see_no_runs(scene: Scene) -> None:
    RunFactory(task=scene.task, team=scene.team)
    assert not runs_visible_to(AnonymousUser(), scene.task).exists()


def test_kinds_of_problems_are_counted_by_severity(scene: Scene) -> None:
    run = RunFactory(task=scene.task, team=scene.team)
    for position, (severity, count) in enumerate([("error", 3), ("error", 4), ("warning", 1)]):
        RunProblem.objects.create(
            run=run, position=position, kind=f"k{position}", severity=severity, count=count
        )
    counted = Run.objects.all().for_lists().get()
    assert (counted.errors, counted.warnings) == (2, 1)
    assert report_summary(run.problems.all())["error"] == {"kinds": 2, "places": 7}


@pytest.mark.parametrize(
    ("chosen", "detected", "items"),
    [
        ("", "", ItemKind.POSTS),
        ("", "formula-ids", ItemKind.FORMULA_IDS),
        ("visual-ids", "formula-ids", ItemKind.VISUAL_IDS),
    ],
)
def test_the_item_type_is_chosen_by_the_team_or_detected_or_the_tasks(
    task, chosen, detected, items
):
    assert run_items(Run(items=chosen, report={"items": detected}), task) == items


def test_an_index_in_another_order_is_sorted_again(team, task):
    run = make_run(team, task, {"A.1": ["p1", "p2"]}, scores={"p1": 1.0, "p2": 2.0})

    assert ordered_index(run, order="score").collect().sort("order")["item"].to_list() == [
        "p2",
        "p1",
    ]
    assert ordered_index(run, order="rank").collect().sort("order")["item"].to_list() == [
        "p1",
        "p2",
    ]
