"""Files that the product writes and reads: written, read on an empty place, and written again."""

from datetime import UTC, datetime
from io import StringIO

import pytest
from django.core.files.base import ContentFile
from django.core.management import CommandError, call_command

from arqkit.formats.qrels.judgments import COLUMNS
from arqkit.formats.tables import zip_chunks
from arqlab.core.models import Membership, Task, Team
from arqlab.core.services.teams import lab_team
from assessment.guidelines.services.versions import write_guideline
from assessment.judging.services.importing import import_judgments
from assessment.models import Judgment, PoolInstance, PoolItem, Ticket
from desk.services.exports import official_table
from desk.services.run_files import run_files
from submissions.models import Run, Upload
from submissions.services.uploads import submit_upload
from submissions.services.validation import validate_uploaded_run
from tests.assessment.factories import NOW, judge, make_pool

pytestmark = pytest.mark.django_db
AT = datetime(2026, 11, 21, 12, 30, 1, 250, tzinfo=UTC)


@pytest.fixture
def judged(task, assessor):
    """A task with a label that changed, one that was returned, and one from elsewhere."""
    make_pool(task)
    guideline = write_guideline(task=task, text="<p>Judge.</p>", at=NOW, by=None)
    first, second, third = PoolInstance.objects.filter(item__topic__query_id="A.1").order_by(
        "doc_id"
    )
    marks = [{"exact": 'it is\t"even"', "formulas": []}]
    told = {"comment": 'No\tproof\n"at all"', "reason": "A slip", "active_ms": 1501}
    old = judge(assessor, first, 3, is_current=False, marks=marks, judged_at=AT, given_at=AT)
    judge(assessor, first, 0, supersedes=old, guideline=guideline, judged_at=AT, **told)
    judge(assessor, second, 1, is_current=False, judged_at=AT)
    judge(None, third, 2, is_imported=True, judged_at=AT)
    return task


def written(task, **names):
    return b"".join(official_table(task, **names))


def read(task, data):
    return import_judgments(task=task, data=data, path="judgments.tsv", at=NOW, by=None).line


@pytest.mark.parametrize("with_names", [True, False])
def test_judgments_are_read_with_their_history_as_they_were_written(judged, with_names):
    file = written(judged, with_names=with_names)
    assert read(judged, file) == "0 new, 0 changed, 4 unchanged."

    Judgment.objects.update(supersedes=None)
    Ticket.objects.all().delete()
    Judgment.objects.all().delete()
    PoolItem.objects.update(done_at=None)

    assert read(judged, file) == "4 new, 0 changed, 0 unchanged."
    assert written(judged, with_names=with_names) == file
    assert list(PoolItem.objects.exclude(done_at=None).values_list("item", flat=True)) == [
        "10",
        "12",
    ]
    assert read(judged, file) == "0 new, 0 changed, 4 unchanged."


RUN = b"A.1\t10\t1\t9.5\tours\nA.1\t11\t2\t8.5\tours\n"


def submitted(scene, tag, data=RUN, **fields):
    file = ContentFile(
        data.replace(b"ours", tag.encode()), name=f"Alpha-task1-{tag}-auto-both-P.tsv"
    )
    [run] = submit_upload(file=file, task=scene.task, team=scene.team, by=scene.organizer, at=AT)
    Run.objects.filter(pk=run.pk).update(**fields)
    validate_uploaded_run(run_id=run.pk, at=AT)
    return run


def zipped(task, path):
    path.write_bytes(b"".join(zip_chunks(run_files(task))))
    return dict(run_files(task))


def loaded(path, to="arqmath-x/task1"):
    out = StringIO()
    call_command("load_runs", to, path, stdout=out)
    return out.getvalue()


def test_runs_are_read_with_their_teams_as_they_were_written_whatever_the_quota(scene, tmp_path):
    told = {
        "description": '=1\n"a"\tb',
        "paper": "https://example.org/p",
        "out_of_competition": "A",
    }
    submitted(scene, "first", withdrawn_at=AT, withdrawal_reason="A bug")
    submitted(scene, "second", submitted_at=AT, **told)
    submitted(scene, "bad", b"A.1\tno number\n")
    submitted(scene, "late", is_post_hoc=True, is_primary=False)
    submitted(scene, "ours", is_baseline=True, team=lab_team(scene.lab))
    path = tmp_path / "runs.zip"
    files = zipped(scene.task, path)
    assert loaded(path) == "0 runs loaded, 5 unchanged.\n"

    Run.objects.all().delete()
    Upload.objects.all().delete()
    Membership.objects.filter(team=scene.team).delete()
    scene.team.delete()
    Task.objects.update(overrides={"quota": 1}, deadline=AT)

    assert loaded(path).splitlines() == [
        "5 runs loaded, 0 unchanged.",
        "Created the teams Alpha.",
        "1 run with errors: see the reports.",
    ]
    assert zipped(scene.task, path) == files
    assert loaded(path) == "0 runs loaded, 5 unchanged.\n"


def test_each_column_of_written_judgments_is_one_that_is_read(judged):
    [heading, *_] = written(judged).decode().splitlines()

    assert set(heading.split("\t")) <= set(COLUMNS)


def test_a_folder_of_files_named_as_in_the_papers_is_loaded_with_a_csv_of_metadata(scene, tmp_path):
    (tmp_path / "New Team-task1-r1-manual-math-P.tsv").write_bytes(RUN)
    (tmp_path / "other.tsv").write_bytes(RUN)
    (tmp_path / "metadata.csv").write_text("file,team,tag,manual\nother.tsv,Beta,r2,yes\n")

    assert loaded(tmp_path).startswith("2 runs loaded, 0 unchanged.\nCreated the teams New Team.")

    runs = Run.objects.order_by("tag").values_list("team__name", "tag", "is_manual", "is_primary")
    assert list(runs) == [("New Team", "r1", True, True), ("Beta", "r2", True, False)]


def test_all_problems_of_a_folder_of_runs_are_told_and_nothing_is_stored(scene, tmp_path):
    (tmp_path / "bm25.tsv").write_bytes(RUN)
    (tmp_path / "Gamma-task1-r1.tsv").write_bytes(RUN)
    (tmp_path / "metadata.csv").write_text(
        "file,data,manual\nGamma-task1-r1.tsv,all,perhaps\nnone.tsv,,\n"
    )

    with pytest.raises(CommandError) as refused:
        loaded(tmp_path)

    for told in ("csv:2: found the data 'all'", "csv:2: found the manual", "csv:3: found no file"):
        assert told in str(refused.value)
    assert "bm25.tsv: found no team" in str(refused.value)
    assert not Run.objects.exists()
    assert not Team.objects.filter(name="Gamma").exists()
