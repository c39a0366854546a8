"""`manage.py submit_run`."""

from collections.abc import Callable
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from pytest_django import DjangoCaptureOnCommitCallbacks

from arqlab.core.models import Task, Team
from submissions.models import Run
from tests.factories import Scene
from tests.submissions.factories import BAD_RUN, GOOD_RUN, NOW, zipped

pytestmark = pytest.mark.django_db
NAME = "Alpha-task1-bm25-auto-both-P.tsv"
Submit = Callable[..., str]


@pytest.fixture
def submit(
    scene: Scene, tmp_path: Path, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> Submit:
    """Return a function that submits a file and returns the command's output."""

    def run(*options: str, name: str = NAME, data: bytes = GOOD_RUN) -> str:
        path, out = tmp_path / name, StringIO()
        path.write_bytes(data)
        with django_capture_on_commit_callbacks(execute=True):
            call_command("submit_run", str(path), "--task", "arqmath-x/task1", *options, stdout=out)
        return out.getvalue()

    return run


def test_team_and_metadata_are_read_from_the_file_name(submit: Submit, scene: Scene) -> None:
    assert submit().startswith(f"Alpha bm25 ({NAME}): valid")
    run = Run.objects.get()
    assert (run.team, run.tag, run.is_primary, run.status) == (scene.team, "bm25", True, "valid")


def test_a_new_team_is_created_and_reported(submit: Submit) -> None:
    assert "Created team Delta in arqmath-x." in submit("--team", "Delta", "--new-team")
    assert Run.objects.get().team == Team.objects.get(name="Delta")


@pytest.mark.parametrize(
    ("options", "name"), [(["--team", "alhpa"], NAME), ([], "Alhpa-task1-bm25-P.tsv")]
)
def test_an_unknown_team_lists_similar_names_and_creates_nothing(
    submit: Submit, options: list[str], name: str
) -> None:
    with pytest.raises(CommandError, match=r"Did you mean Alpha\? Correct the name"):
        submit(*options, name=name)
    assert (Team.objects.count(), Run.objects.count()) == (2, 0)


def test_a_new_team_with_a_similar_name_needs_a_confirmation(submit: Submit) -> None:
    with pytest.raises(CommandError, match="already has a team named Alpha"):
        submit("--team", "Al pha", "--new-team")
    assert "Created team Al pha" in submit("--team", "Al pha", "--new-team", "--confirm-name")


def test_an_unknown_team_like_no_other_is_refused_without_a_suggestion(submit: Submit) -> None:
    with pytest.raises(CommandError, match=r"has no team named Zoo\. Correct the name"):
        submit("--team", "Zoo")


def test_a_team_that_exists_is_not_created_again(submit: Submit, scene: Scene) -> None:
    assert "Created" not in submit("--team", "alpha", "--new-team")
    assert Run.objects.get().team == scene.team


def test_a_file_name_without_a_team_needs_the_option(submit: Submit) -> None:
    with pytest.raises(CommandError, match="Name the team with --team NAME"):
        submit(name="TangentCFT.txt")


def test_file_names_with_several_teams_need_the_option(submit: Submit) -> None:
    data = zipped({f"{team}-task1-a-P.tsv": GOOD_RUN for team in ("Alpha", "Beta")})
    with pytest.raises(CommandError, match=r"several teams \(Alpha, Beta\)"):
        submit(name="runs.zip", data=data)
    assert not Run.objects.exists()


def test_options_take_precedence_over_the_file_name(submit: Submit) -> None:
    submit(
        "--tag", "mine", "--alternate", "--manual", "--data-used", "math", "--description", "Ours."
    )
    run = Run.objects.get()
    assert (run.tag, run.is_primary, run.is_manual, run.data_used) == ("mine", False, True, "math")
    assert run.description == "Ours."


def test_an_invalid_run_exits_with_1(submit: Submit) -> None:
    with pytest.raises(SystemExit) as ended:
        submit(data=BAD_RUN)
    assert ended.value.code == 1
    assert Run.objects.get().status == "invalid"


def test_an_organizer_submits_after_the_deadline(submit: Submit, scene: Scene) -> None:
    Task.objects.update(deadline=NOW.replace(year=2020))
    submit("--by", scene.organizer.username)
    assert Run.objects.get().submitted_by == scene.organizer


def test_a_refused_submission_creates_no_team(submit: Submit) -> None:
    Task.objects.update(deadline=NOW.replace(year=2020))
    with pytest.raises(CommandError):
        submit("--team", "Delta", "--new-team")
    assert not Team.objects.filter(name="Delta").exists()


def test_every_run_of_a_zip_is_reported(submit: Submit) -> None:
    members = {f"Alpha-task1-{tag}-auto-both-A.tsv": GOOD_RUN for tag in ("a", "b")}
    text = submit(name="runs.zip", data=zipped(members))
    assert text.count("valid, ARQMath Task 1") == 2
