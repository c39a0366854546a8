"""The command `arqkit`: exit codes, sentences, scores and pools."""

import zipfile
from collections import defaultdict

import pytest
import pytrec_eval

from arqkit import __version__ as arqkit_version
from arqkit.__main__ import main
from arqkit.formats.runs.packs import FileLimits, TaskPack, pack_chunks
from arqkit.formats.runs.report import RunRules
from arqkit.protocols.presets import PRIMES
from arqkit.records import TaskKind
from tests.offline import EXTRAS, run_alone
from tests.real_data import DATA, needs_data, read_run

LIMITS = FileLimits(10**6, max_lines=10**4, max_run_bytes=10**6)
RUN = "A.1\t10\t1\t9.5\tt\nA.1\t11\t2\t8.5\tt\n"
FORMULAS = "B.1\t1\t10\t1\t9.5\tt\nB.1\t2\t10\t2\t8.5\tt\nB.1\t3\t11\t3\t7.5\tt\n"
TASK1 = DATA / "arqmath-1" / "runs" / "task1"
QRELS = DATA / "arqmath-1" / "qrels.task1.tsv"
NAMES = {
    False: {"nDCG": "ndcg_cut_1000", "MAP": "map", "P@10": "P_10", "MRR": "recip_rank"},
    True: {"nDCG'": "ndcg_cut_1000", "MAP'": "map", "P'@10": "P_10"},
}
MEASURES = {False: ["nDCG@1000", "AP", "P@10", "RR"], True: PRIMES}


@pytest.fixture
def folder(tmp_path):
    """Return a folder with small files."""
    files = {
        "run.tsv": RUN,
        "formulas.tsv": FORMULAS,
        "bad.tsv": RUN.replace("8.5", "much"),
        "written.tsv": "A.1\t1\t1.0\tt\t\tIt is a long answer.\n",
        "qrels.tsv": "A.1 0 11 2\n",
        "formula-qrels.tsv": "B.1 0 v1 2\nB.1 0 v3 2\n",
        "visual.tsv": "formula_id\tvisual_id\n1\tv1\n2\tv1\n3\tv3\n",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


@pytest.fixture
def called(folder, monkeypatch, capsys):
    """Return a function that calls the command in the folder: its exit code, output and errors."""
    monkeypatch.chdir(folder)

    def call(*arguments):
        try:
            code = main([str(argument) for argument in arguments])
        except SystemExit as ended:
            code = ended.code
        return code, *capsys.readouterr()

    return call


def table(text):
    """Return the rows of a printed table as dictionaries."""
    heads, *rows = (line.split() for line in text.splitlines())
    return [dict(zip(heads, row, strict=True)) for row in rows]


def trec_eval(path, *, judged_only):
    """Return the means that trec_eval computes, and its scores by topic."""
    qrels, run = defaultdict(dict), defaultdict(dict)
    for line in QRELS.read_text(encoding="utf-8").splitlines():
        topic, _, item, label = line.split()
        qrels[topic][item] = int(float(label))
    for topic, item, _, score in read_run(path):
        if topic in qrels and (item in qrels[topic] or not judged_only):
            run[topic][item] = score
    measures = {"ndcg_cut.1000", "map", "P.10", "recip_rank"}
    scorer = pytrec_eval.RelevanceEvaluator(dict(qrels), measures, relevance_level=2)
    return scorer.evaluate(dict(run)), len(qrels)


@needs_data
@pytest.mark.parametrize("judged_only", [False, True])
def test_the_scores_are_those_of_trec_eval(called, judged_only):
    [path] = TASK1.glob("PSU-task1-PSU1*")
    expected, topics = trec_eval(path, judged_only=judged_only)
    measures = MEASURES[judged_only]

    _, printed, _ = called("score", path, QRELS, "--topics", "--measures", *measures)

    *by_topic, everything = table(printed)
    for head, name in NAMES[judged_only].items():
        for row in by_topic:
            value = expected.get(row["topic"], {}).get(name, 0)
            assert float(row[head]) == pytest.approx(value, abs=5.1e-5)
        total = sum(values[name] for values in expected.values()) / topics
        assert float(everything[head]) == pytest.approx(total, abs=5.1e-5)


def test_qrels_of_visual_ids_score_the_first_instance_of_each_formula(called):
    files = ("formulas.tsv", "formula-qrels.tsv", "--measures", "AP")

    [row] = table(called("score", *files, "--visual-ids", "visual.tsv")[1])

    assert row["MAP"] == "1.0000"  # v1, v3; with the second instance of v1 it would be 0.8333
    assert "none of its items is judged" in called("score", *files)[2]


def test_a_pool_of_visual_ids_has_each_formula_once(called):
    files = ("formulas.tsv", "--depth", "2", "--visual-ids", "visual.tsv")

    assert sorted(called("pool", *files)[1].splitlines()) == ["B.1\tv1", "B.1\tv3"]


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        (["score", "bad.tsv", "qrels.tsv"], 1, "ERROR score-not-a-number (1)"),
        (["pool", "bad.tsv", "--depth", "5"], 1, "ERROR score-not-a-number (1)"),
        (["score", "written.tsv", "qrels.tsv"], 2, "has generated answers"),
        (["score", "run.tsv", "run.tsv", "qrels.tsv"], 2, "Two runs have the name run.tsv"),
        (["score", "run.tsv", "run.tsv"], 2, "found a run; expected qrels"),
        (["score", "run.tsv", "qrels.tsv", "--measures", "XY"], 2, "Unknown measure 'XY'"),
        (["score", "run.tsv", "absent.tsv"], 2, "absent.tsv: No such file"),
        (["score", "run.tsv", "qrels.tsv", "--visual-ids", "run.tsv"], 2, "Name a TSV with"),
        (["pool", "run.tsv", "--depth", "0"], 2, "0 is not a depth"),
        (["pool", "run.tsv"], 2, "required: --depth"),
        (["check", "run.tsv", "--task", "run.tsv"], 2, "Download the task pack"),
        (["check", "run.tsv", "bad.tsv", "--task", "run.tsv", "--repair", "x"], 2, "takes one run"),
        ([], 2, "required: COMMAND"),
    ],
)
def test_what_cannot_be_answered_has_a_code_and_a_sentence(called, arguments, code, sentence):
    ended, printed, error = called(*arguments)

    assert (ended, printed) == (code, "")
    assert sentence in error


def write_pack(path, *, replacing=(b"", b""), **changes):
    """Write the pack of a task with a topic, with other bytes in its settings."""
    pack = TaskPack("lab/task1", RunRules(TaskKind.ANSWERS, ("A.1",)), LIMITS, **changes)
    path.write_bytes(b"".join(pack_chunks(pack)))
    with zipfile.ZipFile(path) as archive:
        settings = archive.read("task.json").replace(*replacing)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("task.json", settings)


def test_a_run_is_valid_or_has_errors_by_the_pack(called, folder):
    write_pack(folder / "pack.zip", version="9.9")

    code, printed, _ = called("check", "run.tsv", "--task", "pack.zip", "--repair", "new.tsv")

    assert code == 0
    assert "There is nothing to repair, so new.tsv was not written." in printed
    assert printed.endswith(f"The pack is from arqkit 9.9, this is {arqkit_version}.\n")
    assert called("check", "bad.tsv", "--task", "pack.zip")[0] == 1
    assert not (folder / "new.tsv").exists()


def test_a_repair_is_written_once_and_for_one_run(called, folder):
    write_pack(folder / "pack.zip")
    (folder / "comma.tsv").write_text(RUN.replace(".5", ",5"), encoding="utf-8")
    with zipfile.ZipFile(folder / "two.zip", "w") as archive:
        archive.writestr("one.tsv", RUN)
        archive.writestr("two.tsv", RUN)
    repair = ("--task", "pack.zip", "--repair", "new.tsv")

    assert called("check", "comma.tsv", *repair)[0] == 1
    assert (folder / "new.tsv").read_text(encoding="utf-8") == RUN
    assert "new.tsv: File exists" in called("check", "comma.tsv", *repair)[2]
    assert "--repair takes one run" in called("check", "two.zip", *repair)[2]


def test_a_file_that_cannot_be_unpacked_is_reported(called, folder):
    write_pack(folder / "pack.zip")
    (folder / "paper.tsv").write_bytes(b"%PDF-1.7")

    code, printed, _ = called("check", "paper.tsv", "--task", "pack.zip")

    assert code == 1
    assert "Found a PDF document; expected a run file" in printed


def test_a_pack_of_another_format_names_the_version_to_install(called, folder):
    write_pack(folder / "pack.zip", version="9.9", replacing=(b'"pack": 1', b'"pack": 2'))

    code, _, error = called("check", "run.tsv", "--task", "pack.zip")

    assert code == 2
    assert "found version 2 of task packs; expected version 1" in error
    assert "Install the arqkit that wrote it: 9.9." in error


def test_a_missing_extra_is_named(tmp_path):
    code = f"""
import sys; sys.modules.update(dict.fromkeys({EXTRAS}))
from pathlib import Path
from arqkit.formats.dumps.sources import opened
with opened(Path("dump.7z"), "posts"): pass
"""
    assert "pip install './arqkit[archives]'" in run_alone(tmp_path, code).stderr


def test_a_reader_that_stops_early_is_no_error(folder):
    rows = (f"A.1\t{item}\t{item}\t-{item}\tt\n" for item in range(1, 1001))
    (folder / "long.tsv").write_text("".join(rows), encoding="utf-8")
    code = """
import os, subprocess, sys
reading, writing = os.pipe()
os.close(reading)
command = [sys.executable, "-m", "arqkit", "pool", "long.tsv", "--depth", "1000"]
print(subprocess.run(command, stdout=writing, stderr=subprocess.PIPE).stderr)
"""
    assert run_alone(folder, code).stdout == "b''\n"
