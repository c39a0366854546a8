"""The API of runs."""

from collections.abc import Callable
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from pytest_django import DjangoAssertNumQueries, DjangoCaptureOnCommitCallbacks

from arqlab.core.models import Task, User
from submissions.models import Run
from submissions.services.validation import validate_uploaded_run
from tests.factories import MemberFactory, Scene, TeamFactory
from tests.submissions.entry_points import NAME
from tests.submissions.factories import BAD_RUN, GOOD_RUN, NOW, ValidRunFactory, zipped

pytestmark = pytest.mark.django_db
SignIn = Callable[[User], Client]


def address(name: str, *run: int) -> str:
    return reverse(f"submissions:api-{name}", args=["arqmath-x", "task1", *run])


def send(client: Client, data: bytes = GOOD_RUN, *, name: str = NAME, **fields: str) -> Any:
    return client.post(address("run-list"), {"file": SimpleUploadedFile(name, data)} | fields)


def test_an_upload_is_accepted_and_its_report_can_be_read(
    browser: Client, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        response = send(browser, BAD_RUN)
    assert (response.status_code, response.json()[0]["state"]) == (202, "uploaded")
    report = browser.get(response.json()[0]["report"]).json()
    assert (report["state"], report["valid"], report["format"]) == (
        "invalid",
        False,
        "arqmath-task1",
    )
    assert {"duplicate-item", "score-not-a-number"} <= {
        problem["kind"] for problem in report["problems"]
    }


def test_given_metadata_takes_precedence_over_the_file_name(browser: Client, scene: Scene) -> None:
    send(browser, tag="mine", is_primary="false", description="Plain.")
    run = Run.objects.get()
    assert (run.tag, run.is_primary, run.description, run.data_used) == (
        "mine",
        False,
        "Plain.",
        "both",
    )


def test_only_an_organizer_uploads_a_run_out_of_competition(
    browser: Client, scene: Scene, client_of: SignIn
) -> None:
    late = {"team": scene.team.name, "out_of_competition": "Too late."}

    refused = send(browser, **late)
    taken = send(client_of(scene.organizer), **late)

    assert (refused.status_code, refused.json()["code"]) == (409, "role")
    assert taken.json()[0]["standing"] == "out-of-competition"
    assert Run.objects.get().out_of_competition == "Too late."


def test_a_run_that_is_only_checked_looks_so_until_it_is_submitted(
    browser: Client, scene: Scene
) -> None:
    [run] = send(browser, check_only="yes").json()
    validate_uploaded_run(run_id=run["id"], at=NOW)
    listed = browser.get(f"{address('run-list')}?standing=checked").json()["results"]
    browser.post(address("run-submit", run["id"]))
    [submitted] = browser.get(address("run-list")).json()["results"]

    assert (run["standing"], run["check_only"]) == ("checked", True)
    assert [row["id"] for row in listed] == [run["id"]]
    assert (submitted["standing"], submitted["check_only"]) == ("official", False)


def test_a_zip_creates_several_runs(browser: Client, scene: Scene) -> None:
    response = send(browser, zipped({"a.tsv": GOOD_RUN, "b.tsv": GOOD_RUN}), name="runs.zip")
    assert [run["file"] for run in response.json()] == ["a.tsv", "b.tsv"]


def test_a_file_can_only_be_checked(browser: Client, scene: Scene) -> None:
    assert send(browser, check_only="true").json()[0]["check_only"]


def test_a_refusal_has_a_message_and_a_code(browser: Client, scene: Scene) -> None:
    Task.objects.update(deadline=NOW.replace(year=2020))
    response = send(browser)
    assert (response.status_code, response.json()["code"]) == (409, "closed")
    assert "Ask an organizer" in response.json()["message"]


def test_a_member_cannot_send_a_baseline(browser: Client, scene: Scene) -> None:
    assert send(browser, is_baseline="true").json()["code"] == "role"


def test_a_member_of_two_teams_names_one(browser: Client, scene: Scene) -> None:
    MemberFactory(team=TeamFactory(lab=scene.lab, name="Gamma"), user=scene.member)
    [problem] = send(browser).json()["errors"]
    assert (problem["field"], problem["expected"]) == (
        "team",
        "Name one of your teams: Alpha, Gamma.",
    )
    assert send(browser, team="gamma", name="a.tsv").json()[0]["team"] == "Gamma"


def test_another_team_in_the_file_name_needs_a_confirmation(browser: Client, scene: Scene) -> None:
    refused = send(browser, name="Beta-task1-a-P.tsv")
    assert (refused.status_code, refused.json()["code"]) == (409, "team-differs")
    assert "file name says Beta" in refused.json()["message"]
    sent = send(browser, name="Beta-task1-a-P.tsv", confirm_team="true").json()
    assert sent[0]["team"] == "Alpha"


def test_another_team_cannot_be_named(browser: Client, scene: Scene) -> None:
    assert send(browser, team="Beta").status_code == 400


def test_the_list_has_the_runs_of_the_users_team(
    scene: Scene, browser: Client, valid_run: Run
) -> None:
    ValidRunFactory(task=scene.task, team=scene.other_team)
    assert [run["id"] for run in browser.get(address("run-list")).json()["results"]] == [
        valid_run.pk
    ]


def test_a_long_list_of_runs_needs_few_queries(
    scene: Scene, client_of: SignIn, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    organizer = client_of(scene.organizer)
    ValidRunFactory.create_batch(30, task=scene.task, team=scene.team)
    with django_assert_num_queries(6):
        assert len(organizer.get(address("run-list")).json()["results"]) == 30


def test_a_run_has_its_state_and_file(browser: Client, valid_run: Run) -> None:
    run = browser.get(address("run-detail", valid_run.pk)).json()
    assert (run["state"], run["tag"], run["sha256"]) == ("valid", "bm25", "0" * 64)


def test_the_schema_describes_uploads_and_reports(client: Client, db: None) -> None:
    schema = client.get(reverse("server:api-schema")).text
    for word in (
        "/api/v1/labs/{lab}/tasks/{task}/runs/",
        "multipart/form-data",
        "format_name",
        "check_only",
    ):
        assert word in schema
