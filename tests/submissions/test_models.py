"""The constraints of the database on runs, and the filters of runs."""

import pytest
from django.db import IntegrityError
from django.db.models import ProtectedError

from submissions.models import Run, RunProblem
from tests.factories import Scene
from tests.submissions.factories import NOW, RunFactory, UploadFactory, ValidRunFactory

pytestmark = pytest.mark.django_db


def test_a_valid_run_needs_an_index(scene: Scene) -> None:
    with pytest.raises(IntegrityError):
        RunFactory(task=scene.task, team=scene.team, status=Run.Status.VALID)


def test_an_unknown_status_is_refused(scene: Scene) -> None:
    with pytest.raises(IntegrityError):
        RunFactory(task=scene.task, team=scene.team, status="withdrawn")


@pytest.mark.parametrize("status", [status for status in Run.Status.values if status != "valid"])
def test_every_known_status_can_be_stored(scene: Scene, status: str) -> None:
    assert RunFactory(task=scene.task, team=scene.team, status=status).state == status


def test_a_team_cannot_use_a_tag_twice_in_a_task(scene: Scene) -> None:
    RunFactory(task=scene.task, team=scene.team, tag="bm25")
    with pytest.raises(IntegrityError):
        RunFactory(task=scene.task, team=scene.team, tag="bm25")


@pytest.mark.parametrize(
    "fields", [{"check_only": True}, {"withdrawn_at": NOW}, {"status": Run.Status.INVALID}]
)
def test_the_tag_of_a_run_that_takes_no_part_can_be_reused(
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


def test_several_baselines_can_be_primary(scene: Scene) -> None:
    ValidRunFactory.create_batch(
        2, task=scene.task, team=scene.team, is_primary=True, is_baseline=True
    )
    assert Run.objects.valid().filter(is_primary=True).count() == 2


def test_a_run_has_each_kind_of_problem_once(scene: Scene) -> None:
    run = RunFactory(task=scene.task, team=scene.team)
    problem = {"run": run, "position": 0, "kind": "columns", "severity": "error", "count": 1}
    assert str(RunProblem.objects.create(**problem)) == "columns (1)"
    with pytest.raises(IntegrityError):
        RunProblem.objects.create(**problem)


def test_an_unknown_severity_is_refused(scene: Scene) -> None:
    run = RunFactory(task=scene.task, team=scene.team)
    with pytest.raises(IntegrityError):
        RunProblem.objects.create(run=run, position=0, kind="columns", severity="fatal", count=1)


@pytest.mark.parametrize("kept", ["task", "team", "upload"])
def test_the_task_team_and_upload_of_a_run_cannot_be_deleted(scene: Scene, kept: str) -> None:
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
def test_the_filters_for_valid_runs_and_for_the_quota(
    scene: Scene, fields, takes_part, counts
) -> None:
    run = ValidRunFactory(task=scene.task, team=scene.team, **fields)
    assert (run in Run.objects.valid(), run in Run.objects.counting()) == (takes_part, counts)


def test_the_state_of_a_withdrawn_run_is_withdrawn(scene: Scene) -> None:
    assert ValidRunFactory(task=scene.task, team=scene.team, withdrawn_at=NOW).state == "withdrawn"


def test_a_run_has_the_name_of_its_archive_member(scene: Scene) -> None:
    upload = UploadFactory(name="runs.zip")
    assert RunFactory(task=scene.task, team=scene.team, upload=upload).file_name == "runs.zip"
    assert (
        RunFactory(task=scene.task, team=scene.team, upload=upload, member="a.tsv").file_name
        == "a.tsv"
    )
