"""Who may see and submit runs."""

import pytest
from django.http import Http404

from submissions.permissions import may_see_runs, run_or_404, teams_to_submit_for
from submissions.selectors import runs_visible_to
from tests.factories import MemberFactory, Scene, make_lab
from tests.submissions.factories import RunFactory

pytestmark = pytest.mark.django_db
ROLES = ["visitor", "outsider", "member", "other_member", "assessor", "organizer", "superuser"]


@pytest.mark.parametrize("role", ROLES)
def test_only_its_team_and_organizers_see_a_run(scene: Scene, role: str) -> None:
    run = RunFactory(task=scene.task, team=scene.team)
    person, sees = scene.people[role], role in {"member", "organizer", "superuser"}
    assert (run in runs_visible_to(person, scene.task)) is sees
    assert (scene.team in teams_to_submit_for(person, scene.task)) is sees
    if sees:
        assert run_or_404(person, "arqmath-x", "task1", run.pk) == run
    else:
        with pytest.raises(Http404):
            run_or_404(person, "arqmath-x", "task1", run.pk)


@pytest.mark.parametrize("role", ROLES)
def test_visitors_and_assessors_may_not_see_the_page_of_runs(scene: Scene, role: str) -> None:
    assert may_see_runs(scene.people[role], scene.task) is (role not in {"visitor", "assessor"})


def test_an_assessor_can_submit_for_their_own_team(scene: Scene) -> None:
    MemberFactory(team=scene.team, user=scene.assessor)
    assert may_see_runs(scene.assessor, scene.task)
    assert list(teams_to_submit_for(scene.assessor, scene.task)) == [scene.team]


def test_organizers_can_submit_for_every_team_of_their_lab(scene: Scene) -> None:
    make_lab("arqmath-y")
    assert list(teams_to_submit_for(scene.organizer, scene.task)) == [scene.team, scene.other_team]
