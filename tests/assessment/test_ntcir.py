"""NTCIR-12's formula browsing on a collection of our own: ids of formulas are not numbers."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from arqkit.formats.topics.files import read_topics, write_topics
from arqkit.loads import LoadChoice
from arqlab.core.models import Task, User
from assessment.models import PoolInstance
from assessment.pools.selectors.choices import PoolChoice
from assessment.pools.services.freezing import freeze_pool
from assessment.pools.services.texts import typeset_waiting_pools
from assessment.qrels.services.loading import load_lab
from assessment.qrels.services.versions import QrelsChoice, freeze_qrels
from collection.selectors.collections import formulas_frame
from submissions.models import Run
from submissions.services.uploads import submit_upload
from submissions.services.validation import validate_uploaded_run
from tests.assessment.factories import NOW, assign, make_formula_pool
from tests.assessment.judging.desk import Desk
from tests.assessment.rounds.factories import round_of, vote
from tests.factories import AssessorFactory, TeamFactory
from tests.submissions.factories import sent

LAB = """
[lab]
slug = "wiki"
name = "Formulas of articles"
protocol = "ntcir-12"

[collection]
slug = "articles"
documents = "articles.jsonl"

[[tasks]]
slug = "formulas"
name = "Formula queries"
kind = "formulas"
topics = "topics.txt"
"""
SPAN = '<span class="math-container" id="{}">${}$</span>'
ARTICLES = {
    "Duckworth–Lewis_method": ["Z(u,w)=Z_0(w)", "w=10"],
    "Beta_function_(physics)": [r"\beta(g)=\mu", "w=10"],
    "Hilbert's_axioms,_π": ["a+b", r"\beta(g)=\mu"],
}
MATH = '<math id="Duckworth–Lewis_method:1" alttext="w=10"><mi>w</mi><mo>=</mo><mn>10</mn></math>'
RUN = """\
W-1 Q0 Duckworth–Lewis_method:1 1 3.0 t
W-1 Q0 Beta_function_(physics):1 2 2.0 t
W-1 Q0 Hilbert's_axioms,_π:0 3 1.0 t
"""


@pytest.fixture
def task(tmp_path: Path, db: None) -> Task:
    """Return the task of the lab, loaded with its articles, one of them with MathML."""
    lines = []
    for name, formulas in ARTICLES.items():
        spans = [SPAN.format(f"{name}:{at}", latex) for at, latex in enumerate(formulas)]
        html = f"<p>Let {spans[0]} and {spans[1]}.</p>"
        if name.startswith("Duckworth"):
            html = f"<html><body>{html.replace(spans[1], MATH)}</body></html>"
        lines.append(json.dumps({"id": name, "title": name.replace("_", " "), "html": html}))
    (tmp_path / "articles.jsonl").write_text("\n".join(lines))
    (tmp_path / "topics.txt").write_text("W-1\tw=\\qvar{*1*}\n")
    (tmp_path / "lab.toml").write_text(LAB)
    loaded = load_lab(folder=tmp_path, at=NOW, by=None)
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
    (tmp_path / "lab.toml").write_text(LAB + 'topic_info = "info.csv"\n')
    load_lab(folder=tmp_path, at=NOW, by=None, choice=LoadChoice(confirmed=True))
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
    (tmp_path / "lab.toml").write_text(LAB)
    load_lab(folder=tmp_path, at=NOW, by=None, choice=LoadChoice(confirmed=True))
    assert task.topics.get().info["criteria"] == "Any number, but w"
