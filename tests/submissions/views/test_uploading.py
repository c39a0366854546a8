"""The upload page."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from pytest_django import DjangoCaptureOnCommitCallbacks

from arqlab.core.models import Task, User
from submissions.models import Run
from tests.factories import MemberFactory, Scene, TeamFactory
from tests.submissions.entry_points import NAME, upload, url
from tests.submissions.factories import GOOD_RUN, NOW, ValidRunFactory

pytestmark = pytest.mark.django_db
SignIn = Callable[[User], Client]


def test_an_uploaded_run_is_validated_after_commit(
    scene: Scene,
    browser: Client,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        response = upload(browser, scene)
    run = Run.objects.get()
    assert (response.status_code, response["Location"]) == (302, url("run-detail", run.pk))
    assert (run.status, run.is_primary, run.submitted_by) == ("valid", True, scene.member)


def test_a_script_gets_the_location_as_json(scene: Scene, browser: Client) -> None:
    assert upload(browser, scene, json=True).json() == {
        "location": url("run-detail", Run.objects.get().pk)
    }


def test_several_files_at_once_lead_to_the_list(scene: Scene, browser: Client) -> None:
    files = [
        SimpleUploadedFile(f"Alpha-task1-{tag}-auto-both-A.tsv", GOOD_RUN) for tag in ("a", "b")
    ]
    response = browser.post(url("run-upload"), {"team": scene.team.pk, "file": files})
    assert (response["Location"], Run.objects.count()) == (url("run-list"), 2)


def test_either_all_files_are_submitted_or_none(scene: Scene, browser: Client) -> None:
    ValidRunFactory.create_batch(4, task=scene.task, team=scene.team)
    files = [
        SimpleUploadedFile(f"Alpha-task1-{tag}-auto-both-A.tsv", GOOD_RUN) for tag in ("a", "b")
    ]
    response = browser.post(url("run-upload"), {"team": scene.team.pk, "file": files})
    assert (response.status_code, Run.objects.count()) == (409, 4)
    assert "has only 0 of its 5 runs" in response.text


def test_check_only_does_not_submit(scene: Scene, browser: Client) -> None:
    upload(browser, scene, check="yes")
    assert Run.objects.get().check_only


def test_metadata_in_the_form_takes_precedence_over_the_file_name(
    scene: Scene, browser: Client
) -> None:
    said = {
        "run0-name": NAME,
        "run0-tag": "mine",
        "run0-is_primary": "False",
        "run0-is_manual": "True",
    }
    upload(browser, scene, **said)
    run = Run.objects.get()
    assert (run.tag, run.is_primary, run.is_manual) == ("mine", False, True)


def test_a_correction_without_tag_is_refused_with_a_message(scene: Scene, browser: Client) -> None:
    said = {"run0-name": NAME, "run0-tag": "", "run0-is_primary": "False", "run0-is_manual": "True"}
    response = upload(browser, scene, json=True, **said)
    assert (response.status_code, response.json()["errors"]) == (
        422,
        ["Enter a run tag. The leaderboard shows it."],
    )


def test_an_upload_without_a_file_is_refused_with_a_message(scene: Scene, browser: Client) -> None:
    response = browser.post(url("run-upload"), {"team": scene.team.pk})
    assert response.status_code == 422
    assert "Choose at least one run file." in response.text


def test_a_script_gets_a_refusal_as_json(scene: Scene, browser: Client) -> None:
    Task.objects.update(deadline=NOW.replace(year=2020))
    response = upload(browser, scene, json=True)
    assert response.status_code == 409
    assert response.json()["errors"][0].startswith("Answer retrieval closed on 1 May 2020")


def test_a_member_cannot_choose_another_team(scene: Scene, browser: Client) -> None:
    response = upload(browser, scene, team=str(scene.other_team.pk))
    assert (response.status_code, Run.objects.count()) == (422, 0)


def test_a_member_of_two_teams_chooses_one(scene: Scene, browser: Client) -> None:
    second = TeamFactory(lab=scene.lab, name="Gamma")
    MemberFactory(team=second, user=scene.member)
    assert "Gamma" in browser.get(url("run-upload")).text
    upload(browser, scene, team=str(second.pk))
    assert Run.objects.get().team == second


def test_an_organizer_adds_a_baseline_for_any_team(scene: Scene, client_of: SignIn) -> None:
    said = {
        "run0-name": NAME,
        "run0-tag": "tfidf",
        "run0-is_primary": "True",
        "run0-is_manual": "False",
    }
    upload(client_of(scene.organizer), scene, **said, **{"run0-is_baseline": "True"})
    assert Run.objects.get().is_baseline


def test_a_member_cannot_submit_a_baseline(scene: Scene, browser: Client) -> None:
    said = {
        "run0-name": NAME,
        "run0-tag": "tfidf",
        "run0-is_primary": "True",
        "run0-is_manual": "False",
    }
    upload(browser, scene, **said, **{"run0-is_baseline": "True"})
    assert not Run.objects.get().is_baseline


def test_a_user_without_a_team_learns_how_to_get_one(client_of: SignIn, scene: Scene) -> None:
    assert (
        reverse("core:team-create", args=["arqmath-x"])
        in client_of(scene.outsider).get(url("run-upload")).text
    )


def test_the_upload_page_shows_the_rules(scene: Scene, browser: Client) -> None:
    html = browser.get(url("run-upload")).text
    for words in (
        "5 of 5 runs left",
        "Query_Id, Post_Id, Rank, Score, Run_Number",
        "at most 1,000",
        "No deadline",
    ):
        assert words in html


def test_files_can_only_be_checked_after_the_deadline(scene: Scene, browser: Client) -> None:
    Task.objects.update(deadline=NOW.replace(year=2020))
    html = browser.get(url("run-upload")).text
    assert "Submit runs" not in html
    assert "Check only" in html


def test_the_forms_are_filled_from_the_file_names(browser: Client, scene: Scene) -> None:
    html = browser.post(url("run-guess"), {"names": [NAME, "runs.zip"]}).text
    assert 'value="bm25"' in html
    assert '<option value="True" selected>Primary</option>' in html
    assert "runs.zip" not in html


def test_corrections_are_kept_when_a_file_is_added(browser: Client, scene: Scene) -> None:
    known = {"run0-name": NAME, "run0-tag": "mine", "run0-is_primary": "False"}
    html = browser.post(url("run-guess"), {"names": ["other.tsv", NAME], **known}).text
    assert 'name="run1-tag" value="mine"' in html
    assert 'name="run0-tag" value="other"' in html


def test_only_organizers_see_the_field_for_baselines(
    browser: Client, scene: Scene, client_of: SignIn
) -> None:
    asked = {"names": [NAME]}
    assert "is_baseline" not in browser.post(url("run-guess"), asked).text
    assert "is_baseline" in client_of(scene.organizer).post(url("run-guess"), asked).text
