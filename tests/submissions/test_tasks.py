"""Background tasks of runs."""

from datetime import timedelta

import pytest
from django.utils import timezone

from submissions import tasks
from submissions.models import Run
from tests.factories import Scene
from tests.submissions.factories import RunFactory

pytestmark = pytest.mark.django_db


def test_the_task_validates_a_run(scene: Scene) -> None:
    run = RunFactory(task=scene.task, team=scene.team)
    tasks.validate_next_run()
    assert Run.objects.get(pk=run.pk).status == "valid"


def test_a_second_message_does_nothing(scene: Scene) -> None:
    run = RunFactory(task=scene.task, team=scene.team)
    tasks.validate_next_run()
    tasks.validate_next_run()
    assert Run.objects.get(pk=run.pk).attempts == 1


def test_a_message_without_a_run_is_not_an_error(db: None) -> None:
    tasks.validate_next_run()
    assert not Run.objects.exists()


def test_runs_left_by_lost_messages_and_dead_workers_are_validated(scene: Scene) -> None:
    lost = RunFactory(task=scene.task, team=scene.team)
    dead = RunFactory(
        task=scene.task,
        team=scene.team,
        status="validating",
        attempts=1,
        status_changed_at=timezone.now() - timedelta(hours=1),
    )
    tasks.validate_waiting_runs()
    assert set(Run.objects.filter(pk__in=[lost.pk, dead.pk]).values_list("status", flat=True)) == {
        "valid"
    }
