"""Work of several owners is done in turns."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arqlab.core.models import Job
from arqlab.core.turns import in_turns
from arqlab.jobs.services.jobs import run_next_job
from arqlab.web.jobs import JOB_KINDS, JobKind
from submissions.models import Run
from submissions.services.validation import validate_run_in_turn
from tests.factories import Scene, TeamFactory, UserFactory
from tests.submissions.factories import NOW, RunFactory

WAITING = [("a1", "a"), ("a2", "a"), ("a3", "a"), ("b1", "b")]


def test_each_owner_gets_a_turn_before_anyone_gets_a_second():
    assert in_turns(WAITING) == ["a1", "b1", "a2", "a3"]


def test_the_owner_with_the_fewest_in_progress_is_next():
    assert in_turns(WAITING, running=["a", "b", "b"]) == ["a1", "a2", "b1", "a3"]


def test_the_owner_who_was_served_longest_ago_is_next():
    served = {"a": datetime(2026, 1, 2, tzinfo=UTC), "b": datetime(2026, 1, 1, tzinfo=UTC)}

    assert in_turns(WAITING, served=served) == ["b1", "a1", "a2", "a3"]


@given(st.lists(st.sampled_from("abc")), st.lists(st.sampled_from("abc")))
def test_everything_is_taken_once_and_each_owners_in_its_order(owners, running):
    waiting = list(enumerate(owners))
    taken = in_turns(waiting, running=running)

    assert sorted(taken) == list(range(len(owners)))
    for owner in owners:
        mine = [item for item in taken if owners[item] == owner]
        assert mine == sorted(mine)


@pytest.mark.django_db
def test_fifty_uploads_of_a_team_do_not_delay_another_team(scene: Scene) -> None:
    for _ in range(50):
        RunFactory(task=scene.task, team=scene.team)
    late = RunFactory(task=scene.task, team=TeamFactory(lab=scene.lab))

    checked = 0
    while Run.objects.get(pk=late.pk).status == Run.Status.UPLOADED:
        assert validate_run_in_turn(at=NOW + timedelta(seconds=checked))
        checked += 1

    assert checked <= 2


@pytest.mark.django_db
def test_many_jobs_of_a_person_do_not_delay_another_person(scene, monkeypatch) -> None:
    monkeypatch.setitem(JOB_KINDS, "candidates", JobKind("A job", lambda job: []))
    one, other = scene.organizer, UserFactory()
    fields = {"kind": "candidates", "lab": scene.lab, "created_at": NOW, "updated_at": NOW}
    for by in [one] * 10 + [other]:
        Job.objects.create(by=by, **fields)

    for _ in range(2):
        assert run_next_job(at=NOW)

    assert Job.objects.filter(by=other, state="done").exists()
