"""A lab in the form of the published Task 3 material: topics, run map, qrels of answers like d_17.

The expected figures are the mean label over the topics that a run answered, by hand.
"""

import re
from io import StringIO
from pathlib import Path
from random import Random

import pytest
from django.core.management import call_command
from django.test import Client

from arqkit.formats.archives.folders import SourceFolder
from arqkit.loads import LoadChoice
from arqlab.core.models import Task, Team, User
from assessment.models import QrelSet
from assessment.pools.selectors.choices import poolable_runs
from assessment.qrels.services.loading import load_lab
from evaluation.models import RunScore
from evaluation.services.scoring import score_waiting
from submissions.models import Run
from submissions.services.changing import withdraw_run
from submissions.services.uploads import submit_upload
from submissions.services.validation import validate_uploaded_run
from tests.factories import TeamFactory
from tests.submissions.factories import NOW, sent

LAB = """
[lab]
slug = "arqmath-3"
name = "ARQMath-3"
protocol = "arqmath-3"

[[tasks]]
slug = "task3"
name = "Open-domain QA"
kind = "written-answers"
topics = "topics.xml"
answer_ids = "ids.tsv"
qrels = [{ name = "complete", file = "qrels.tsv" }]
"""
TOPICS = "".join(f'<Topic number="A.{n}"><Title>t</Title></Topic>' for n in range(301, 305))
GPT3, DPRL = "Baseline2022-task3-GPT3-auto-both-generate-P", "DPRL-task3-SBERT-auto-both-extract-A"
# The two runs have the same answer to A.301. Answer d_6 was not judged, d_5 is a system failure.
IDS = f"""{GPT3}\tA.301\td_1
{GPT3}\tA.302\td_2
{GPT3}\tA.303\td_3
{GPT3}\tA.304\td_4
{DPRL}\tA.301\td_1
{DPRL}\tA.302\td_5
{DPRL}\tA.303\td_6
"""
QRELS = """A.301\t0\td_1\t3
A.302\t0\td_2\t1
A.302\t0\td_5\t5
A.303\t0\td_3\t6
A.304\t0\td_4\t2
"""
RUNS = {"Baseline2022-task3-GPT3": 78, "DPRL-task3-SBERT-auto-both-extract-A": 61}
GPT3_FILE = b"".join(b"A.%d\t1\t1.0\tGPT3\n" % n for n in range(301, 305))
DPRL_FILE = b"".join(b"A.%d\t1\t0.9\tSBERT\t\tAn answer.\n" % n for n in range(301, 304))


@pytest.fixture
def folder(tmp_path: Path, db: None) -> Path:
    (tmp_path / "lab.toml").write_text(LAB)
    (tmp_path / "topics.xml").write_text(f"<Topics>{TOPICS}</Topics>")
    (tmp_path / "ids.tsv").write_text(IDS)
    (tmp_path / "qrels.tsv").write_text(QRELS)
    return tmp_path


@pytest.fixture
def third(folder: Path) -> Task:
    """Return the task of the loaded lab."""
    loaded = load_lab(folder=SourceFolder(folder), at=NOW, by=None)
    assert loaded.warnings == ()
    return loaded.lab.tasks.select_related("lab").get()


def submit(task: Task, name: str, data: bytes, team: Team | None = None) -> Run:
    """Submit and validate a run file."""
    team = team or TeamFactory(lab=task.lab)
    [run] = submit_upload(file=sent(data, f"{name}.tsv"), task=task, team=team, by=None, at=NOW)
    validate_uploaded_run(run_id=run.pk, at=NOW)
    run.refresh_from_db()
    assert run.status == "valid", run.problems.all()
    return run


def scores(run: Run) -> dict[str, float]:
    score_waiting(at=NOW)
    return dict(RunScore.objects.filter(run=run).values_list("measure", "value"))


def test_runs_with_and_without_texts_are_scored_by_the_ids_of_their_answers(third):
    bare, written = submit(third, GPT3, GPT3_FILE), submit(third, DPRL, DPRL_FILE)

    assert scores(bare) == pytest.approx({"AR": (3 + 1 + 0 + 2) / 4, "P(rel=2)@1": 2 / 4})
    assert scores(written) == pytest.approx({"AR": (3 + 0 + 0) / 3, "P(rel=2)@1": 1 / 3})
    assert bare.answer_ids["A.304"] == "d_4"
    assert not bare.problems.exists()


def test_runs_from_before_the_ids_were_loaded_are_joined_and_scored_again(folder):
    (folder / "lab.toml").write_text(LAB.replace('answer_ids = "ids.tsv"\n', ""))
    loaded = load_lab(folder=SourceFolder(folder), at=NOW, by=None)
    run = submit(loaded.lab.tasks.select_related("lab").get(), DPRL, DPRL_FILE)
    assert scores(run)["AR"] == 0.0

    (folder / "lab.toml").write_text(LAB)
    loaded = load_lab(folder=SourceFolder(folder), at=NOW, by=None)

    assert (loaded.is_changed, loaded.warnings) == (True, ())
    assert scores(run)["AR"] == 1.0
    assert not load_lab(folder=SourceFolder(folder), at=NOW, by=None).is_changed


def test_the_upload_page_says_that_texts_may_be_missing(third, client):
    client.force_login(User.objects.create_superuser("boss"))
    TeamFactory(lab=third.lab)

    page = client.get("/labs/arqmath-3/tasks/task3/runs/upload/").text

    assert "Sources and answers may be missing" in page


def test_runs_on_the_real_topics_have_the_mean_label_of_their_answers(
    shared_data: Path, folder: Path
):
    topics = (shared_data / "arqmath-3" / "topics.task1.xml").read_bytes()
    (folder / "topics.xml").write_bytes(topics)
    numbers = re.findall(rb'number="(A\.\d+)"', topics)
    draw = Random(7)
    answered = {name: draw.sample(numbers, k=size) for name, size in RUNS.items()}
    ids = {(name, one): f"d_{draw.randrange(150)}" for name in RUNS for one in answered[name]}
    labels = {(one, answer): draw.choice([0, 0, 1, 2, 3, 5, 6]) for (_, one), answer in ids.items()}
    unjudged = draw.sample(sorted(labels), k=20)
    lines = [f"{name}\t{one.decode()}\t{answer}\n" for (name, one), answer in ids.items()]
    (folder / "ids.tsv").write_text("".join(lines))
    judged = {pair: label for pair, label in labels.items() if pair not in unjudged}
    rows = [f"{one.decode()}\t0\t{answer}\t{label}\n" for (one, answer), label in judged.items()]
    (folder / "qrels.tsv").write_text("".join(rows))
    task = (
        load_lab(folder=SourceFolder(folder), at=NOW, by=None).lab.tasks.select_related("lab").get()
    )

    for name in RUNS:
        data = b"".join(b"%s\t1\t1.0\t%s\n" % (one, name.encode()) for one in answered[name])
        there = [one for one in answered[name] if one in {topic for topic, _ in judged}]
        found = [judged.get((one, ids[name, one]), 0) for one in there]
        gains = [label if label <= 3 else 0 for label in found]
        relevant = [gain >= 2 for gain in gains]

        assert scores(submit(task, name, data)) == pytest.approx(
            {"AR": sum(gains) / len(gains), "P(rel=2)@1": sum(relevant) / len(gains)}
        )


def test_corrected_ids_replace_the_earlier_ones(folder, third):
    run = submit(third, DPRL, DPRL_FILE)
    (folder / "ids.tsv").write_text(IDS.replace("A.302\td_5", "A.302\td_2"))
    load_lab(folder=SourceFolder(folder), at=NOW, by=None, choice=LoadChoice(confirmed=True))

    assert scores(run)["AR"] == pytest.approx((3 + 1 + 0) / 3)


def test_a_second_run_with_the_file_name_gets_no_labels_until_the_first_is_withdrawn(third):
    first, second = submit(third, GPT3, GPT3_FILE), submit(third, GPT3, GPT3_FILE)
    assert (scores(first)["AR"], scores(second)["AR"]) == (1.5, 0.0)
    [warning] = second.problems.filter(kind="no-answer-ids")
    assert "belong to another run of the task" in warning.message

    withdraw_run(run=first, reason="Uploaded for another team.", by=None, at=NOW)

    assert scores(second)["AR"] == 1.5
    assert not second.problems.filter(kind="no-answer-ids").exists()


def test_a_run_that_the_ids_do_not_name_gets_a_warning(third):
    run = submit(third, "other", GPT3_FILE)

    [warning] = run.problems.filter(kind="no-answer-ids")
    assert "do not name the file other" in warning.message


def test_only_runs_with_texts_can_be_pooled(third):
    bare, written = submit(third, GPT3, GPT3_FILE), submit(third, DPRL, DPRL_FILE)

    assert poolable_runs(third) == (
        [written],
        [(bare, "Its file has no texts that assessors could judge.")],
    )


def test_qrels_whose_answers_join_no_run_are_reported_when_they_are_loaded_and_on_their_page(
    folder: Path, client: Client
):
    (folder / "lab.toml").write_text(LAB.replace('answer_ids = "ids.tsv"\n', ""))
    err = StringIO()

    call_command("load_lab", str(folder), stdout=StringIO(), stderr=err)

    told = "Qrels complete of arqmath-3/task3: 5 of 5 answers join no run, such as d_1."
    assert err.getvalue().startswith(f"Warning: {told}")
    assert "answer_ids in lab.toml" in err.getvalue()
    client.force_login(User.objects.create_superuser("boss"))
    assert told in client.get("/labs/arqmath-3/tasks/task3/qrels/1/").text


def test_qrels_that_name_runs_join_when_these_are_submitted(folder: Path):
    (folder / "lab.toml").write_text(LAB.replace('answer_ids = "ids.tsv"\n', ""))
    (folder / "qrels.tsv").write_text("A.301\t0\tSBERT:A.301\t3\nA.302\t0\tSBERT:A.301\t3\n")
    loaded = load_lab(folder=SourceFolder(folder), at=NOW, by=None)
    assert "2 of 2 answers join no run, such as SBERT:A.301" in loaded.warnings[0]

    submit(loaded.lab.tasks.select_related("lab").get(), DPRL, DPRL_FILE)

    [warning] = load_lab(folder=SourceFolder(folder), at=NOW, by=None).warnings
    assert "1 of 2 answers join no run" in warning
    assert QrelSet.objects.count() == 1
