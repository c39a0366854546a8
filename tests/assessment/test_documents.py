"""A task that retrieves documents, in the form of NTCIR's arXiv task, from its folder to qrels."""

import re
from pathlib import Path

import pytest

from arqkit.formats.archives.folders import SourceFolder
from arqlab.core.errors import UserError
from arqlab.core.models import Task, User
from assessment.models import PoolItem, QrelSet
from assessment.pools.selectors.choices import PoolChoice
from assessment.pools.services.freezing import freeze_pool
from assessment.pools.services.texts import typeset_waiting_pools
from assessment.qrels.services.loading import load_lab
from assessment.qrels.services.versions import QrelsChoice, freeze_qrels
from evaluation.models import RunScore
from evaluation.services.scoring import score_waiting
from submissions.models import Run
from submissions.services.uploads import submit_upload
from submissions.services.validation import validate_uploaded_run
from tests.assessment.factories import NOW, assign, judge, raise_ticket
from tests.assessment.judging.desk import Desk
from tests.assessment.rounds.factories import round_of, vote
from tests.collection.factories import load_small
from tests.evaluation.factories import make_run
from tests.factories import AssessorFactory, TeamFactory
from tests.submissions.factories import sent

LAB = """
[lab]
slug = "arxiv"
name = "NTCIR-12 arXiv"
protocol = "ntcir-12"

[[tasks]]
slug = "main"
name = "arXiv main"
kind = "documents"
topics = "topics.xml"
qrels = [{ name = "official", file = "qrels.tsv" }]
"""
TOPICS = '<Topics><Topic number="M-1"><Title>Trace of an operator</Title></Topic></Topics>'
XHTML = """<html xmlns="http://www.w3.org/1999/xhtml"><head><title>A trace</title></head><body>
<p onclick="x()">Let <math alttext="x^{2}"><mi>x</mi></math> be.</p>
<script>x()</script></body></html>
"""
# In ascending order of scores: NTCIR orders by the submitted ranks.
RUN = b"M-1 Q0 0704.0005_3 1 1.0 t\nM-1 Q0 0704.0005_4 2 2.0 t\nM-1 Q0 math/9801_1 3 3.0 t\n"


def shown_text(html: str) -> str:
    """Return the text of a page without navigation, scripts and markup."""
    return re.sub(r"(?s)<(script|style|nav|header|footer).*?</\1>|<[^>]+>", " ", html)


@pytest.fixture
def documents(tmp_path: Path, db: None) -> Task:
    """Return the task of the loaded lab, whose collection has other items."""
    (tmp_path / "lab.toml").write_text(LAB)
    (tmp_path / "topics.xml").write_text(TOPICS)
    (tmp_path / "qrels.tsv").write_text("M-1\t0\tmath/9801_1\t4\nM-1\t0\t0704.0005_3\t3.0\n")
    lab = load_lab(folder=SourceFolder(tmp_path), at=NOW, by=None).lab
    load_small(lab, tmp_path)
    return lab.tasks.select_related("lab").get()


@pytest.fixture
def run(documents: Task) -> Run:
    team = TeamFactory(lab=documents.lab)
    [run] = submit_upload(file=sent(RUN, "a.run"), task=documents, team=team, by=None, at=NOW)
    validate_uploaded_run(run_id=run.pk, at=NOW)
    return Run.objects.get(pk=run.pk)


@pytest.fixture
def assessor(documents: Task) -> User:
    user = AssessorFactory(lab=documents.lab).user
    assign(user, documents.topics.get())
    return user


def test_a_run_of_documents_is_valid_and_scored_by_rank(documents: Task, run: Run) -> None:
    score_waiting(at=NOW)

    assert (run.status, run.report["items"]) == ("valid", "documents")
    assert not run.problems.filter(kind__in=["unknown-item", "no-known-item"]).exists()
    precision = RunScore.objects.get(run=run, measure="AP(rel=3)")
    assert precision.value == pytest.approx((1 / 1 + 2 / 3) / 2)


def test_documents_are_pooled_judged_by_their_id_and_frozen_as_documents(
    documents: Task, run: Run, assessor: User
) -> None:
    pool = freeze_pool(
        task=documents, choice=PoolChoice(documents.protocol.pool, 1), by=None, at=NOW
    )
    assert set(pool.items.values_list("kind", "item")) == {
        ("documents", item) for item in ("0704.0005_3", "0704.0005_4", "math/9801_1")
    }
    for item in PoolItem.objects.filter(pool=pool):
        judge(assessor, item.instances.get(), 2 if item.item == "0704.0005_4" else 0)
    with pytest.raises(UserError, match="No topic of arxiv/main has enough judgments"):
        freeze_qrels(task=documents, choice=QrelsChoice("own"), by=None, at=NOW)
    second = AssessorFactory(lab=documents.lab).user
    again = round_of(documents, "second", second)
    for item in pool.items.all():
        vote(again, second, item.item, 1 if item.item == "0704.0005_4" else 0)

    freeze_qrels(task=documents, choice=QrelsChoice("own"), by=None, at=NOW)

    assert QrelSet.objects.get(name="own").items == "documents"
    score_waiting(at=NOW)
    found = RunScore.objects.get(run=run, qrel_set__name="own", measure="AP(rel=3)")
    assert found.value == pytest.approx(1 / 2)  # 2 + 1, the only sum from 3


def test_the_judging_page_names_a_document_without_text(
    documents: Task, run: Run, assessor: User
) -> None:
    pool = freeze_pool(
        task=documents, choice=PoolChoice(documents.protocol.pool, 1), by=None, at=NOW
    )
    item = pool.items.get(item="math/9801_1")

    desk = Desk(assessor, "M-1", lab="arxiv", task="main")
    [instance] = desk.get(f"items/{item.pk}/")["instances"]

    assert instance["heading"] == "Document math/9801_1"
    assert "The text of this item is missing" in instance["html"]
    assert instance["thread_url"] == ""


def test_a_document_in_the_collection_is_shown_with_its_text(
    documents: Task, assessor: User
) -> None:
    make_run(TeamFactory(lab=documents.lab), documents, {"M-1": ["10"]})
    freeze_pool(task=documents, choice=PoolChoice(documents.protocol.pool, 1), by=None, at=NOW)

    [instance] = Desk(assessor, "M-1", lab="arxiv", task="main").next()["instances"]

    assert instance["heading"] == "Document 10"
    assert "Since <span" in instance["html"]


def test_imported_documents_are_shown_with_title_text_and_formulas(
    documents: Task, run: Run, assessor: User, tmp_path: Path
) -> None:
    own = tmp_path / "own"
    (own / "pages").mkdir(parents=True)
    (own / "pages" / "0704.0005_3.xhtml").write_text(XHTML)
    (own / "pages" / "0704.0005_4.txt").write_text("Plain $y$ & text.")
    lab = LAB + '[collection]\nslug = "arxiv"\ndocuments = "pages"\ncomplete = false\n'
    (own / "lab.toml").write_text(lab)
    for name in ("topics.xml", "qrels.tsv"):
        (own / name).write_bytes((tmp_path / name).read_bytes())
    assert not load_lab(folder=SourceFolder(own), at=NOW, by=None).warnings
    pool = freeze_pool(
        task=documents, choice=PoolChoice(documents.protocol.pool, 1), by=None, at=NOW
    )
    typeset_waiting_pools(seconds=60)

    desk = Desk(assessor, "M-1", lab="arxiv", task="main")
    shown = {item.item: desk.get(f"items/{item.pk}/")["instances"][0] for item in pool.items.all()}

    page = shown["0704.0005_3"]
    assert (page["heading"], page["thread_url"]) == ("Document 0704.0005_3", "")
    assert page["title_html"] == "A trace"
    assert 'data-latex="x^{2}"' in page["html"]
    assert "script" not in page["html"]
    assert "&amp; text." in shown["0704.0005_4"]["html"]
    assert "The text of this item is missing" in shown["math/9801_1"]["html"]


def test_the_ticket_of_a_document_links_to_its_text(
    documents: Task, assessor: User, client
) -> None:
    make_run(TeamFactory(lab=documents.lab), documents, {"M-1": ["10"]})
    pool = freeze_pool(
        task=documents, choice=PoolChoice(documents.protocol.pool, 1), by=None, at=NOW
    )
    ticket = raise_ticket(assessor, pool.items.get().instances.get(), html="")
    client.force_login(User.objects.create_superuser("boss"))

    page = shown_text(client.get(f"/labs/arxiv/tickets/{ticket.pk}/").text)

    assert "View document" in page
    assert "Open the document to view the item." in page
    assert "hread" not in page


def test_the_pages_of_the_task_describe_documents(documents: Task, run: Run, client) -> None:
    client.force_login(User.objects.create_superuser("boss"))

    page = client.get("/labs/arxiv/tasks/main/runs/upload/").text

    assert "a document or paragraph" in page
    assert "0704.0005_3 → 1 → 12.53" in page
    assert "Query_Id" not in page
    assert "You judge documents" in client.get("/labs/arxiv/tasks/main/guidelines/").text
    for page in ("", "pools/plan/", "pools/freeze/", "qrels/", "leaderboard/", "guidelines/"):
        text = client.get(f"/labs/arxiv/tasks/main/{page}").text
        assert not re.findall(r"\bthreads?\b|\bquestion\b|\banswers?\b", shown_text(text), re.I)


def test_the_judging_page_has_a_topic_and_no_words_of_threads_or_formula_instances(
    documents: Task, run: Run, assessor: User, client
) -> None:
    freeze_pool(task=documents, choice=PoolChoice(documents.protocol.pool, 1), by=None, at=NOW)
    client.force_login(assessor)

    text = shown_text(client.get("/labs/arxiv/tasks/main/judge/M-1/").text)

    assert "Switch between topic and item" in text
    found = set(re.findall(r"\b(?:threads?|questions?|answers?|posts?|instances?)\b", text, re.I))
    assert found == {"Thread"}  # the hidden link of the template of all items
    assert "Next instance of the formula" not in text


def test_forms_of_the_task_have_no_fields_of_threads(documents: Task, client) -> None:
    client.force_login(User.objects.create_superuser("boss"))

    edit = "/labs/arxiv/tasks/main/edit/"
    form = client.get(edit).context["form"]
    fields = {name: form[name].value() for name in form.fields}
    sent = {name: value for name, value in fields.items() if value} | {"name": "Main"}
    saved = client.post(edit, sent)

    assert "threads" not in fields
    assert (saved.status_code, Task.objects.get().name) == (302, "Main")
    load = client.get("/labs/arxiv/tasks/main/load/topics/")
    assert "topic_formulas" not in load.context["form"].fields
