"""Teams are notified of the results of their uploads."""

from datetime import timedelta

import pytest

from arqlab.notices.models import Notice
from submissions.services.uploads import check_upload, submit_upload
from submissions.services.validation import validate_uploaded_run
from tests.submissions.factories import BAD_RUN, GOOD_RUN, NOW, sent, zipped


@pytest.fixture
def submit(scene):
    """Return a function that uploads a file for Alpha and validates its runs."""

    def submit(file, *, take=submit_upload, validated=None, at=NOW):
        runs = take(file=file, task=scene.task, team=scene.team, by=scene.member, at=at)
        for run in runs[:validated]:
            validate_uploaded_run(run_id=run.pk, at=NOW)
        return runs

    return submit


def test_every_member_of_the_team_is_notified_of_a_valid_run(scene, submit):
    [run] = submit(sent())

    notice = Notice.objects.get()
    assert (notice.user, notice.lab) == (scene.member, scene.lab)
    assert notice.subject == "Answer retrieval: run bm25 is valid"
    assert f"{scene.member.name} uploaded {run.upload.name} for team Alpha" in notice.text
    assert "- bm25: valid" in notice.text
    assert notice.path.endswith(f"/runs/{run.pk}/")


def test_a_run_with_errors_is_reported_with_their_number(submit):
    submit(sent(BAD_RUN))

    notice = Notice.objects.get()
    assert notice.subject == "Answer retrieval: run bm25 has errors"
    assert "- bm25: not valid, 2 errors" in notice.text


def test_an_archive_is_one_notice_after_its_last_run(submit):
    archive = zipped({f"Alpha-task1-{tag}-auto-both-A.tsv": GOOD_RUN for tag in ("one", "two")})
    _, last = submit(sent(archive, "runs.zip"), validated=1)
    assert not Notice.objects.exists()

    validate_uploaded_run(run_id=last.pk, at=NOW)

    notice = Notice.objects.get()
    assert notice.subject == "Answer retrieval: 2 runs are valid"
    assert notice.text.index("- one: valid") < notice.text.index("- two: valid")
    assert notice.path.endswith("/runs/")


def test_files_sent_together_are_one_notice(submit):
    names = [f"Alpha-task1-{tag}-auto-both-A.tsv" for tag in ("one", "two")]
    runs = [run for name in names for run in submit(sent(name=name), validated=0)]
    submit(sent(BAD_RUN, "Alpha-task1-late-auto-both-A.tsv"), at=NOW + timedelta(hours=1))
    Notice.objects.all().delete()
    for run in runs:
        validate_uploaded_run(run_id=run.pk, at=NOW)

    notice = Notice.objects.get()
    assert notice.subject == "Answer retrieval: 2 runs are valid"
    assert "uploaded 2 files for team Alpha" in notice.text


def test_a_corrected_run_is_notified_again(scene, submit):
    [run] = submit(sent(BAD_RUN))
    type(run).objects.filter(pk=run.pk).update(status="uploaded", attempts=0)
    validate_uploaded_run(run_id=run.pk, at=NOW + timedelta(hours=1))

    assert Notice.objects.count() == 2


def test_a_file_that_was_only_checked_notifies_nobody(submit):
    submit(sent(), take=check_upload)

    assert not Notice.objects.exists()
