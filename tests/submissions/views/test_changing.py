"""The pages that change runs."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pytest_django import DjangoCaptureOnCommitCallbacks

from arqlab.core.models import AuditEvent, Task, User
from submissions.models import Run
from submissions.services.changing import move_run
from submissions.services.uploads import submit_upload
from tests.factories import FormulaTaskFactory, Scene
from tests.submissions.entry_points import upload, url
from tests.submissions.factories import (
    BAD_RUN,
    GOOD_RUN,
    NOW,
    RunFactory,
    ValidRunFactory,
    sent,
    zipped,
)

pytestmark = pytest.mark.django_db
SignIn = Callable[[User], Client]


def bad_run(browser: Client, scene: Scene, capture: DjangoCaptureOnCommitCallbacks) -> Run:
    with capture(execute=True):
        upload(browser, scene, b"\xef\xbb\xbfA.1\t10\t1\t2\tt\nA.1\t10\t2\t1\tt\n")
    return Run.objects.get()


@pytest.mark.parametrize(
    "page", ["run-primary", "run-submit", "run-repaired", "run-withdraw", "run-edit"]
)
def test_other_users_cannot_change_a_run(
    scene: Scene, client_of: SignIn, valid_run: Run, page: str
) -> None:
    assert (
        client_of(scene.other_member).post(url(page, valid_run.pk), {"reason": "x"}).status_code
        == 404
    )


def test_the_repaired_file_can_be_downloaded(
    scene: Scene,
    browser: Client,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    run = bad_run(browser, scene, django_capture_on_commit_callbacks)
    assert "A repaired file is ready" in browser.get(url("run-detail", run.pk)).text
    response = browser.get(url("run-repaired", run.pk))
    assert response.content == b"A.1\t10\t1\t2\tt\n"
    assert "bm25-auto-both-P.repaired.tsv" in response["Content-Disposition"]


@pytest.mark.parametrize(("button", "is_check"), [("submit", False), ("check", True)])
def test_the_repaired_file_is_submitted_with_the_metadata_of_the_run(
    scene: Scene,
    browser: Client,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
    button: str,
    is_check: bool,
) -> None:
    run = bad_run(browser, scene, django_capture_on_commit_callbacks)
    with django_capture_on_commit_callbacks(execute=True):
        browser.post(url("run-repaired", run.pk), {button: "yes"})
    repaired = Run.objects.exclude(pk=run.pk).get()
    assert (repaired.status, repaired.tag, repaired.check_only) == ("valid", "bm25", is_check)


def test_a_run_without_repairs_has_no_repaired_file(scene: Scene, browser: Client) -> None:
    run = RunFactory(task=scene.task, team=scene.team)
    assert browser.get(url("run-repaired", run.pk)).status_code == 404


def test_a_correction_is_saved(browser: Client, valid_run: Run) -> None:
    said = {
        "tag": "bm25f",
        "is_primary": "True",
        "is_manual": "False",
        "description": "With fields.",
    }
    assert browser.post(url("run-edit", valid_run.pk), said).status_code == 302
    valid_run.refresh_from_db()
    assert (valid_run.tag, valid_run.is_primary, valid_run.description) == (
        "bm25f",
        True,
        "With fields.",
    )


def test_a_refused_correction_shows_the_reason(
    scene: Scene, browser: Client, valid_run: Run
) -> None:
    ValidRunFactory(task=scene.task, team=scene.team, tag="tfidf")
    said = {"tag": "tfidf", "is_primary": "True", "is_manual": "False"}
    response = browser.post(url("run-edit", valid_run.pk), said)
    assert (response.status_code, "two runs with the tag tfidf" in response.text) == (422, True)


def test_a_withdrawn_run_keeps_its_page(browser: Client, valid_run: Run) -> None:
    browser.post(url("run-withdraw", valid_run.pk), {"reason": "A bug in the <index>."})
    html = browser.get(url("run-detail", valid_run.pk)).text
    assert "chip-withdrawn" in html
    assert "A bug in the &lt;index&gt;." in html


def test_a_withdrawal_needs_a_reason(browser: Client, valid_run: Run) -> None:
    response = browser.post(url("run-withdraw", valid_run.pk), {"reason": ""})
    assert (response.status_code, "Enter a reason" in response.text) == (422, True)


def test_an_organizer_moves_a_run_on_its_page(
    scene: Scene, client_of: SignIn, valid_run: Run
) -> None:
    organizer, address = client_of(scene.organizer), url("run-move", valid_run.pk)
    assert address in organizer.get(url("run-detail", valid_run.pk)).text
    assert "Beta 5" in organizer.get(address).text

    page = organizer.post(address, {"team": scene.other_team.pk}, follow=True).text

    assert "Run bm25 was moved from team Alpha to team Beta." in page
    assert Run.objects.get(pk=valid_run.pk).team == scene.other_team


def test_a_refused_move_shows_the_reason(scene: Scene, client_of: SignIn, valid_run: Run) -> None:
    ValidRunFactory(task=scene.task, team=scene.other_team, tag="bm25")
    address = url("run-move", valid_run.pk)

    answer = client_of(scene.organizer).post(address, {"team": scene.other_team.pk})

    assert answer.status_code == 422
    assert "two runs with the tag bm25" in answer.text


def test_of_an_archive_with_runs_of_other_teams_a_team_downloads_its_own_run_only(
    scene: Scene, browser: Client
) -> None:
    data = zipped({"a.tsv": GOOD_RUN, "b.tsv": BAD_RUN})
    runs = submit_upload(
        file=sent(data, "runs.zip"), task=scene.task, team=scene.team, by=None, at=NOW
    )
    assert b"".join(browser.get(url("run-file", runs[0].pk)).streaming_content) == data

    move_run(run=runs[1], team=scene.other_team, by=scene.organizer, at=NOW)

    answer = browser.get(url("run-file", runs[0].pk))
    assert b"".join(answer.streaming_content) == GOOD_RUN
    assert 'filename="a.tsv"' in answer["Content-Disposition"]


def test_the_primary_run_is_marked_on_the_page(browser: Client, valid_run: Run) -> None:
    browser.post(url("run-primary", valid_run.pk))
    assert Run.objects.get(pk=valid_run.pk).is_primary


def test_a_refused_mark_is_shown_as_a_message(browser: Client, valid_run: Run) -> None:
    Task.objects.update(deadline=NOW.replace(year=2020))
    assert "closed on" in browser.post(url("run-primary", valid_run.pk), follow=True).text


def test_a_checked_run_is_submitted_from_its_page(scene: Scene, browser: Client) -> None:
    run = ValidRunFactory(task=scene.task, team=scene.team, check_only=True)
    assert "Submit run" in browser.get(url("run-detail", run.pk)).text
    browser.post(url("run-submit", run.pk))
    assert not Run.objects.get(pk=run.pk).check_only


def test_another_item_type_of_an_invalid_run_queues_another_check(
    scene: Scene,
    browser: Client,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    task = FormulaTaskFactory(lab=scene.lab, slug="task2")
    run = RunFactory(task=task, team=scene.team, status="invalid")
    said = {"tag": run.tag, "is_primary": "False", "is_manual": "False", "items": "visual-ids"}
    with django_capture_on_commit_callbacks(execute=True):
        browser.post(reverse("submissions:run-edit", args=["arqmath-x", "task2", run.pk]), said)
    run.refresh_from_db()
    assert (run.attempts, run.items) == (1, "visual-ids")


def test_a_refused_withdrawal_shows_the_reason(browser: Client, valid_run: Run) -> None:
    Run.objects.filter(pk=valid_run.pk).update(check_only=True)
    response = browser.post(url("run-withdraw", valid_run.pk), {"reason": "x"})
    assert (response.status_code, "is already withdrawn" in response.text) == (422, True)


def test_a_refused_submission_is_shown_as_a_message(browser: Client, valid_run: Run) -> None:
    response = browser.post(url("run-submit", valid_run.pk), follow=True)
    assert "two runs with the tag bm25" in response.text


def test_the_same_rules_apply_to_a_repaired_file(
    scene: Scene,
    browser: Client,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    run = bad_run(browser, scene, django_capture_on_commit_callbacks)
    ValidRunFactory.create_batch(5, task=scene.task, team=scene.team)
    response = browser.post(url("run-repaired", run.pk), {"submit": "yes"}, follow=True)
    assert "has only 0 of its 5 runs" in response.text


def test_a_file_that_cannot_be_unpacked_cannot_be_repaired(
    scene: Scene,
    browser: Client,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        upload(browser, scene, b"%PDF-1.7 x")
    assert browser.get(url("run-repaired", Run.objects.get().pk)).status_code == 404


def test_a_team_enters_retrieval_times(scene: Scene, client_of: SignIn) -> None:
    run = ValidRunFactory(task=scene.task, team=scene.team)
    first, second = scene.task.topics.values_list("query_id", flat=True)[:2]
    member, path = client_of(scene.member), url("run-publish", run.pk)

    wrong = member.post(path, {"retrieval_times": f"{first} soon\nA.999 1"}).text
    assert f"{first} soon" in wrong
    assert "A.999" in wrong
    times = f"{first} 0.25\n{second} 0.75"
    page = member.post(path, {"retrieval_times": times}, follow=True).text
    assert f"0.250 s ({first}) to 0.750 s ({second}), mean 0.500 s" in page


def test_a_team_publishes_its_run_after_the_deadline(scene: Scene, client_of: SignIn) -> None:
    run = ValidRunFactory(task=scene.task, team=scene.team)
    Task.objects.update(deadline=timezone.now() - timedelta(days=90))
    given = {"paper": "https://example.org/p", "code": "", "citation": "Noether 2026"}

    page = client_of(scene.member).post(url("run-publish", run.pk), given, follow=True).text

    assert "Publication saved." in page
    assert 'href="https://example.org/p"' in page
    assert "Noether 2026" in page
    assert AuditEvent.objects.get(verb="run.publish").detail["changes"]["paper"][0] == ""
