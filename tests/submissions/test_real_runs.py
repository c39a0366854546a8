"""Published runs of ARQMath and NTCIR, submitted unchanged."""

from pathlib import Path

import pytest
from django.core.files import File

from arqkit.formats.archives.folders import SourceFolder
from arqkit.formats.labs.folder import read_lab
from arqlab.core.models import Lab, Task
from arqlab.labs.services.loading import load_lab_file
from collection.services.loading import load_collection
from submissions.models import Run
from submissions.services.uploads import submit_upload
from submissions.services.validation import validate_uploaded_run
from tests.factories import TeamFactory
from tests.submissions.factories import NOW

pytestmark = pytest.mark.django_db
RUNS = {
    "arqmath-1/runs/task1/PSU-task1-PSU1-auto-both-A.tsv.gz": ("task1", "trec", 98_000, 98),
    "arqmath-1/runs/task1/MIRMU-task1-OutOfCompetitionEnsemble-auto-both-A.tsv.gz": (
        "task1",
        "arqmath-task1",
        98_000,
        98,
    ),
    "arqmath-1/runs/task1/judged-only/MathDowsers-task1-alpha05noReRank-auto-both-A.tsv.gz": (
        "task1",
        "trec",
        8_421,
        77,
    ),
    "arqmath-1/runs/task1/post-lab/tf.psu-task1-mlt.no_stopword.tsv.gz": (
        "task1",
        "trec",
        98_000,
        98,
    ),
    "arqmath-1/runs/task2/Baseline-task2-TangentS-auto-math-P.visual-ids.tsv.gz": (
        "task2",
        "trec",
        46_633,
        85,
    ),
    "arqmath-1/runs/task2/MIRMU-task2-OutOfCompetitionEnsemble-auto-math-A.tsv.gz": (
        "task2",
        "arqmath-task2",
        85_000,
        85,
    ),
    "ntcir-12-wfb/runs/TangentCFT.txt.gz": ("concrete", "trec", 20_000, 20),
}


def loaded(shared_data: Path, slug: str) -> Lab:
    """Return the loaded lab of a published run."""
    file = read_lab(SourceFolder(shared_data / slug, reads_beside=True))
    lab = load_lab_file(file, by=None)
    if file.collection:
        load_collection(lab=lab, file=file.collection, at=NOW)
    return lab


@pytest.fixture(scope="module")
def arqmath_1(kept_db: None, shared_data: Path) -> Lab:
    """Return the lab of most runs, loaded once."""
    return loaded(shared_data, "arqmath-1")


@pytest.mark.parametrize("path", RUNS)
def test_a_published_run_is_valid(shared_data: Path, arqmath_1: Lab, path: str) -> None:
    task_slug, format_, rows, topics = RUNS[path]
    slug = path.partition("/")[0]
    lab = arqmath_1 if slug == arqmath_1.slug else loaded(shared_data, slug)
    task = Task.objects.get(lab=lab, slug=task_slug)
    with (shared_data / path).open("rb") as stream:
        file = File(stream, name=Path(path).name)
        run = submit_upload(file=file, task=task, team=TeamFactory(lab=task.lab), by=None, at=NOW)[
            0
        ]
    validate_uploaded_run(run_id=run.pk, at=NOW)
    run.refresh_from_db()
    assert (run.status, run.report["format"], run.report["rows"], run.report["topics"]) == (
        Run.Status.VALID,
        format_,
        rows,
        topics,
    )


def test_an_item_outside_a_sampled_collection_is_only_a_note(
    shared_data: Path, arqmath_1: Lab
) -> None:
    path = shared_data / "arqmath-1/runs/task1/judged-only/PSU-task1-PSU3-auto-both-A.tsv.gz"
    task = Task.objects.get(lab=arqmath_1, slug="task1")
    with path.open("rb") as stream:
        file = File(stream, name=path.name)
        run = submit_upload(file=file, task=task, team=TeamFactory(lab=task.lab), by=None, at=NOW)[
            0
        ]
    validate_uploaded_run(run_id=run.pk, at=NOW)
    assert run.problems.get(kind="unknown-item").severity == "note"
