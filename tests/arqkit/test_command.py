"""The command `arqkit`: exit codes, sentences, scores and pools."""

from collections import defaultdict

import pytest
import pytrec_eval

from arqkit.protocols.presets import PRIMES
from tests.offline import EXTRAS, arqkit, run_alone
from tests.real_data import DATA, needs_data, read_run

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


def table(ended):
    """Return the rows of a printed table as dictionaries."""
    heads, *rows = (line.split() for line in ended.stdout.splitlines())
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
def test_the_scores_are_those_of_trec_eval(tmp_path, judged_only):
    [path] = TASK1.glob("PSU-task1-PSU1*")
    expected, topics = trec_eval(path, judged_only=judged_only)
    measures = MEASURES[judged_only]

    ended = arqkit(tmp_path, "score", path, QRELS, "--topics", "--measures", *measures)

    *by_topic, everything = table(ended)
    for head, name in NAMES[judged_only].items():
        for row in by_topic:
            value = expected.get(row["topic"], {}).get(name, 0)
            assert float(row[head]) == pytest.approx(value, abs=5.1e-5)
        total = sum(values[name] for values in expected.values()) / topics
        assert float(everything[head]) == pytest.approx(total, abs=5.1e-5)


def test_qrels_of_visual_ids_score_the_first_instance_of_each_formula(folder):
    files = ("formulas.tsv", "formula-qrels.tsv", "--measures", "AP")

    [row] = table(arqkit(folder, "score", *files, "--visual-ids", "visual.tsv"))

    assert row["MAP"] == "1.0000"  # v1, v3; with the second instance of v1 it would be 0.8333
    assert "none of its items is judged" in arqkit(folder, "score", *files).stderr


def test_a_pool_of_visual_ids_has_each_formula_once(folder):
    files = ("formulas.tsv", "--depth", "2", "--visual-ids", "visual.tsv")

    assert sorted(arqkit(folder, "pool", *files).stdout.splitlines()) == ["B.1\tv1", "B.1\tv3"]


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
        (["pool", "run.tsv", "--depth", "0"], 2, "0 is no depth"),
        (["pool", "run.tsv"], 2, "required: --depth"),
        (["check", "run.tsv", "--task", "run.tsv"], 2, "Download the task pack"),
        (["check", "run.tsv", "bad.tsv", "--task", "run.tsv", "--repair", "x"], 2, "takes one run"),
        ([], 2, "required: COMMAND"),
    ],
)
def test_what_cannot_be_answered_has_a_code_and_a_sentence(folder, arguments, code, sentence):
    ended = arqkit(folder, *arguments)

    assert (ended.returncode, ended.stdout) == (code, "")
    assert sentence in ended.stderr
    assert "Traceback" not in ended.stderr


def test_a_missing_extra_is_named(tmp_path):
    code = f"""
import sys; sys.modules.update(dict.fromkeys({EXTRAS}))
from pathlib import Path
from arqkit.formats.dumps.sources import _archive
with _archive(Path("dump.7z")): pass
"""
    assert "pip install 'arqkit[archives]'" in run_alone(tmp_path, code).stderr
