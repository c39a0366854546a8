"""The team of an upload: read from the file name, asked about when the two differ."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from arqlab.core.models import Team
from submissions.models import Run
from tests.browser.conftest import enter
from tests.browser.test_first_path import DROP
from tests.factories import make_lab
from tests.submissions.factories import GOOD_RUN

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def open_upload(page):
    """Open the upload page as an organizer and return the scene and the list of teams."""
    scene = make_lab()
    page.goto("/healthz/")
    enter(page, scene.organizer)
    page.goto("/labs/arqmath-x/tasks/task1/runs/upload/")
    return scene, page.get_by_label("Team", exact=True)


def drop(page, name):
    page.evaluate(DROP, [name, GOOD_RUN.decode()])


def test_the_team_follows_the_file_names_until_it_is_chosen(page):
    scene, team = open_upload(page)
    expect(team).to_have_value("")
    drop(page, "beta-task1-a-auto-both-P.tsv")
    expect(team).to_have_value(str(scene.other_team.pk))
    drop(page, "Alpha-task1-b-auto-both-A.tsv")
    expect(team).to_have_value("")
    team.select_option("Alpha")
    page.get_by_role("button", name="Remove Alpha").click()
    expect(page.get_by_text("Team in the file name: beta.")).to_be_visible()
    expect(team).to_have_value(str(scene.team.pk))


def test_another_team_in_the_file_name_is_confirmed_with_a_checkbox(page, look):
    _, team = open_upload(page)
    drop(page, "Gamma-task1-tangent-auto-both-P.tsv")
    expect(page.get_by_text("Team in the file name: Gamma.")).to_be_visible()
    team.select_option("Alpha")
    page.get_by_role("button", name="Submit runs").click()
    box = page.get_by_label("Upload for Alpha although the file name says Gamma")
    expect(box).not_to_be_checked()
    look("team-differs")
    assert not Run.objects.exists()
    box.check()
    page.get_by_role("button", name="Submit runs").click()
    expect(page.get_by_role("heading", level=1, name="tangent")).to_be_visible()
    assert Run.objects.get().team == Team.objects.get(name="Alpha")
