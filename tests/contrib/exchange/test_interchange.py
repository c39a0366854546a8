"""Runs and qrels as other tools read them."""

import io
import subprocess
import sys
import zipfile

import ir_measures
import pytest
import yaml

from desk.services.archive_documents import lab_documents
from desk.services.exports import task_exports
from evaluation.selectors.boards import released_board, released_leaderboard
from evaluation.services.releasing import release_leaderboard
from evaluation.services.scoring import score_waiting
from tests.desk.services.test_round_trips import AT, submitted
from tests.evaluation.factories import make_qrels

pytestmark = pytest.mark.django_db
TOLD = {
    "description": "BM25: k1 = 1.2\nfor é",
    "paper": "https://example.org/p.pdf",
    "code": "https://example.org/code",
    "is_manual": True,
}


@pytest.fixture
def released(scene):
    """The task with a released leaderboard of two runs."""
    submitted(scene, "one", **TOLD)
    submitted(scene, "two", b"A.1\t11\t1\t9.5\tours\nA.1\t10\t2\t8.5\tours\nA.2\t12\t1\t1\tours\n")
    qrels = make_qrels(scene.task, {"A.1": {"10": 3, "11": 0}, "A.2": {"12": 2}})
    score_waiting(at=AT)
    release_leaderboard(qrel_set=qrels, by=scene.organizer, at=AT)
    return scene.task


@pytest.fixture
def unzipped(released, tmp_path):
    """Return a function that unpacks a download of the task into a folder."""

    def unzip(name):
        [export] = (one for one in task_exports(released, organizes=True) if one.name == name)
        with zipfile.ZipFile(io.BytesIO(b"".join(export.chunks(released)))) as archive:
            archive.extractall(tmp_path / name)
        return tmp_path / name

    return unzip


def board(task):
    return {
        row.run.tag: [row.run.values[measure.name] for measure in board_of(task).measures[:6]]
        for row in board_of(task).rows
    }


def board_of(task):
    return released_board(released_leaderboard(task))


def test_ir_measures_prints_the_leaderboard_from_the_runs_of_trec(released, unzipped):
    folder = unzipped("runs-trec.zip")
    qrels = list(ir_measures.read_trec_qrels(str(folder / "qrels.tsv")))
    measures = [ir_measures.parse_measure(one.name) for one in board_of(released).measures[:6]]
    found = {}
    for path in folder.glob("*/run.txt"):
        run = list(ir_measures.read_trec_run(str(path)))
        values = ir_measures.calc_aggregate(measures, qrels, run)
        tag = yaml.safe_load((path.parent / "ir-metadata.yml").read_text("utf-8"))["tag"]
        found[tag] = [values[measure] for measure in measures]

    assert {*found} == {"one", "two"}
    assert found == {tag: pytest.approx(values) for tag, values in board(released).items()}


LOAD = """
import json, sys
sys.path.insert(0, sys.argv[1])
import ir_dataset, ir_datasets
dataset = ir_datasets.load(ir_dataset.FACTS["id"])
print(json.dumps([
    [list(topic) for topic in dataset.queries_iter()],
    [list(qrel) for qrel in dataset.qrels_iter()],
    dataset.qrels_defs(), dataset.documentation()["pretty_name"],
    [dataset.queries_count(), dataset.queries_iter().__next__().default_text()],
]))
"""


def loaded_by_ir_datasets(folder, home):
    environment = {"IR_DATASETS_HOME": str(home), "HOME": str(home)}
    command = [sys.executable, "-c", LOAD, str(folder)]
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    return yaml.safe_load(ended.stdout)


def test_ir_datasets_loads_a_released_task(unzipped, tmp_path):
    topics, qrels, words, name, _ = loaded_by_ir_datasets(unzipped("ir-datasets.zip"), tmp_path)

    assert [topic[:2] for topic in topics] == [
        ["A.1", "The title of A.1"],
        ["A.2", "The title of A.2"],
    ]
    assert qrels == [["A.1", "10", 3, "0"], ["A.1", "11", 0, "0"], ["A.2", "12", 2, "0"]]
    assert (words["3"], name.endswith("Answer retrieval")) == ("High", True)


def test_ir_datasets_loads_the_published_archive(released, tmp_path):
    for path, _, chunks, _ in lab_documents(released.lab, published=True):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(b"".join(chunks))

    assert len(loaded_by_ir_datasets(tmp_path / "task1", tmp_path)[1]) == 3
