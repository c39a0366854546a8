"""Changes to uploaded runs."""

from dataclasses import replace
from datetime import timedelta

import pytest

from arqlab.core.errors import UserError
from arqlab.core.models import AuditEvent, Task
from submissions.models import Run
from submissions.services.changing import (
    correct_run,
    mark_primary,
    metadata_of,
    submit_checked_run,
    withdraw_run,
)
from tests.factories import Scene
from tests.submissions.factories import NOW, RunFactory, ValidRunFactory

pytestmark = pytest.mark.django_db


@pytest.fixture
def run(scene: Scene) -> Run:
    return ValidRunFactory(task=scene.task, team=scene.team, tag="bm25")


def close(scene: Scene, run: Run) -> None:
    run.task.deadline = NOW - timedelta(days=1)
    Task.objects.filter(pk=scene.task.pk).update(deadline=run.task.deadline)


def fresh(run: Run) -> Run:
    return Run.objects.select_related("task__lab", "team").get(pk=run.pk)


def correct(run: Run, by: object, **changes: object) -> bool:
    return correct_run(run=run, metadata=replace(metadata_of(run), **changes), by=by, at=NOW)


def test_marking_a_run_primary_makes_the_earlier_one_alternate(scene: Scene, run: Run) -> None:
    earlier = ValidRunFactory(task=scene.task, team=scene.team, is_primary=True)
    mark_primary(run=run, by=scene.member, at=NOW)
    assert (fresh(run).is_primary, fresh(earlier).is_primary) == (True, False)


@pytest.mark.parametrize(
    "state", [{"status": "invalid"}, {"check_only": True}, {"withdrawn_at": NOW}]
)
def test_only_a_valid_submitted_run_can_be_primary(
    scene: Scene, run: Run, state: dict[str, object]
) -> None:
    earlier = ValidRunFactory(task=scene.task, team=scene.team, is_primary=True)
    Run.objects.filter(pk=run.pk).update(**state)
    with pytest.raises(UserError, match="cannot be primary"):
        mark_primary(run=fresh(run), by=scene.member, at=NOW)
    assert fresh(earlier).is_primary


def test_a_team_marks_its_primary_until_the_deadline(scene: Scene, run: Run) -> None:
    close(scene, run)
    with pytest.raises(UserError, match="closed on"):
        mark_primary(run=run, by=scene.member, at=NOW)
    mark_primary(run=run, by=scene.organizer, at=NOW)
    assert fresh(run).is_primary


def test_another_team_cannot_mark_a_run(scene: Scene, run: Run) -> None:
    with pytest.raises(UserError, match="not a member"):
        mark_primary(run=run, by=scene.other_member, at=NOW)


def test_a_team_corrects_the_metadata_of_a_run(scene: Scene, run: Run) -> None:
    assert not correct(run, scene.member, tag="bm25f", is_manual=True, description="With fields.")
    assert (fresh(run).tag, fresh(run).is_manual, fresh(run).description) == (
        "bm25f",
        True,
        "With fields.",
    )
    assert AuditEvent.objects.get(verb="run.correct").detail["fields"] == [
        "description",
        "is_manual",
        "tag",
    ]


def test_a_correction_without_changes_is_not_audited(scene: Scene, run: Run) -> None:
    correct(run, scene.member)
    assert not AuditEvent.objects.exists()


def test_a_correction_can_mark_a_run_primary(scene: Scene, run: Run) -> None:
    earlier = ValidRunFactory(task=scene.task, team=scene.team, is_primary=True)
    correct(run, scene.member, is_primary=True)
    assert (fresh(run).is_primary, fresh(earlier).is_primary) == (True, False)


def test_a_team_corrects_until_the_deadline(scene: Scene, run: Run) -> None:
    close(scene, run)
    with pytest.raises(UserError, match="closed on"):
        correct(run, scene.member, tag="late")
    correct(run, scene.organizer, tag="late")
    assert fresh(run).tag == "late"


def test_a_tag_that_is_taken_is_refused(scene: Scene, run: Run) -> None:
    ValidRunFactory(task=scene.task, team=scene.team, tag="tfidf")
    with pytest.raises(UserError, match="two runs with the tag tfidf"):
        correct(run, scene.member, tag="tfidf")


def test_a_team_cannot_make_its_run_a_baseline(scene: Scene, run: Run) -> None:
    with pytest.raises(UserError, match="Only organizers"):
        correct(run, scene.member, is_baseline=True)


def test_a_baseline_that_becomes_a_run_needs_quota(scene: Scene) -> None:
    ValidRunFactory.create_batch(5, task=scene.task, team=scene.team)
    baseline = ValidRunFactory(task=scene.task, team=scene.team, is_baseline=True)
    with pytest.raises(UserError, match="0 of its 5"):
        correct(baseline, scene.organizer, is_baseline=False)


def test_a_primary_baseline_that_becomes_a_run_replaces_the_primary_run(
    scene: Scene, run: Run
) -> None:
    Run.objects.filter(pk=run.pk).update(is_primary=True)
    baseline = ValidRunFactory(task=scene.task, team=scene.team, is_baseline=True, is_primary=True)
    metadata = replace(metadata_of(baseline), is_baseline=False)
    correct_run(run=baseline, metadata=metadata, by=scene.organizer, at=NOW)
    primary = Run.objects.filter(is_primary=True, is_baseline=False)
    assert list(primary) == [baseline]


def test_a_withdrawn_run_cannot_be_corrected(scene: Scene) -> None:
    run = ValidRunFactory(task=scene.task, team=scene.team, withdrawn_at=NOW)
    with pytest.raises(UserError, match="was withdrawn"):
        correct(run, scene.member, tag="new")


def test_another_item_type_of_an_invalid_run_queues_another_check(scene: Scene) -> None:
    run = RunFactory(task=scene.task, team=scene.team, status="invalid", attempts=1)
    assert correct(run, scene.member, items="formula-ids")
    assert (fresh(run).status, fresh(run).attempts, fresh(run).items) == (
        "uploaded",
        0,
        "formula-ids",
    )


def test_another_item_type_of_a_valid_run_is_refused(scene: Scene, run: Run) -> None:
    with pytest.raises(UserError, match="its index and scores depend on the type"):
        correct(run, scene.organizer, items="formula-ids")


def test_another_check_of_an_invalid_run_needs_quota(scene: Scene) -> None:
    ValidRunFactory.create_batch(5, task=scene.task, team=scene.team)
    run = RunFactory(task=scene.task, team=scene.team, status="invalid")
    with pytest.raises(UserError, match="0 of its 5"):
        correct(run, scene.member, items="formula-ids")


def test_a_withdrawn_run_keeps_its_file_and_the_reason(scene: Scene, run: Run) -> None:
    withdraw_run(run=run, reason=" A bug in the index. ", by=scene.member, at=NOW)
    gone = fresh(run)
    assert (gone.state, gone.withdrawal_reason, gone.withdrawn_by) == (
        "withdrawn",
        "A bug in the index.",
        scene.member,
    )
    assert gone.index
    assert gone.upload.file
    assert not Run.objects.valid().exists()


def test_a_withdrawal_needs_a_reason(scene: Scene, run: Run) -> None:
    with pytest.raises(UserError, match="Enter a reason"):
        withdraw_run(run=run, reason="  ", by=scene.member, at=NOW)


def test_a_team_withdraws_after_the_deadline_too(scene: Scene, run: Run) -> None:
    close(scene, run)
    withdraw_run(run=run, reason="It copied the answers.", by=scene.member, at=NOW)
    assert fresh(run).withdrawn_at == NOW


def test_a_run_is_withdrawn_only_once(scene: Scene, run: Run) -> None:
    withdraw_run(run=run, reason="First.", by=scene.member, at=NOW)
    with pytest.raises(UserError, match="is already withdrawn"):
        withdraw_run(run=run, reason="Second.", by=scene.organizer, at=NOW)
    assert fresh(run).withdrawal_reason == "First."


def test_another_team_cannot_withdraw_a_run(scene: Scene, run: Run) -> None:
    with pytest.raises(UserError, match="not a member"):
        withdraw_run(run=run, reason="Ha.", by=scene.other_member, at=NOW)


def test_a_checked_run_is_submitted_without_a_new_upload(scene: Scene) -> None:
    run = ValidRunFactory(task=scene.task, team=scene.team, check_only=True)
    submit_checked_run(run=run, by=scene.member, at=NOW + timedelta(hours=1))
    assert (fresh(run).check_only, fresh(run).submitted_at) == (False, NOW + timedelta(hours=1))
    assert list(Run.objects.valid()) == [run]


def test_a_checked_run_is_submitted_under_the_same_rules(scene: Scene) -> None:
    ValidRunFactory.create_batch(5, task=scene.task, team=scene.team)
    run = ValidRunFactory(task=scene.task, team=scene.team, check_only=True)
    with pytest.raises(UserError, match="0 of its 5"):
        submit_checked_run(run=run, by=scene.member, at=NOW)


def test_a_checked_primary_run_becomes_the_primary_run_when_submitted(scene: Scene) -> None:
    earlier = ValidRunFactory(task=scene.task, team=scene.team, is_primary=True)
    run = ValidRunFactory(task=scene.task, team=scene.team, is_primary=True, check_only=True)
    submit_checked_run(run=run, by=scene.member, at=NOW)
    assert (fresh(run).is_primary, fresh(earlier).is_primary) == (True, False)


@pytest.mark.parametrize("state", [{"status": "invalid"}, {"check_only": False, "tag": "other"}])
def test_a_run_with_errors_or_already_submitted_cannot_be_submitted(
    scene: Scene, state: dict[str, object]
) -> None:
    run = ValidRunFactory(task=scene.task, team=scene.team, **({"check_only": True} | state))
    with pytest.raises(UserError):
        submit_checked_run(run=run, by=scene.member, at=NOW)
