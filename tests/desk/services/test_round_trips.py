"""Files that the product writes and reads: written, read on an empty place, and written again."""

from datetime import UTC, datetime
from io import StringIO
from uuid import UUID

import pytest
from django.core.files.base import ContentFile
from django.core.management import CommandError, call_command

from arqkit.formats.qrels.judgments import COLUMNS
from arqkit.formats.tables import zip_chunks
from arqkit.formats.topics.chosen_questions import read_chosen
from arqkit.texts.posts.topic_making import Candidate, write_candidates
from arqlab.core.models import Lab, Membership, Task, Team, Topic
from arqlab.teams.services import lab_team
from assessment.exports import ROUND_EXPORTS, TASK_EXPORTS
from assessment.guidelines.services.versions import write_guideline
from assessment.judging.selectors.judgment_tables import official_table
from assessment.judging.services.importing import import_judgments
from assessment.models import Assignment, Judgment, PoolInstance, PoolItem, Ticket
from desk.services.archive_documents import lab_documents
from desk.services.exports import lab_exports, task_exports
from evaluation.services.releasing import release_leaderboard
from evaluation.services.scoring import score_waiting
from submissions.models import Run, Upload
from submissions.services.run_files import run_files
from submissions.services.uploads import submit_upload
from submissions.services.validation import validate_uploaded_run
from tests.assessment.factories import NOW, judge, make_pool
from tests.evaluation.factories import make_qrels

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
    system = {"system": UUID(int=7), "is_trained": True}
    submitted(scene, "bad", RUN.replace(b"9.5", b"9.25"), withdrawn_at=AT, **system)
    submitted(scene, "bad", RUN.replace(b"9.5", b"9.75"))
    submitted(scene, "late", is_post_hoc=True, is_primary=False)
    submitted(scene, "ours", is_baseline=True, team=lab_team(scene.lab))
    path = tmp_path / "runs.zip"
    files = zipped(scene.task, path)
    assert loaded(path) == "0 runs loaded, 7 unchanged.\n"

    Run.objects.all().delete()
    Upload.objects.all().delete()
    Membership.objects.filter(team=scene.team).delete()
    scene.team.delete()
    Task.objects.update(overrides={"quota": 1}, deadline=AT)

    assert loaded(path).splitlines() == [
        "7 runs loaded, 0 unchanged.",
        "Created the teams Alpha.",
        "1 run with errors: see the reports.",
    ]
    assert zipped(scene.task, path) == files
    assert loaded(path) == "0 runs loaded, 7 unchanged.\n"


def documents(lab):
    return {
        one.path: b"".join(one.chunks)
        for one in lab_documents(lab, published=False)
        if one.path.endswith(LAB_FILES)
    }


LAB_FILES = ("lab.toml", "topics.xml", "topic-info.csv", "guidelines.html", "qrels.v1.tsv")


def test_the_lab_toml_of_an_archive_is_loaded_with_topics_guidelines_and_qrels(scene, tmp_path):
    Topic.objects.update(info={"category": "proof", "difficulty": "hard, or so"})
    write_guideline(task=scene.task, text='<p>Judge "all" &lt; é.</p>', at=NOW, by=None)
    make_qrels(scene.task, {"A.1": {"10": 3, "11": 0}, "A.2": {"10": 1}})
    Task.objects.update(overrides={"quota": 3}, deadline=AT.replace(microsecond=0))
    files = documents(scene.lab)
    assert {path.rpartition("/")[2] for path in files} == set(LAB_FILES)
    for path, content in files.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_bytes(content.replace(b'"arqmath-x"', b'"other"'))

    call_command("load_lab", tmp_path, stdout=StringIO())

    again = documents(Lab.objects.get(slug="other"))
    assert {path: text.replace(b'"other"', b'"arqmath-x"') for path, text in again.items()} == files


READ = {
    *("topics.xml", "topic-info.csv", "guidelines.html", "qrels.v1.tsv", "qrels.tsv"),
    *("runs.zip", "judgments.tsv", "judgments-with-names.tsv", "assignments.tsv"),
}
"""The files that a load takes: the tests of this module bring each of them back."""
NOT_READ = {
    "task-pack.zip": "by arqkit check alone",
    "ir-datasets.zip": "topics.xml and qrels.tsv, with their definition for ir_datasets",
    "runs-trec.zip": "as they are scored; runs.zip has them as they came",
    "scores.tsv": "computed from runs and qrels",
    "guidelines.json": "earlier versions, for people",
    **dict.fromkeys(
        (export.name for exports in ROUND_EXPORTS.values() for export in exports),
        "a round comes back with the archive of its lab",
    ),
    "pool.tsv": "a pool is frozen once, and comes back with the archive of its lab",
    "pool.json": "as pool.tsv",
    "pool.runs.tsv": "as pool.tsv",
    "pool.turkle.zip": "by Turkle, whose results are read",
    "collection.json": "counts",
    "teams.tsv": "people join by themselves",
    "audit.tsv": "what happened here",
}


@pytest.mark.needs("exchange")
def test_each_file_of_a_lab_is_read_again_or_has_a_reason_why_not(scene):
    make_pool(scene.task)
    submitted(scene, "ours")
    qrels = make_qrels(scene.task)
    score_waiting(at=AT)
    release_leaderboard(qrel_set=qrels, by=scene.organizer, at=AT)

    exports = [*task_exports(scene.task, organizes=True), *lab_exports(organizes=True)]
    exports += [export for files in ROUND_EXPORTS.values() for export in files]

    assert {export.name for export in exports} == READ | NOT_READ.keys()


def test_assignments_are_read_as_they_were_written(task, assessor, tmp_path):
    [export] = (export for export in TASK_EXPORTS if export.name == "assignments.tsv")
    topics = [*Topic.objects.filter(task=task)]
    Assignment.objects.bulk_create(
        Assignment(topic=topic, assessor=assessor, assigned_at=NOW) for topic in topics
    )
    path = tmp_path / export.name
    path.write_bytes(b"".join(export.chunks(task)))
    assert len(path.read_text().splitlines()) == 1 + len(topics)
    Assignment.objects.all().delete()

    call_command("assign_topics", str(task), path)

    assert b"".join(export.chunks(task)) == path.read_bytes()


def test_candidates_that_were_written_are_a_list_of_chosen_questions():
    values = dict.fromkeys(Candidate._fields, "")
    written = write_candidates([Candidate(**values | {"post_id": "7", "title": 'A "b", c'})])

    [chosen] = read_chosen(written, path="candidates.csv")
    assert chosen.post_id == "7"


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
