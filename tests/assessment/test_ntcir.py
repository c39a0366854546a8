"""NTCIR-12's formula browsing on a collection of our own: ids of formulas are not numbers."""

import re
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from arqkit.formats.archives.folders import SourceFolder
from arqkit.formats.topics.files import read_topics, write_topics
from arqkit.loads import LoadChoice
from arqkit.protocols.presets import PROTOCOLS
from arqkit.records import TaskKind
from arqlab.core.models import Task, User
from assessment.judging.services.turkle import turkle_files
from assessment.models import PoolInstance
from assessment.pools.selectors.choices import PoolChoice
from assessment.pools.services.freezing import freeze_pool
from assessment.pools.services.texts import typeset_waiting_pools
from assessment.qrels.services.loading import load_lab
from assessment.qrels.services.versions import QrelsChoice, freeze_qrels
from assessment.rounds.services.adjudication import shown_instance
from collection.selectors.collections import formulas_frame
from evaluation.models import RunScore
from evaluation.services.scoring import score_waiting
from submissions.models import Run
from submissions.services.uploads import submit_upload
from submissions.services.validation import validate_uploaded_run
from tests.assessment.articles import ARTICLES, lab_of_articles
from tests.assessment.factories import NOW, assign, make_formula_pool
from tests.assessment.judging.desk import Desk
from tests.assessment.rounds.factories import round_of, vote
from tests.factories import AssessorFactory, TeamFactory
from tests.submissions.factories import sent

D, B = "Duckworth–Lewis_method", "Beta_function_(physics)"
ALONE = asdict(PROTOCOLS["ntcir-10"].tasks[TaskKind.FORMULAS].pool)
RUN = """\
W-1 Q0 Duckworth–Lewis_method:1 1 3.0 t
W-1 Q0 Beta_function_(physics):1 2 2.0 t
W-1 Q0 Hilbert's_axioms,_π:0 3 1.0 t
"""


@pytest.fixture
def task(tmp_path: Path, db: None) -> Task:
    """Return the task of the lab, loaded with its articles, one of them with MathML."""
    lab_of_articles(tmp_path, "W-1")
    loaded = load_lab(folder=SourceFolder(tmp_path), at=NOW, by=None)
    assert not loaded.warnings
    return loaded.lab.tasks.select_related("lab").get()


@pytest.fixture
def run(task: Task) -> Run:
    """Return a run of the task."""
    team = TeamFactory(lab=task.lab)
    file = sent(RUN.encode(), "a.run")
    [run] = submit_upload(file=file, task=task, team=team, by=None, at=NOW)
    validate_uploaded_run(run_id=run.pk, at=NOW)
    return Run.objects.get(pk=run.pk)


def test_formulas_of_articles_are_known_pooled_looked_up_shown_and_judged(
    task: Task, run: Run
) -> None:
    frame = formulas_frame(task.lab)
    assert set(frame["formula_id"]) == {f"{name}:{at}" for name in ARTICLES for at in (0, 1)}
    assert (run.status, list(run.problems.all())) == ("valid", [])
    rules = replace(task.protocol.pool, visually_distinct=True)
    pool = freeze_pool(task=task, choice=PoolChoice(rules, 1), by=None, at=NOW)
    typeset_waiting_pools(seconds=60)
    assert pool.items.count() == 2  # w=10 is one formula in two articles
    user = AssessorFactory(lab=task.lab).user
    assign(user, task.topics.get())
    desk = Desk(user, "W-1", lab="wiki", task="formulas")
    while item := desk.next():
        for shown in item["instances"]:
            assert "is-highlighted" in shown["html"]
            assert "<math" in shown["html"]
            assert shown["heading"].removeprefix("Document ") in ARTICLES
            assert shown["thread_url"] == ""
        desk.submit(item, *[2 for _ in item["instances"]])
    second = AssessorFactory(lab=task.lab).user
    again = round_of(task, "second", second)
    ids = [instance.doc_id for instance in PoolInstance.official.all()]
    for doc_id in ids:
        vote(again, second, doc_id, 1)
    frozen = freeze_qrels(task=task, choice=QrelsChoice("own"), by=None, at=NOW)
    assert dict(frozen.qrels.values_list("doc_id", "relevance")) == dict.fromkeys(ids, 3)
    assert "Duckworth–Lewis_method:1" in ids


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("formulas/by-id/Duckworth–Lewis_method:1/", "Beta function (physics)"),
        ("posts/Duckworth–Lewis_method/?formula=Duckworth–Lewis_method:1", "is-highlighted"),
        ("posts/?q=Duckworth–Lewis_method:1", "formulas/2/"),
        ("tasks/formulas/topics/", "tml-fbox"),
        ("tasks/formulas/topics/W-1/", "tml-fbox"),
    ],
)
def test_pages_show_formulas_of_articles_by_id_and_wildcards_of_topics_in_boxes(
    task: Task, client, address: str, shown: str
) -> None:
    client.force_login(User.objects.create_superuser("boss"))

    page = client.get(f"/labs/wiki/{address}", follow=True)

    assert page.status_code == 200
    assert shown in page.text


def test_scenario_and_criteria_are_read_shown_to_assessors_and_written(
    task: Task, tmp_path: Path, client
) -> None:
    row = 'W-1,Find rules with $w=10$.,"Any number, but w",secret\n'
    (tmp_path / "info.csv").write_text(f"Topic,Scenario,Relevance criteria,Note\n{row}")
    lab = (tmp_path / "lab.toml").read_text()
    (tmp_path / "lab.toml").write_text(lab + 'topic_info = "info.csv"\n')
    load_lab(folder=SourceFolder(tmp_path), at=NOW, by=None, choice=LoadChoice(confirmed=True))
    make_formula_pool(
        task, {"W-1": {"2": [("Duckworth–Lewis_method:1", "Duckworth–Lewis_method")]}}
    )
    user = AssessorFactory(lab=task.lab).user
    assign(user, task.topics.get())
    client.force_login(user)

    for address in ("judge/W-1/", "topics/W-1/"):
        page = client.get(f"/labs/wiki/tasks/formulas/{address}").text
        text = " ".join(re.sub("<[^>]+>", " ", page).split())
        assert "Scenario Find rules with w = 10 ." in text
        assert "Relevance criteria Any number, but w" in text
        assert "secret" not in text
        assert "W-1/thread/" not in page
    [topic] = client.get("/api/v1/labs/wiki/tasks/formulas/topics/").json()["results"]
    assert topic["info"] == {"scenario": "Find rules with $w=10$.", "criteria": "Any number, but w"}
    written = write_topics([task.topics.get().record])
    assert read_topics(written, path="t.xml", formulas=True) == [task.topics.get().record]
    (tmp_path / "topics.txt").write_bytes(written)
    (tmp_path / "lab.toml").write_text(lab)
    load_lab(folder=SourceFolder(tmp_path), at=NOW, by=None, choice=LoadChoice(confirmed=True))
    assert task.topics.get().info["criteria"] == "Any number, but w"


def test_formulas_of_ntcir_10_are_judged_without_their_documents_in_every_place(
    tmp_path: Path, db: None, client
) -> None:
    lab_of_articles(tmp_path, "W-1", protocol="ntcir-10")
    task = (
        load_lab(folder=SourceFolder(tmp_path), at=NOW, by=None)
        .lab.tasks.select_related("lab")
        .get()
    )
    make_formula_pool(task, {"W-1": {"2": [(f"{D}:1", D), (f"{B}:1", B)]}}, settings=ALONE)
    person, second = (AssessorFactory(lab=task.lab).user for _ in range(2))
    assign(person, task.topics.get())
    desk = Desk(person, "W-1", lab="wiki", task="formulas")
    item = desk.next()
    again = Desk(
        second, "W-1", lab="wiki", task="formulas", round=round_of(task, "second", second).key
    )
    instance = PoolInstance.official.get(doc_id=f"{D}:1")
    places = [
        item,
        desk.get(f"items/{item['item']}/"),
        again.next(),
        {"instances": [shown_instance(instance, lab_slug="wiki")]},
    ]
    desk.submit(item, 2, 1)

    for place in places:
        for shown in place["instances"]:
            assert shown["heading"] == "Formula without its document"
            assert (shown["title_html"], shown["thread_url"]) == ("", "")
            assert "is-highlighted" in shown["html"]
            assert re.sub("<[^>]+>", "", shown["html"]).replace(" ", "") == "w=10"
    [batch] = [
        b"".join(data) for name, data in turkle_files(task.pools.get(round=None)) if "csv" in name
    ]
    assert b"Formula without its document" in batch
    assert b"Duckworth\xe2\x80\x93Lewis method" not in batch
    client.force_login(User.objects.create_superuser("boss"))
    assert "shown without their documents" in client.get("/labs/wiki/tasks/formulas/pools/1/").text


def test_ntcir_11_scores_the_rank_of_the_one_relevant_formula_and_has_no_pool(
    tmp_path: Path, db: None, client
) -> None:
    lab = lab_of_articles(tmp_path, "W-1", protocol="ntcir-11")
    (tmp_path / "qrels.txt").write_text(f"W-1 0 {B}:1 1\n")
    qrels = 'qrels = [{ name = "known", file = "qrels.txt" }]\n'
    (tmp_path / "lab.toml").write_text(lab + qrels)
    loaded = load_lab(folder=SourceFolder(tmp_path), at=NOW, by=None)
    assert not loaded.warnings
    task = loaded.lab.tasks.select_related("lab").get()
    file, team = sent(RUN.encode(), "a.run"), TeamFactory(lab=task.lab)
    [run] = submit_upload(file=file, task=task, team=team, by=None, at=NOW)
    validate_uploaded_run(run_id=run.pk, at=NOW)

    score_waiting(at=NOW)

    scores = RunScore.objects.filter(run=run).values_list("measure", "value")
    assert dict(scores) == {"RR(rel=1)": 0.5}
    client.force_login(User.objects.create_superuser("boss"))
    assert "no pool" in client.get("/labs/wiki/tasks/formulas/pools/plan/").text
    (tmp_path / "more.txt").write_text(f"W-1 0 {B}:1 1\nW-1 0 {B}:0 1\n")
    (tmp_path / "lab.toml").write_text(
        lab + qrels.replace("known", "more").replace("qrels.txt", "more.txt")
    )
    [warning] = load_lab(folder=SourceFolder(tmp_path), at=NOW, by=None).warnings
    assert "1 topic has none or several relevant items, such as W-1." in warning


@pytest.mark.parametrize("slug", [slug for slug in PROTOCOLS if slug.startswith("ntcir")])
def test_every_preset_of_ntcir_has_its_pages(tmp_path: Path, db: None, client, slug: str) -> None:
    lab_of_articles(tmp_path, "W-1", "W-2", protocol=slug)
    load_lab(folder=SourceFolder(tmp_path), at=NOW, by=None)
    client.force_login(User.objects.create_superuser("boss"))

    for page in ("", "pools/", "pools/plan/", "qrels/", "leaderboard/", "guidelines/", "edit/"):
        assert client.get(f"/labs/wiki/tasks/formulas/{page}").status_code == 200
