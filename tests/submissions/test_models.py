"""The database refuses nonsense about runs, whoever writes it."""

from __future__ import annotations

import pytest
from django.db import IntegrityError
from django.db.models import ProtectedError

from submissions.models import Run, RunProblem
from tests.factories import Scene
from tests.submissions.factories import NOW, RunFactory, UploadFactory, ValidRunFactory

pytestmark = pytest.mark.django_db


def test_a_valid_run_has_its_index(scene: Scene) -> None:
    with pytest.raises(IntegrityError):
        RunFactory(task=scene.task, team=scene.team, status=Run.Status.VALID)


def test_a_run_is_in_a_known_state(scene: Scene) -> None:
    with pytest.raises(IntegrityError):
        RunFactory(task=scene.task, team=scene.team, status="withdrawn")


@pytest.mark.parametrize("status", [status for status in Run.Status.values if status != "valid"])
def test_every_state_that_there_is_may_be_stored(scene: Scene, status: str) -> None:
    assert RunFactory(task=scene.task, team=scene.team, status=status).state == status


def test_a_team_has_a_tag_once_in_a_task(scene: Scene) -> None:
    RunFactory(task=scene.task, team=scene.team, tag="bm25")
    with pytest.raises(IntegrityError):
        RunFactory(task=scene.task, team=scene.team, tag="bm25")


@pytest.mark.parametrize(
    "fields", [{"check_only": True}, {"withdrawn_at": NOW}, {"status": Run.Status.INVALID}]
)
def test_a_run_that_takes_no_part_keeps_no_tag_for_itself(
    scene: Scene, fields: dict[str, object]
) -> None:
    RunFactory(task=scene.task, team=scene.team, tag="bm25", **fields)
    assert RunFactory(task=scene.task, team=scene.team, tag="bm25").pk


def test_two_teams_may_use_the_same_tag(scene: Scene) -> None:
    RunFactory(task=scene.task, team=scene.team, tag="bm25")
    assert RunFactory(task=scene.task, team=scene.other_team, tag="bm25").pk


def test_a_team_has_one_primary_run_in_a_task(scene: Scene) -> None:
    ValidRunFactory(task=scene.task, team=scene.team, is_primary=True)
    with pytest.raises(IntegrityError):
        ValidRunFactory(task=scene.task, team=scene.team, is_primary=True)


def test_every_baseline_may_bear_the_mark_of_a_primary_run(scene: Scene) -> None:
    ValidRunFactory.create_batch(
        2, task=scene.task, team=scene.team, is_primary=True, is_baseline=True
    )
    assert Run.objects.valid().filter(is_primary=True).count() == 2


def test_a_kind_of_problem_stands_once_with_a_run(scene: Scene) -> None:
    run = RunFactory(task=scene.task, team=scene.team)
    problem = {"run": run, "position": 0, "kind": "columns", "severity": "error", "count": 1}
    assert str(RunProblem.objects.create(**problem)) == "columns (1)"
    with pytest.raises(IntegrityError):
        RunProblem.objects.create(**problem)


def test_a_problem_is_an_error_a_warning_or_a_note(scene: Scene) -> None:
    run = RunFactory(task=scene.task, team=scene.team)
    with pytest.raises(IntegrityError):
        RunProblem.objects.create(run=run, position=0, kind="columns", severity="fatal", count=1)


@pytest.mark.parametrize("kept", ["task", "team", "upload"])
def test_what_a_run_stands_on_is_not_deleted_under_it(scene: Scene, kept: str) -> None:
    run = RunFactory(task=scene.task, team=scene.team)
    with pytest.raises(ProtectedError):
        getattr(run, kept).delete()


@pytest.mark.parametrize(
    ("fields", "takes_part", "counts"),
    [
        ({}, True, True),
        ({"check_only": True}, False, False),
        ({"withdrawn_at": NOW}, False, False),
        ({"is_baseline": True}, True, False),
        ({"status": Run.Status.INVALID}, False, False),
        ({"status": Run.Status.UPLOADED}, False, True),
        ({"status": Run.Status.VALIDATING}, False, True),
    ],
)
def test_which_runs_take_part_and_which_use_the_quota(
    scene: Scene, fields, takes_part, counts
) -> None:
    run = ValidRunFactory(task=scene.task, team=scene.team, **fields)
    assert (run in Run.objects.valid(), run in Run.objects.counting()) == (takes_part, counts)


def test_a_withdrawn_run_is_in_no_other_state(scene: Scene) -> None:
    assert ValidRunFactory(task=scene.task, team=scene.team, withdrawn_at=NOW).state == "withdrawn"


def test_a_run_goes_by_the_name_inside_its_archive(scene: Scene) -> None:
    upload = UploadFactory(name="runs.zip")
    assert RunFactory(task=scene.task, team=scene.team, upload=upload).file_name == "runs.zip"
    assert (
        RunFactory(task=scene.task, team=scene.team, upload=upload, member="a.tsv").file_name
        == "a.tsv"
    )
