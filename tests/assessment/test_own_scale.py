"""A label for one task touches no code: a lab.toml defines it, and pages, files and scores have it.

Versions keep the scale they were frozen with, whatever becomes of the task's.
"""

import re
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import call_command

from arqkit.formats.archives.folders import SourceFolder
from arqkit.protocols.presets import PoolProtocol
from arqkit.protocols.scales import NTCIR
from arqlab.core.models import Membership, Task
from arqlab.labs.services.labs import change_task
from assessment.models import Judgment, Pool, PoolItem, QrelSet, Ticket
from assessment.pools.selectors.sources import PoolChoice
from assessment.pools.services.freezing import freeze_pool, supplement_pool
from assessment.qrels.services.loading import load_lab
from assessment.qrels.services.versions import QrelsChoice, freeze_qrels
from evaluation.models import TopicScore
from evaluation.services.scoring import score_waiting
from tests.assessment.factories import NOW, assign
from tests.assessment.judging.desk import Desk, doc_id_of
from tests.evaluation.factories import make_run
from tests.factories import TeamFactory, UserFactory

pytestmark = pytest.mark.django_db

LAB = """
[lab]
slug = "own"
name = "A lab with labels of its own"
protocol = "arqmath-3"

[[tasks]]
slug = "task1"
name = "Answers"
kind = "answers"
topics = "topics.xml"
relevant_from = 1
measures = ["AP", "nDCG(judged_only=True)@1000", "Judged@10"]
labels = [
  { value = 2, key = "R", letter = "R", word = "Right", colour = "deep-green" },
  { value = 1, key = "P", letter = "P", word = "Partially relevant",\
    colour = "blue", asks_comment = true },
  { value = 0, key = "0", letter = "N", word = "Wrong", colour = "grey" },
  { value = 9, key = "X", letter = "X", word = "Broken", colour = "purple",\
    is_judgment = false, asks_comment = true },
]
"""
TOPICS = '<Topics><Topic number="A.1"><Title>t</Title><Question>q</Question></Topic></Topics>'
ITEMS = ["10", "11", "12", "13"]
GIVEN = {"10": 2, "11": 1, "12": 0, "13": 9}
PAGE = "/labs/own/tasks/task1/"
CHOICE = PoolChoice(PoolProtocol(primary=9, alternate=9), seed=1)


@pytest.fixture
def task(tmp_path: Path) -> Task:
    """The task as its folder describes it, with one run."""
    (tmp_path / "lab.toml").write_text(LAB)
    (tmp_path / "topics.xml").write_text(TOPICS)
    lab = load_lab(folder=SourceFolder(tmp_path), at=NOW, by=None).lab
    task = Task.objects.select_related("lab").get(lab=lab)
    make_run(TeamFactory(lab=lab), task, {"A.1": ITEMS})
    return task


@pytest.fixture
def desk(task: Task) -> Desk:
    """An assessor of the frozen pool."""
    freeze_pool(task=task, choice=CHOICE, by=None, at=NOW)
    PoolItem.objects.update(text="A document, which the lab has no collection of.")
    person = UserFactory()
    Membership.objects.create(lab=task.lab, user=person, role="assessor")
    assign(person, task.topics.get())
    return Desk(person, lab="own")


@pytest.fixture
def judged(desk: Desk) -> Desk:
    """Every item judged over HTTP, as GIVEN says."""
    for _ in ITEMS:
        item = desk.next()
        desk.submit(item, GIVEN[doc_id_of(item["instances"][0])], comment="c", shown="<p>x</p>")
        assert desk.last.status_code == 200, desk.last.json()
    return desk


@pytest.fixture
def version(judged: Desk, task: Task) -> QrelSet:
    return freeze(task, "complete", complete=True)


def freeze(task: Task, name: str, *, complete: bool) -> QrelSet:
    return freeze_qrels(task=task, choice=QrelsChoice(name, complete=complete), by=None, at=NOW)


def lines(*options: str) -> list[str]:
    out = StringIO()
    call_command("export_qrels", "own/task1", *options, stdout=out, stderr=StringIO())
    return out.getvalue().splitlines()


@pytest.fixture
def pages(task: Task, client_of):
    """Return what an organizer reads of a page of the task, on one line."""
    organizer = UserFactory()
    Membership.objects.create(lab=task.lab, user=organizer, role="organizer")
    browser = client_of(organizer)
    return lambda path: " ".join(browser.get(path).content.decode().split())


def test_the_judging_page_has_the_tasks_buttons_keys_and_colours(desk):
    html = " ".join(desk.client.get(f"{PAGE}judge/A.1/").content.decode().split())

    assert (
        'data-label="1" data-word="Partially relevant" data-colour="blue" data-asks="yes" '
        'aria-pressed="false" aria-keyshortcuts="P">' in html
    )
    assert (
        'data-label="9" data-word="Broken" data-colour="purple" data-asks="yes" data-reports'
        in html
    )
    assert "<kbd>X</kbd>" in html
    assert not re.search(r"\bHigh\b", html)
    assert "System failure" not in html


def test_the_guidelines_list_the_tasks_labels(desk):
    html = desk.client.get(f"{PAGE}guidelines/0/").content.decode()

    assert "<strong>Partially relevant</strong></td><td>relevant</td>" in html
    assert "<strong>Broken</strong>: you cannot judge the item." in html


def test_a_label_of_the_labs_that_this_task_lacks_is_refused_with_those_it_has(desk):
    answer = desk.submit(desk.next(), 3)

    assert (desk.last.status_code, answer["code"]) == (400, "bad-label")
    assert answer["errors"][0]["expected"] == "one of 2, 1, 0, 9"


def test_only_a_label_that_is_not_a_judgment_opens_a_ticket(judged, pages):
    assert Judgment.objects.filter(is_current=True).count() == len(ITEMS)
    assert [ticket.judgment.label for ticket in Ticket.objects.all()] == [9]
    assert '<span class="label" data-colour="purple">' in pages("/labs/own/tickets/")
    assert "Broken" in pages(f"/labs/own/tickets/{Ticket.objects.get().pk}/")


def test_the_list_of_ones_judgments_has_its_words_and_is_filtered_by_its_values(judged):
    page = f"{PAGE}judge/A.1/judgments/"
    every, partly = (judged.client.get(page, chosen) for chosen in ({}, {"label": "1"}))

    assert "Partially relevant" in every.content.decode()
    [line] = partly.context["judgments"].lines
    assert [cell.row.label.word for cell in line.cells][:1] == ["Partially relevant"]


def test_official_files_leave_out_what_is_not_a_judgment(judged):
    official = ["A.1\t0\t10\t2", "A.1\t0\t11\t1", "A.1\t0\t12\t0"]

    assert lines() == official
    assert lines("--complete") == [*official, "A.1\t0\t13\t9"]


def test_imported_judgments_are_read_by_the_tasks_labels(desk, tmp_path):
    good, bad = tmp_path / "good.tsv", tmp_path / "bad.tsv"
    good.write_text("A.1 0 10 9\n")
    bad.write_text("A.1 0 10 5\n")
    call_command("import_judgments", "own/task1", str(good), stdout=StringIO())

    assert Judgment.objects.get().label == 9
    with pytest.raises(Exception, match=r"one of 2, 1, 0, 9"):
        call_command("import_judgments", "own/task1", str(bad), stdout=StringIO())


def test_a_frozen_version_has_the_scale_and_shows_its_words(version, pages):
    html = pages(f"{PAGE}qrels/{version.version}/")

    assert version.scale == Pool.objects.get().scale
    assert "2 Right, 1 Partially relevant, 0 Wrong, 9 Broken" in html
    assert '<rect class="label-part" data-colour="blue"' in html
    assert "complete (with Broken)" in html
    assert "Complete: with 9 (Broken)" in pages(f"{PAGE}qrels/freeze/")


def test_runs_are_scored_by_the_labels_that_are_judgments(version):
    score_waiting(at=NOW)

    scores = dict(TopicScore.objects.values_list("measure", "value"))
    assert scores["Judged@10"] == 0.75  # 13 was shown and not judged
    assert scores["AP(rel=1)"] == 1.0
    assert scores["nDCG(judged_only=True)@1000"] == 1.0


def test_a_version_shows_its_own_words_after_the_tasks_scale_changed(version, task, pages):
    before = lines("--qrels", "complete")
    change_task(
        task=task, changes={}, protocol={"labels": NTCIR.rows(), "relevant_from": 3}, by=None
    )

    html = pages(f"{PAGE}qrels/{version.version}/")
    assert "2 Right, 1 Partially relevant, 0 Wrong, 9 Broken" in html
    assert "Relevant (4)" not in html
    assert lines("--qrels", "complete") == before
    assert "Relevant (4)" in pages(PAGE)


def test_versions_of_different_scales_are_compared_each_in_its_own_words(version, task, pages):
    rows = [row | {"word": f"New {row['word']}"} for row in version.scale]
    other = freeze(task, "other", complete=False)
    QrelSet.objects.filter(pk=other.pk).update(scale=rows)
    other.qrels.filter(doc_id="11").update(relevance=2)

    html = pages(f"{PAGE}qrels/diff/?before={version.version}&after={other.version}")
    assert "Partially relevant</span></td> <td>" in html
    assert "New Right" in html
    assert "New Partially relevant" in html


def test_a_supplement_is_judged_by_the_scale_of_the_pool(judged, task):
    change_task(task=task, changes={}, protocol={"labels": NTCIR.rows()}, by=None)
    changed = Task.objects.select_related("lab").get(pk=task.pk)
    make_run(TeamFactory(lab=task.lab), changed, {"A.1": ["20"]})
    supplement = supplement_pool(task=changed, choice=CHOICE, reason="Late.", by=None, at=NOW)
    supplement.items.update(text="A late document.")

    assert supplement.scale == Pool.objects.get(number=1).scale != NTCIR.rows()
    assert judged.submit(judged.next(), 4)["code"] == "bad-label"
    assert judged.submit(judged.next(), 1)["done"]


def test_the_same_folder_again_changes_nothing(version, task, tmp_path):
    assert not load_lab(folder=SourceFolder(tmp_path), at=NOW, by=None).is_changed
