"""Baselines belong to the lab itself: no team, no member."""

import pytest
from django.core.files.base import ContentFile
from django.urls import reverse
from django.utils import timezone

from arqlab.core.errors import UserError
from arqlab.core.models import Lab, Membership, Task
from arqlab.labs.selectors import lab_rows
from arqlab.teams.services import join_team, lab_team
from submissions.models import Run
from submissions.services.changing import move_run
from tests.evaluation.factories import make_run

NAME = "bm25.tsv"


def sent():
    return ContentFile(b"A.1\t10\t1\t2.5\tbm25\n", name=NAME)


def upload(scene, client, **metadata):
    address = reverse("submissions:run-upload", args=[scene.lab.slug, scene.task.slug])
    fields = {"name": NAME, "tag": "bm25", "is_primary": "False", "is_manual": "False"}
    sent_fields = {f"run0-{key}": value for key, value in (fields | metadata).items()}
    return client.post(address, {"file": sent(), "submit": "yes", **sent_fields})


def test_an_organizer_uploads_a_baseline_without_a_team(scene, client_of):
    answer = upload(scene, client_of(scene.organizer), is_baseline="True")

    run = Run.objects.get()
    assert (answer.status_code, run.is_baseline, run.team.is_lab) == (302, True, True)
    assert not Membership.objects.filter(team=run.team).exists()
    assert not Membership.objects.filter(user=scene.organizer, role="member").exists()


def test_a_run_that_is_no_baseline_needs_a_team(scene, client_of):
    answer = upload(scene, client_of(scene.organizer), is_baseline="False")

    assert "Choose the team of the runs." in answer.content.decode()
    assert not Run.objects.exists()


def test_nobody_joins_the_lab_itself(scene):
    with pytest.raises(UserError, match="has no members"):
        join_team(team=lab_team(scene.lab), user=scene.organizer)


def test_a_run_moved_to_the_lab_is_a_baseline_and_one_moved_from_it_is_none(scene):
    run, now = make_run(scene.team, scene.task), timezone.now()

    move_run(run=run, team=lab_team(scene.lab), by=scene.organizer, at=now)
    assert Run.objects.get(pk=run.pk).is_baseline
    move_run(run=run, team=scene.team, by=scene.organizer, at=now)
    assert not Run.objects.get(pk=run.pk).is_baseline


def test_the_lab_itself_is_not_among_its_teams(scene, client_of):
    made, organizer = lab_team(scene.lab), client_of(scene.organizer)

    for name in ("teams:people-list", "notices:invitation-list"):
        page = organizer.get(reverse(name, args=[scene.lab.slug])).text
        assert (scene.team.name in page, made.name in page) == (True, False), name
    [row] = lab_rows(Lab.objects.all(), tasks=Task.objects.all(), at=timezone.now())
    assert row.teams == 2
