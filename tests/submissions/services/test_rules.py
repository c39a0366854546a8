"""The rules on role, deadline, quota and tags."""

from datetime import timedelta

import pytest

from arqlab.core.errors import UserError
from arqlab.core.models import Task
from submissions.models import Run
from submissions.services.run_metadata import RunMetadata
from submissions.services.uploads import check_upload, metadata_by_name, submit_upload
from tests.factories import Scene, make_lab
from tests.submissions.factories import GOOD_RUN, NOW, RunFactory, ValidRunFactory, sent

pytestmark = pytest.mark.django_db
DAY = timedelta(days=1)


def submit(
    scene: Scene,
    by: object = "member",
    name: str = "Alpha-task1-new-auto-both-A.tsv",
    **metadata: bool,
) -> Run:
    file = sent(name=name)
    person = scene.member if by == "member" else by
    by_name = metadata_by_name(file, **metadata)
    return submit_upload(
        file=file, task=scene.task, team=scene.team, by=person, at=NOW, metadata=by_name
    )[0]


def close(scene: Scene) -> None:
    Task.objects.filter(pk=scene.task.pk).update(deadline=NOW - DAY)
    scene.task.refresh_from_db()


def fill_quota(scene: Scene) -> list[Run]:
    return ValidRunFactory.create_batch(scene.task.protocol.quota, task=scene.task, team=scene.team)


def test_a_stranger_cannot_submit_for_a_team(scene: Scene) -> None:
    with pytest.raises(UserError, match="not a member of team Alpha"):
        submit(scene, scene.other_member)


def test_an_assessor_cannot_submit_for_a_team(scene: Scene) -> None:
    with pytest.raises(UserError, match="not a member"):
        submit(scene, scene.assessor)


def test_a_team_of_another_lab_cannot_submit(scene: Scene) -> None:
    other = make_lab("arqmath-y")
    with pytest.raises(UserError, match="belongs to another lab"):
        submit_upload(file=sent(), task=scene.task, team=other.team, by=other.member, at=NOW)


def test_a_team_cannot_submit_before_the_task_opens(scene: Scene) -> None:
    scene.task.opens_at = NOW + DAY
    with pytest.raises(UserError, match=r"opens on 2 May 2026, 12:00 UTC\. Submit your run then"):
        submit(scene)


def test_a_team_cannot_submit_after_the_deadline(scene: Scene) -> None:
    close(scene)
    with pytest.raises(UserError, match=r"closed on 30 April 2026, 12:00 UTC\. Ask an organizer"):
        submit(scene)


def test_the_deadline_applies_to_a_command_without_a_user(scene: Scene) -> None:
    close(scene)
    with pytest.raises(UserError, match="closed on"):
        submit(scene, None)


def test_an_organizer_submits_for_a_team_after_the_deadline(scene: Scene) -> None:
    close(scene)
    assert submit(scene, scene.organizer).submitted_by == scene.organizer


def test_deadline_and_quota_do_not_apply_to_baselines(scene: Scene) -> None:
    close(scene)
    fill_quota(scene)
    assert submit(scene, None, is_baseline=True).is_baseline


def test_a_team_cannot_submit_a_baseline(scene: Scene) -> None:
    with pytest.raises(UserError, match="You are not a member of team Baselines"):
        submit(scene, is_baseline=True)


def test_a_team_cannot_exceed_its_quota(scene: Scene) -> None:
    fill_quota(scene)
    with pytest.raises(
        UserError,
        match=r"You submitted 1 run, but team Alpha has only 0 of its 5 runs left .*\. Withdraw a",
    ):
        submit(scene)


def test_the_quota_applies_to_organizers(scene: Scene) -> None:
    fill_quota(scene)
    with pytest.raises(UserError, match="0 of its 5"):
        submit(scene, scene.organizer)


def test_runs_being_checked_count_toward_the_quota(scene: Scene) -> None:
    RunFactory.create_batch(5, task=scene.task, team=scene.team)
    with pytest.raises(UserError, match="0 of its 5"):
        submit(scene)


def test_invalid_withdrawn_checked_and_baseline_runs_do_not_count(scene: Scene) -> None:
    own = {"task": scene.task, "team": scene.team}
    RunFactory.create_batch(5, status=Run.Status.INVALID, **own)
    ValidRunFactory.create_batch(5, withdrawn_at=NOW, **own)
    ValidRunFactory.create_batch(5, check_only=True, **own)
    ValidRunFactory.create_batch(5, is_baseline=True, **own)
    assert submit(scene).status == "uploaded"


def test_runs_of_other_teams_do_not_count(scene: Scene) -> None:
    ValidRunFactory.create_batch(5, task=scene.task, team=scene.other_team)
    assert submit(scene).team == scene.team


def test_a_team_cannot_reuse_a_tag(scene: Scene) -> None:
    submit(scene)
    with pytest.raises(UserError, match="two runs with the tag new in Answer retrieval"):
        submit(scene)


@pytest.mark.parametrize("tag", ["", "  ", "a" * 101, "two\nlines"])
def test_a_tag_that_leaderboards_cannot_show_is_refused(scene: Scene, tag: str) -> None:
    metadata = {"run.tsv": RunMetadata(tag=tag)}
    with pytest.raises(UserError, match="tag"):
        submit_upload(
            file=sent(GOOD_RUN, "run.tsv"),
            task=scene.task,
            team=scene.team,
            by=scene.member,
            at=NOW,
            metadata=metadata,
        )


def test_the_tag_of_an_invalid_run_can_be_reused(scene: Scene) -> None:
    RunFactory(task=scene.task, team=scene.team, tag="new", status=Run.Status.INVALID)
    assert submit(scene).tag == "new"


def test_a_refused_submission_stores_nothing(scene: Scene) -> None:
    fill_quota(scene)
    with pytest.raises(UserError):
        submit(scene)
    assert Run.objects.filter(tag="new").count() == 0


def test_a_file_can_be_checked_after_the_deadline(scene: Scene) -> None:
    close(scene)
    run = check_upload(file=sent(), task=scene.task, team=scene.team, by=scene.member, at=NOW)[0]
    assert run.check_only


def test_a_stranger_cannot_check_a_file_for_a_team(scene: Scene) -> None:
    with pytest.raises(UserError, match="not a member"):
        check_upload(file=sent(), task=scene.task, team=scene.team, by=scene.outsider, at=NOW)
