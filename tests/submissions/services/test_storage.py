"""Uploads have a budget of bytes, and what was only checked or is invalid is not kept for ever."""

from datetime import timedelta
from pathlib import Path

import pytest
from django.core.files.base import ContentFile
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import timezone

from arqlab.accounts.services.tokens import create_token
from arqlab.core.errors import UserError
from arqlab.core.models import User
from desk.services.load_files import sweep_files
from submissions.models import Run, Upload
from submissions.services.storage import CHECKS_KEPT, INVALID_KEPT, expire_runs
from submissions.services.uploads import check_upload, submit_upload
from tests.desk.services.test_sweeping import RUN, files_in, send_runs
from tests.factories import Scene
from tests.submissions.factories import RunFactory

UPLOAD = "/labs/arqmath-x/tasks/task1/runs/upload/"
API = "/api/v1/labs/arqmath-x/tasks/task1/runs/"
DAY = timedelta(days=1)


def send(scene: Scene, tag: str, by: User | None, *, send=submit_upload) -> list[Run]:
    file = ContentFile(RUN, name=f"Alpha-task1-{tag}-auto-both-A.tsv")
    return send(file=file, task=scene.task, team=scene.team, by=by, at=timezone.now())


def refusal(scene: Scene, by: User, *, send=submit_upload) -> str:
    file = ContentFile(RUN, name="Alpha-task1-more-auto-both-A.tsv")
    with pytest.raises(UserError) as refused:
        send(file=file, task=scene.task, team=scene.team, by=by, at=timezone.now())
    assert refused.value.code == "storage"
    return refused.value.message


def test_a_team_and_a_person_have_a_budget_of_bytes_and_organizers_that_of_the_lab(
    scene: Scene, settings
) -> None:
    settings.TEAM_MAX_BYTES = len(RUN)
    send(scene, "first", scene.member)

    assert "your account has stored 18\xa0bytes of 18\xa0bytes" in refusal(scene, scene.member)
    Upload.objects.update(uploaded_by=None)
    Run.objects.update(submitted_by=None)
    assert "team Alpha has stored 18\xa0bytes of 18\xa0bytes" in refusal(scene, scene.member)
    send(scene, "second", scene.organizer)
    settings.LAB_MAX_BYTES = 2 * len(RUN)
    assert "has stored 36\xa0bytes of 36\xa0bytes" in refusal(scene, scene.organizer)
    send(scene, "third", None)
    assert Run.objects.count() == 3


def test_checks_have_a_budget_of_their_own_and_never_fill_a_lab(scene: Scene, settings) -> None:
    settings.CHECKS_MAX_BYTES = len(RUN)
    send(scene, "try", scene.member, send=check_upload)

    said = refusal(scene, scene.member, send=check_upload)
    assert "Checked files are deleted after 30 days." in said
    settings.CHECKS_MAX_BYTES, settings.LAB_MAX_BYTES = 10**6, 3 * len(RUN)
    assert "Lab" in refusal(scene, scene.member, send=check_upload)
    send(scene, "first", scene.member)


def test_every_door_refuses_an_upload_without_room(scene: Scene, settings, client_of) -> None:
    settings.TEAM_MAX_BYTES = 1
    token = create_token(user=scene.member, name="x", at=timezone.now(), days=30, scope="write")
    member = client_of(scene.member)

    def file() -> SimpleUploadedFile:
        return SimpleUploadedFile("Alpha-task1-x-auto-both-A.tsv", RUN)

    page = member.post(UPLOAD, {"team": scene.team.pk, "file": file()}, follow=True)
    program = member.post(API, {"file": file()}, headers={"authorization": f"Token {token}"})

    assert "There is no room for 18\xa0bytes: your account has stored" in page.text
    assert (program.status_code, program.json()["code"]) == (409, "storage")
    assert not Upload.objects.exists()


def test_an_archive_with_several_runs_counts_once(scene: Scene, settings) -> None:
    [run] = send(scene, "first", scene.member)
    RunFactory(task=scene.task, team=scene.team, upload=run.upload, submitted_by=scene.member)
    settings.TEAM_MAX_BYTES = 2 * len(RUN)

    send(scene, "second", scene.member)


def test_organizers_see_the_budget_of_their_lab(scene: Scene, client_of) -> None:
    send(scene, "first", scene.member)
    page = "/labs/arqmath-x/tasks/task1/runs/"
    organizers, members = (
        client_of(each).get(page).text for each in (scene.organizer, scene.member)
    )

    assert "Uploads of this lab: 18\xa0bytes of 20.0\xa0GB." in organizers
    assert "Uploads of this lab" not in members


def test_checks_expire_after_a_month_and_invalid_runs_after_three(
    scene: Scene, media: Path
) -> None:
    send_runs(scene)
    now = timezone.now()

    assert expire_runs(at=now + CHECKS_KEPT - DAY) == 0
    assert expire_runs(at=now + CHECKS_KEPT + DAY) == 1
    assert set(Run.objects.values_list("tag", flat=True)) == {"good", "bad"}
    assert expire_runs(at=now + INVALID_KEPT + DAY) == 1
    assert set(Run.objects.values_list("tag", flat=True)) == {"good"}
    assert Upload.objects.count() == 1


def test_the_sweep_puts_the_files_of_expired_runs_aside_and_then_deletes_them(
    scene: Scene, media: Path
) -> None:
    send_runs(scene)
    later = timezone.now() + INVALID_KEPT + DAY
    sweep_files(at=later)
    uploads = {path for path in files_in(media) if "uploads" in path}

    assert {path.startswith("unused/") for path in uploads if "good" not in path} == {True}
    assert len(uploads) == 3
    sweep_files(at=later + 32 * DAY)
    assert len([path for path in files_in(media) if "uploads" in path]) == 1


@pytest.mark.parametrize("archived", ["task", "lab"])
def test_nothing_in_an_archive_expires(scene: Scene, archived: str) -> None:
    send(scene, "try", scene.member, send=check_upload)
    place = getattr(scene, archived)
    place.archived_at = timezone.now()
    place.save()

    assert expire_runs(at=timezone.now() + CHECKS_KEPT + DAY) == 0
