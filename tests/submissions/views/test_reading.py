"""The pages that show runs, and who may see them."""

import re
from collections.abc import Callable

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries, DjangoCaptureOnCommitCallbacks

from arqlab.core.models import User
from arqlab.notices.models import Kind, Notice
from submissions.models import Run
from tests.factories import Scene
from tests.submissions.entry_points import upload, url
from tests.submissions.factories import BAD_RUN, GOOD_RUN, RunFactory, ValidRunFactory, zipped

pytestmark = pytest.mark.django_db
DISTANCES = b"".join(b"A.1\t%d\t%d\t0.%d\tbm25\n" % (9 + n, n, n) for n in range(1, 5))
SignIn = Callable[[User], Client]


def test_members_see_the_runs_of_their_team(scene: Scene, browser: Client, valid_run: Run) -> None:
    ValidRunFactory(task=scene.task, team=scene.other_team, tag="secret")
    html = browser.get(url("run-list")).text
    assert "bm25" in html
    assert "secret" not in html


def test_organizers_see_all_runs(scene: Scene, client_of: SignIn, valid_run: Run) -> None:
    ValidRunFactory(task=scene.task, team=scene.other_team, tag="theirs")
    html = client_of(scene.organizer).get(url("run-list")).text
    assert "bm25" in html
    assert "theirs" in html


def test_a_long_list_of_runs_needs_few_queries(
    scene: Scene, client_of: SignIn, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    organizer = client_of(scene.organizer)
    ValidRunFactory.create_batch(30, task=scene.task, team=scene.team)
    with django_assert_num_queries(16):
        organizer.get(url("run-list"))


def test_runs_are_searched_filtered_sorted_and_paged(scene: Scene, client_of: SignIn) -> None:
    ValidRunFactory.create_batch(120, task=scene.task, team=scene.other_team)
    ValidRunFactory(task=scene.task, team=scene.team, tag="aardvark", withdrawn_at=timezone.now())
    organizer = client_of(scene.organizer)

    def found(query: str) -> tuple[bool, str]:
        html = organizer.get(f"{url('run-list')}?{query}").text
        [count] = re.findall(r"(\d+) rows?", html)
        return ">aardvark<" in html, count

    assert found("sort=-run") == (False, "121")
    assert found("sort=run") == (True, "121")
    assert found("sort=-run&page=2") == (True, "121")
    for query in ("q=AARDVARK", f"team={scene.team.name}", "state=withdrawn"):
        assert found(query) == (True, "1")
    assert found("q=aardvark&state=valid") == (False, "0")


def test_an_empty_list_explains_how_to_submit_runs(browser: Client, scene: Scene) -> None:
    assert "No runs yet" in browser.get(url("run-list")).text


@pytest.mark.parametrize("page", ["run-list", "run-upload"])
def test_assessors_do_not_see_pages_of_runs(scene: Scene, client_of: SignIn, page: str) -> None:
    assert client_of(scene.assessor).get(url(page)).status_code == 404


def test_a_run_is_not_found_below_another_task(scene: Scene, browser: Client) -> None:
    elsewhere = ValidRunFactory(team__lab=scene.lab, task__lab=scene.lab)
    assert browser.get(url("run-detail", elsewhere.pk)).status_code == 404


def test_the_page_of_a_waiting_run_polls_its_state_each_second(
    scene: Scene, browser: Client
) -> None:
    run = RunFactory(task=scene.task, team=scene.team)
    html = browser.get(url("run-detail", run.pk)).text
    assert 'hx-get="?seen=uploaded-0" hx-trigger="every 1s"' in html
    assert browser.get(url("run-detail", run.pk), {"seen": "uploaded-0"}).status_code == 204


def test_a_finished_check_is_shown_and_announced(
    scene: Scene, browser: Client, valid_run: Run
) -> None:
    page = url("run-detail", valid_run.pk)
    html = browser.get(page, {"seen": "validating"}, headers={"HX-Request": "true"}).text
    assert "No errors: the run is valid" in html
    assert "Validation finished: the run is valid." in html
    assert "every 1s" not in html


def test_the_report_shows_counts_lines_and_remedies(
    scene: Scene,
    browser: Client,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        page = upload(browser, scene, BAD_RUN)["Location"]
    html = browser.get(page).text
    for words in (
        "2 types of error, 2 occurrences",
        "Keep each item once.",
        "the item once; it is already on line 1",
    ):
        assert words in html


def test_a_valid_run_of_distances_is_not_called_faultless(
    scene: Scene,
    browser: Client,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        page = upload(browser, scene, DISTANCES)["Location"]
    html = browser.get(page).text
    notice = Notice.objects.get(user=scene.member, kind=Kind.RUNS_VALIDATED)

    assert "No errors" not in html
    assert "The run is valid, but its scores may mean nothing" in html
    assert "Scores rise with rank in 1 of 1 topics" in html
    assert "Scores rise with rank in 1 of 1 topics" in notice.text


def test_a_report_needs_few_queries(
    browser: Client, valid_run: Run, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    with django_assert_num_queries(12):
        browser.get(url("run-detail", valid_run.pk))


def test_hostile_text_from_a_file_is_escaped(
    scene: Scene,
    browser: Client,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        page = upload(browser, scene, b"A.1\t10\t1\t<script>x</script>\t<b>`x`</b>\n")["Location"]
    assert "<script>x" not in browser.get(page).text
    assert "<b>`" not in browser.get(page).text


def test_all_problems_can_be_downloaded(
    scene: Scene,
    browser: Client,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        upload(browser, scene, BAD_RUN)
    rows = browser.get(url("run-problems", Run.objects.get().pk)).text.splitlines()
    assert rows[0] == "kind\tseverity\tline\ttopic\tfound\texpected"
    assert any(row.startswith("duplicate-item\terror\t2\tA.1\t10\t") for row in rows)


def test_a_run_that_was_not_checked_has_no_problems_to_download(
    scene: Scene, browser: Client
) -> None:
    run = RunFactory(task=scene.task, team=scene.team)
    assert browser.get(url("run-problems", run.pk)).status_code == 404


def test_the_original_file_can_be_downloaded(scene: Scene, browser: Client) -> None:
    data = zipped({"run.tsv": GOOD_RUN})
    upload(browser, scene, data, name="runs.zip")
    response = browser.get(url("run-file", Run.objects.get().pk))
    assert b"".join(response.streaming_content) == data
    assert response["Content-Disposition"] == 'attachment; filename="runs.zip"'


def test_organizers_download_the_run_map(scene: Scene, client_of: SignIn, valid_run: Run) -> None:
    Run.objects.filter(pk=valid_run.pk).update(identifier="bm25-early", is_primary=True)
    ValidRunFactory(task=scene.task, team=scene.other_team, status="invalid")

    page = client_of(scene.organizer).get(url("run-list")).text
    response = client_of(scene.organizer).get(url("run-map"))

    assert url("run-map") in page
    assert response["Content-Type"] == "text/csv; charset=utf-8"
    assert response.text == (
        "run_id,team,tag,file,kind,type,data,standing,withdrawn\n"
        f'bm25-early,Alpha,bm25,{valid_run.file_name},primary,automatic,"",official,""\n'
    )


@pytest.mark.parametrize("person", ["outsider", "member", "assessor"])
def test_only_organizers_download_the_run_map(scene: Scene, client_of: SignIn, person: str) -> None:
    assert client_of(getattr(scene, person)).get(url("run-map")).status_code == 404


def test_the_page_warns_of_rows_that_the_repaired_file_leaves_out(
    scene: Scene, browser: Client
) -> None:
    repair = [{"kind": "removed", "line": 4, "text": "-B.1"}]
    run = RunFactory(task=scene.task, team=scene.team, status="invalid", report={"repair": repair})
    run.problems.create(
        position=0,
        kind="wrong-post",
        severity="error",
        count=3,
        message="3 lines.",
        todo="Left out.",
        is_repairable=True,
    )

    page = " ".join(browser.get(url("run-detail", run.pk)).text.split())

    assert "It leaves out 3 rows whose formula is in another post." in page
