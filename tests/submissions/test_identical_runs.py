"""Byte-identical runs are reported to their teams and listed for organizers."""

import gzip
from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse
from pytest_django import DjangoCaptureOnCommitCallbacks

from arqlab.core.models import Team, User
from submissions.models import Run
from tests.factories import Scene
from tests.submissions.entry_points import upload, url
from tests.submissions.factories import GOOD_RUN, NOW, zipped

pytestmark = pytest.mark.django_db
OTHER_TEAM = "An identical run was already submitted to this task. The organizers can see both."
OWN_TEAM = "Your team already submitted an identical run: first."
Send = Callable[..., Run]


@pytest.fixture
def send(
    scene: Scene,
    client_of: Callable[[User], Client],
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> Send:
    """Return a function that uploads a run on the page, validates it and returns it."""

    def sent(team: Team, tag: str, data: bytes = GOOD_RUN, ending: str = "tsv", **more: str) -> Run:
        person = scene.member if team == scene.team else scene.other_member
        name = f"{team.name}-task1-{tag}-auto-both-A.{ending}"
        with django_capture_on_commit_callbacks(execute=True):
            upload(client_of(person), scene, data, name=name, team=str(team.pk), **more)
        return Run.objects.latest("pk")

    return sent


def warnings_of(run: Run) -> list[str]:
    return list(run.problems.filter(kind="identical-run").values_list("message", flat=True))


def test_a_team_learns_that_another_team_submitted_the_run_but_not_which(
    scene: Scene, send: Send, client_of: Callable[[User], Client]
) -> None:
    first, second = send(scene.other_team, "theirs"), send(scene.team, "second")
    assert (warnings_of(first), warnings_of(second), second.status) == ([], [OTHER_TEAM], "valid")
    page = client_of(scene.member).get(url("run-detail", second.pk)).text
    assert OTHER_TEAM in page
    assert "Beta" not in page
    assert "theirs" not in page


def test_a_team_learns_the_name_of_its_own_identical_run(scene: Scene, send: Send) -> None:
    send(scene.team, "first")
    assert warnings_of(send(scene.team, "second")) == [OWN_TEAM]
    send(scene.other_team, "third")
    assert warnings_of(send(scene.team, "fourth", check="yes")) == [
        f"Your team already submitted an identical run: first, second. {OTHER_TEAM}"
    ]


@pytest.mark.parametrize(
    ("data", "ending"),
    [(gzip.compress(GOOD_RUN), "tsv.gz"), (zipped({"Beta-task1-z-A.tsv": GOOD_RUN}), "zip")],
    ids=["gzip", "zip"],  # not the bytes, which contain the time
)
def test_compressed_runs_are_compared_unpacked(
    scene: Scene, send: Send, data: bytes, ending: str
) -> None:
    send(scene.team, "first")
    assert warnings_of(send(scene.other_team, "second", data, ending)) == [OTHER_TEAM]


def test_other_bytes_withdrawn_runs_and_checked_files_bring_no_warning(
    scene: Scene, send: Send
) -> None:
    assert warnings_of(send(scene.team, "first", check="yes")) == []
    withdrawn = send(scene.team, "second")
    Run.objects.filter(pk=withdrawn.pk).update(withdrawn_at=NOW)
    send(scene.team, "third", GOOD_RUN.replace(b"9.5", b"9.25"))
    assert warnings_of(send(scene.team, "fourth")) == []


def test_a_checked_run_is_compared_again_when_it_is_submitted(
    scene: Scene, send: Send, client_of: Callable[[User], Client]
) -> None:
    checked = send(scene.team, "second", check="yes")
    send(scene.other_team, "first")
    client_of(scene.member).post(url("run-submit", checked.pk))
    assert warnings_of(checked) == [OTHER_TEAM]


def test_the_report_in_the_api_has_the_warning(
    scene: Scene, send: Send, client_of: Callable[[User], Client]
) -> None:
    send(scene.team, "first")
    run = send(scene.team, "second")
    report = client_of(scene.member).get(
        reverse("submissions:api-run-report", args=["arqmath-x", "task1", run.pk])
    )
    problems = report.json()["problems"]
    assert [(problem["severity"], problem["message"]) for problem in problems] == [
        ("warning", OWN_TEAM)
    ]


def test_only_organizers_see_the_list_of_identical_runs(
    scene: Scene, send: Send, client_of: Callable[[User], Client]
) -> None:
    runs = [send(scene.other_team, "first"), send(scene.team, "second")]
    send(scene.team, "third", GOOD_RUN.replace(b"9.5", b"9.25"))
    page = client_of(scene.organizer).get(url("run-list")).text
    notice = page.split("Identical runs")[1].split("</div>")[0]
    assert [f'href="{url("run-detail", run.pk)}"' in notice for run in runs] == [True, True]
    assert "third" not in notice
    assert "Identical runs" not in client_of(scene.member).get(url("run-list")).text
