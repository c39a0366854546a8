"""The search page: systems side by side, and who sees what."""

from __future__ import annotations

import pytest
from django.urls import reverse
from django.utils import timezone

from arqlab.core.models import Job
from arqlab.core.services.jobs import run_waiting_job
from tests.collection.factories import load_small

pytestmark = pytest.mark.django_db


@pytest.fixture
def small(scene, tmp_path, settings):
    """The scene's lab with the small collection: the answers 10 and 11 of thread 1, 12 of 2."""
    settings.DATA_DIR = tmp_path / "data"
    return load_small(scene.lab, tmp_path)


def page(scene):
    return reverse("retrieval:system-search", args=[scene.lab.slug])


def build(scene, client):
    client.post(reverse("retrieval:index-build", args=[scene.lab.slug]))
    job = Job.objects.get(kind="search-index")
    run_waiting_job(job_id=job.pk, at=timezone.now())
    job.refresh_from_db()
    assert job.state == "done"


def test_without_an_index_only_organizers_can_build_it(scene, small, client_of):
    asked = client_of(scene.organizer).get(page(scene))
    other = client_of(scene.assessor).get(page(scene))

    assert "has not been built yet" in other.text
    assert ("Build missing" in asked.text, "Build missing" in other.text) == (True, False)
    build_page = reverse("retrieval:index-build", args=[scene.lab.slug])
    assert client_of(scene.assessor).post(build_page).status_code == 404


def test_after_the_build_an_assessor_finds_the_answer_with_the_formula(scene, small, client_of):
    build(scene, client_of(scene.organizer))

    shown = client_of(scene.assessor).get(page(scene), {"q": "$x^2$"})

    words, formulas = shown.context["sides"]
    assert words.lacks == ""
    assert words.is_built
    assert formulas.found[0].formula_id
    assert formulas.found[0].title == "Another"
    assert "<math" in shown.text


def test_the_preview_is_typeset_before_the_search(scene, small, client_of):
    shown = client_of(scene.assessor).get(page(scene), {"q": "a $x$ b $y", "preview": "1"})
    assert shown.context["formulas"] == ["x"]
    assert "<math" in shown.text


def test_teams_and_visitors_have_no_search(scene, small, client, client_of):
    assert client.get(page(scene)).status_code == 404
    assert client_of(scene.member).get(page(scene)).status_code == 404
