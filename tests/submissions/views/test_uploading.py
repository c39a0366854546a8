"""The upload page."""

import re
from collections.abc import Callable

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from pytest_django import DjangoCaptureOnCommitCallbacks

from arqlab.core.models import Task, User
from submissions.models import Run
from tests.factories import FormulaTaskFactory, MemberFactory, Scene, TeamFactory
from tests.submissions.entry_points import NAME, upload, url
from tests.submissions.factories import GOOD_RUN, NOW, ValidRunFactory, zipped

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
    ValidRunFactory.create_batch(3, task=scene.task, team=scene.team)
    files = [SimpleUploadedFile(f"Alpha-task1-{tag}-auto-both-A.tsv", GOOD_RUN) for tag in "abc"]
    response = browser.post(url("run-upload"), {"team": scene.team.pk, "file": files})
    assert (response.status_code, Run.objects.count()) == (409, 3)
    assert "You submitted 3 runs, but team Alpha has only 2 of its 5 runs left" in response.text


def test_two_files_with_the_same_tag_are_refused(scene: Scene, browser: Client) -> None:
    files = [SimpleUploadedFile(f"Alpha-task1-a-{end}.tsv", GOOD_RUN) for end in ("auto", "manual")]
    response = browser.post(url("run-upload"), {"team": scene.team.pk, "file": files})
    assert (response.status_code, Run.objects.count()) == (409, 0)
    assert "two runs with the tag a in" in response.text


def test_the_rules_and_the_form_have_the_limit_that_uploads_are_checked_by(
    scene: Scene, browser: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    for rules in (browser.get(url("run-upload")), browser.get("/labs/arqmath-x/tasks/task1/")):
        assert "at most 16.0\xa0MB per run, and 64.0\xa0MB per .zip" in rules.text
    assert 'data-max-bytes="16777216"' in browser.get(url("run-upload")).text
    monkeypatch.setattr("submissions.selectors.MAX_RUN_BYTES", 100)
    monkeypatch.setattr("submissions.selectors.BYTES_PER_LINE", 0)
    refused = upload(browser, scene, b"A.1\t1\t1\t1\tt\n" * 20).text
    assert "is 240\xa0bytes; the limit for a run file is 100\xa0bytes." in refused
    assert upload(browser, scene, zipped({"a.tsv": GOOD_RUN})).status_code == 302


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
    upload(browser, scene, team=str(second.pk), name="bm25.tsv")
    assert Run.objects.get().team == second


def test_a_user_of_several_teams_must_choose_one(scene: Scene, client_of: SignIn) -> None:
    organizer = client_of(scene.organizer)
    assert (
        '<option value="" selected>Choose a team</option>' in organizer.get(url("run-upload")).text
    )
    response = upload(organizer, scene, team="", json=True)
    assert (response.status_code, response.json()["errors"]) == (
        422,
        ["Choose the team of the runs."],
    )


@pytest.mark.parametrize("person", ["member", "organizer"])
def test_another_team_in_the_file_name_is_asked_about_once(
    scene: Scene, client_of: SignIn, person: str
) -> None:
    client, name = client_of(getattr(scene, person)), "Beta-task1-bm25-auto-both-P.tsv"
    refused = upload(client, scene, name=name)
    question = "Upload for Alpha although the file name says Beta"
    assert (refused.status_code, Run.objects.count()) == (409, 0)
    assert "The file name says Beta, but you chose team Alpha." in refused.text
    assert f'value="{question}"' in refused.text
    assert upload(client, scene, name=name, confirm=question).status_code == 302
    assert Run.objects.get().team == scene.team


def test_a_script_gets_the_question_with_the_refusal(scene: Scene, browser: Client) -> None:
    refused = upload(browser, scene, name="Beta-task1-bm25-P.tsv", check="yes", json=True).json()
    assert refused["question"] == "Upload for Alpha although the file name says Beta"


def test_a_confirmation_counts_only_for_the_names_that_were_asked_about(
    scene: Scene, browser: Client
) -> None:
    question = "Upload for Alpha although the file name says Beta"
    TeamFactory(lab=scene.lab, name="Gamma")
    response = upload(browser, scene, name="Gamma-task1-bm25-P.tsv", confirm=question)
    assert (response.status_code, Run.objects.count()) == (409, 0)


def test_a_first_part_that_is_no_team_of_the_lab_is_not_asked_about(
    scene: Scene, browser: Client
) -> None:
    TeamFactory(name="bm25")  # of another lab
    assert upload(browser, scene, name="bm25-task1.tsv").status_code == 302
    assert Run.objects.get().tag == "bm25"


def test_the_runs_in_a_zip_are_compared_with_the_team_too(scene: Scene, browser: Client) -> None:
    members = {"x/Beta-task1-a-P.tsv": GOOD_RUN, "y/Alpha-task1-b-A.tsv": GOOD_RUN}
    response = upload(browser, scene, zipped(members), name="runs.zip")
    assert (response.status_code, Run.objects.count()) == (409, 0)
    assert "The file name says Beta" in response.text


@pytest.mark.parametrize("name", ["ALPHA-task1-a-P.tsv", "Al.pha -task1-a-P.tsv", "a.tsv"])
def test_case_and_punctuation_of_the_team_in_the_name_do_not_matter(
    scene: Scene, browser: Client, name: str
) -> None:
    assert upload(browser, scene, name=name).status_code == 302


def guessed_team(client: Client, *names: str) -> str | None:
    """Return the key of the team that the script chooses for these file names."""
    html = client.post(url("run-guess"), {"names": names}).text
    found = re.search(r'data-team="(\d+)"', html)
    return found and found[1]


def test_the_team_is_read_from_the_file_names(scene: Scene, client_of: SignIn) -> None:
    organizer = client_of(scene.organizer)
    assert guessed_team(organizer, "be_ta-task1-a.tsv", "b.tsv") == str(scene.other_team.pk)
    assert guessed_team(organizer, "Beta-task1-a.tsv", "Alpha-task1-b.tsv") is None
    assert guessed_team(organizer, "Betas-task1-a.tsv") is None


def test_a_name_that_fits_two_teams_chooses_none(scene: Scene, client_of: SignIn) -> None:
    TeamFactory(lab=scene.lab, name="Be ta")
    assert guessed_team(client_of(scene.organizer), "Beta-task1-a.tsv") is None


def test_a_member_does_not_learn_of_other_teams_from_a_name(scene: Scene, browser: Client) -> None:
    assert guessed_team(browser, "Beta-task1-a.tsv") is None


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
        reverse("teams:team-create", args=["arqmath-x"])
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


def test_a_name_without_team_and_task_comes_with_advice(browser: Client, scene: Scene) -> None:
    advice = "This name does not contain a team and a task"
    assert advice in browser.post(url("run-guess"), {"names": ["bm25.tsv"]}).text
    assert advice not in browser.post(url("run-guess"), {"names": [NAME]}).text


def test_a_name_of_another_task_of_the_lab_comes_with_advice(browser: Client, scene: Scene) -> None:
    FormulaTaskFactory(lab=scene.lab, slug="task2")
    html = browser.post(url("run-guess"), {"names": ["Alpha-task2-a.tsv", "Alpha-task7-a.tsv"]})
    assert html.text.count("The file name says task2, which is Formula retrieval.") == 1
    assert "says task7" not in html.text


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
