"""Baselines wait in the lane of their system, and can be cancelled there."""

import pytest
from django.urls import reverse
from django.utils import timezone

from arqlab.core.models import Job
from arqlab.web.jobs import JobLane, lane_of_job
from contrib.retrieval.services.systems import SYSTEMS


def baseline(system, **fields):
    at = timezone.now()
    return Job(kind="baseline", options={"system": system}, created_at=at, updated_at=at, **fields)


def test_a_combination_waits_for_no_training():
    assert {lane_of_job(baseline(key)) for key in SYSTEMS} == {JobLane.MINUTES, JobLane.HOURS}
    assert (lane_of_job(baseline("combination")), lane_of_job(baseline("equations"))) == (
        JobLane.MINUTES,
        JobLane.HOURS,
    )


@pytest.mark.django_db
def test_a_waiting_baseline_has_a_button_to_cancel_it(scene, client_of):
    stored = baseline("random", lab=scene.lab, task=scene.task, by=scene.organizer)
    stored.options |= {"settings": {"seed": 0}, "tag": "random"}
    stored.key = f"{scene.task.pk}/random"
    stored.save()
    page = client_of(scene.organizer).get(reverse("retrieval:baseline-list", args=["arqmath-x"]))

    assert f'action="{reverse("desk:load-stop", args=[stored.pk])}"' in page.content.decode()
    assert "Cancel" in page.content.decode()
