"""Uploads of run files."""

import hashlib
import random

import pytest
from django.test import override_settings

from arqlab.core.errors import UserError
from arqlab.core.models import AuditEvent
from submissions.models import Run, Upload
from submissions.services.run_metadata import RunMetadata
from submissions.services.uploads import check_upload, submit_upload
from tests.factories import Scene
from tests.submissions.factories import GOOD_RUN, NOW, sent, zipped

pytestmark = pytest.mark.django_db


def submit(
    scene: Scene, data: bytes = GOOD_RUN, name: str = "Alpha-task1-bm25-auto-text-P.tsv"
) -> list[Run]:
    return submit_upload(
        file=sent(data, name), task=scene.task, team=scene.team, by=scene.member, at=NOW
    )


def test_a_file_is_stored_unchanged(scene: Scene) -> None:
    upload = submit(scene)[0].upload
    with upload.file.open("rb") as stored:
        assert stored.read() == GOOD_RUN
    assert upload.sha256 == hashlib.sha256(GOOD_RUN).hexdigest()
    assert (upload.size, upload.name) == (len(GOOD_RUN), "Alpha-task1-bm25-auto-text-P.tsv")


def test_metadata_is_read_from_the_file_name(scene: Scene) -> None:
    run = submit(scene)[0]
    assert (run.tag, run.is_primary, run.is_manual, run.data_used) == ("bm25", True, False, "text")


def test_given_metadata_takes_precedence_over_the_file_name(scene: Scene) -> None:
    file = sent()
    metadata = {str(file.name): RunMetadata("mine", is_manual=True)}
    run = submit_upload(
        file=file, task=scene.task, team=scene.team, by=scene.member, at=NOW, metadata=metadata
    )[0]
    assert (run.tag, run.is_manual) == ("mine", True)


def test_a_zip_contains_one_run_per_file(scene: Scene) -> None:
    archive = zipped({"Alpha_1.tsv": GOOD_RUN, "folder/Alpha_2.tsv": GOOD_RUN})
    runs = submit(scene, archive, "runs.zip")
    assert [run.member for run in runs] == ["Alpha_1.tsv", "folder/Alpha_2.tsv"]
    assert Upload.objects.count() == 1


def test_system_files_in_a_zip_are_ignored(scene: Scene) -> None:
    archive = zipped(
        {"one.tsv": GOOD_RUN, "__MACOSX/._one.tsv": b"x", "folder/": b"", "folder/.DS_Store": b"x"}
    )
    assert [run.member for run in submit(scene, archive, "runs.zip")] == ["one.tsv"]


def test_a_large_zip_is_listed(scene: Scene) -> None:
    noise = random.Random(1).randbytes(2_000_000)
    assert len(submit(scene, zipped({"one.tsv": noise, "two.tsv": noise}), "runs.zip")) == 2


@pytest.mark.parametrize(
    "data", [b"PK\x03\x04 broken", zipped({}), zipped({"only a folder/": b""})]
)
def test_a_zip_that_cannot_be_listed_is_stored_as_one_run(scene: Scene, data: bytes) -> None:
    run = submit(scene, data, "Alpha-task1-lost-auto-both-A.zip")[0]
    assert (run.member, run.tag, run.upload.size) == ("", "lost", len(data))


def test_a_zip_that_exceeds_the_quota_is_refused_as_a_whole(scene: Scene) -> None:
    archive = zipped({f"run{number}.tsv": GOOD_RUN for number in range(6)})
    with pytest.raises(
        UserError, match="You submitted 6 runs, but team Alpha has only 5 of its 5 runs"
    ):
        submit(scene, archive, "runs.zip")
    assert Upload.objects.count() == 0


def test_two_files_in_a_zip_with_the_same_tag_are_refused(scene: Scene) -> None:
    archive = zipped({"a/same.tsv": GOOD_RUN, "b/same.tsv": GOOD_RUN})
    with pytest.raises(UserError, match="two runs with the tag same"):
        submit(scene, archive, "runs.zip")


@override_settings(RUN_MAX_BYTES=10)
def test_a_file_above_the_limit_is_not_stored(scene: Scene) -> None:
    with pytest.raises(UserError, match="Check that you chose the right file"):
        submit(scene)


@pytest.mark.parametrize(
    "name", ["../../etc/passwd", "ä ö\u202e.tsv", "x" * 400 + ".tsv", "...", "\u0001.tsv"]
)
def test_any_name_can_be_stored(scene: Scene, name: str) -> None:
    upload = submit(scene, name=name)[0].upload
    assert upload.file.name.startswith("uploads/")
    assert ".." not in upload.file.name


def test_a_submission_is_audited(scene: Scene) -> None:
    run = submit(scene)[0]
    event = AuditEvent.objects.get(verb="run.submit")
    assert (event.actor, event.lab, event.detail["run"]) == (scene.member, scene.lab, run.pk)


def test_a_check_is_not_a_submission(scene: Scene) -> None:
    run = check_upload(file=sent(), task=scene.task, team=scene.team, by=scene.member, at=NOW)[0]
    assert run.check_only
    assert not AuditEvent.objects.filter(verb="run.submit").exists()


def test_bytes_of_a_file_name_that_are_not_utf_8_are_replaced(scene: Scene) -> None:
    [run] = submit_upload(
        file=sent(GOOD_RUN, "r\udce9sum\udce9.tsv"),
        task=scene.task,
        team=scene.team,
        by=scene.member,
        at=NOW,
    )
    assert (run.upload.name, run.tag) == ("r?sum?.tsv", "r_sum_")


def test_a_zip_with_too_long_a_path_is_refused(scene: Scene) -> None:
    packed = sent(zipped({f"{'d' * 260}/run.tsv": GOOD_RUN}), "runs.zip")
    with pytest.raises(UserError, match="more than 255 characters"):
        submit_upload(file=packed, task=scene.task, team=scene.team, by=scene.member, at=NOW)
