"""Moving runs to other teams."""

import pytest

from arqlab.core.errors import UserError
from arqlab.core.models import AuditEvent
from submissions.models import Run
from submissions.services.changing import move_run
from tests.factories import Scene, TeamFactory
from tests.submissions.factories import NOW, RunFactory, ValidRunFactory

pytestmark = pytest.mark.django_db


@pytest.fixture
def run(scene: Scene) -> Run:
    return ValidRunFactory(task=scene.task, team=scene.team, tag="bm25", identifier="bm25")


def move(run: Run, scene: Scene, **changed: object) -> list[str]:
    given = {"team": scene.other_team, "by": scene.organizer} | changed
    return move_run(run=run, at=NOW, **given)


def test_a_moved_run_keeps_its_id_and_tag_and_the_move_is_recorded(scene: Scene, run: Run) -> None:
    assert move(run, scene) == []

    run = Run.objects.get(pk=run.pk)
    assert (run.team, run.identifier, run.tag) == (scene.other_team, "bm25", "bm25")
    event = AuditEvent.objects.get(verb="run.move")
    assert event.actor == scene.organizer
    assert (event.detail["before"], event.detail["after"]) == ("Alpha", "Beta")


def test_a_primary_run_stays_primary_in_a_team_without_one(scene: Scene, run: Run) -> None:
    Run.objects.update(is_primary=True)

    assert move(run, scene) == ["Team Alpha has no primary run now."]
    assert Run.objects.get(pk=run.pk).is_primary


@pytest.mark.parametrize("status", ["valid", "uploaded", "invalid"])
def test_a_primary_run_never_replaces_that_of_the_new_team(
    scene: Scene, run: Run, status: str
) -> None:
    theirs = ValidRunFactory(task=scene.task, team=scene.other_team, tag="slt", is_primary=True)
    Run.objects.filter(pk=run.pk).update(is_primary=True, status=status)

    notes = move(run, scene)

    assert notes[-1] == "It is an alternate run now: slt is the primary run of Beta."
    assert list(Run.objects.filter(is_primary=True)) == [theirs]


def test_a_baseline_keeps_its_mark_and_needs_no_place(scene: Scene, run: Run) -> None:
    ValidRunFactory.create_batch(5, task=scene.task, team=scene.other_team)
    ValidRunFactory(task=scene.task, team=scene.other_team, is_primary=True, is_baseline=True)
    Run.objects.filter(pk=run.pk).update(is_primary=True, is_baseline=True)

    assert move(run, scene) == []
    assert Run.objects.get(pk=run.pk).is_primary


def test_the_quota_of_the_new_team_holds(scene: Scene, run: Run) -> None:
    ValidRunFactory.create_batch(5, task=scene.task, team=scene.other_team)
    with pytest.raises(UserError, match="Team Beta has used all of its 5"):
        move(run, scene)


def test_the_new_team_must_not_have_a_run_with_the_tag(scene: Scene, run: Run) -> None:
    ValidRunFactory(task=scene.task, team=scene.other_team, tag="bm25")
    with pytest.raises(UserError, match="two runs with the tag bm25"):
        move(run, scene)


@pytest.mark.parametrize("fields", [{"check_only": True}, {"withdrawn_at": NOW}])
def test_a_run_that_takes_no_part_needs_no_place(scene: Scene, fields: dict[str, object]) -> None:
    ValidRunFactory.create_batch(5, task=scene.task, team=scene.other_team)
    run = RunFactory(task=scene.task, team=scene.team, **fields)

    assert move(run, scene) == []
    assert Run.objects.get(pk=run.pk).team == scene.other_team


def test_only_organizers_move_runs_and_only_to_other_teams_of_the_lab(
    scene: Scene, run: Run
) -> None:
    with pytest.raises(UserError, match="Only organizers can move runs"):
        move(run, scene, by=scene.member)
    for team in (scene.team, TeamFactory()):
        with pytest.raises(UserError, match="Choose another team of"):
            move(run, scene, team=team)
