"""A lab by the rules of NTCIR-12 in the browser: two assessors judge each formula as R, P or N.

From topics to qrels with the sums of their labels (003 §4). Every figure is computed again here,
from the labels written down, by scikit-learn, krippendorff, statsmodels and pytrec_eval.
"""

from collections.abc import Mapping
from pathlib import Path
from statistics import mean

import pytest
import pytrec_eval
from django.utils import timezone
from playwright.sync_api import Page, expect

from arqkit.formats.archives.folders import SourceFolder
from arqlab.core.models import Task
from assessment.models import PoolInstance
from assessment.qrels.services.loading import load_lab
from evaluation.services.scoring import score_waiting
from submissions.services.uploads import submit_upload
from submissions.services.validation import validate_uploaded_run
from tests.assessment.articles import ARTICLES, TOPICS, lab_of_articles
from tests.assessment.factories import NOW
from tests.browser.conftest import enter
from tests.browser.judging import SHOWN, Assessor
from tests.browser.weeks_figures import check_agreement, close, votes_of
from tests.browser.weeks_lab import Weeks
from tests.factories import AssessorFactory, OrganizerFactory, TeamFactory
from tests.submissions.factories import sent

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
LAB, TASK = "/labs/wiki/", "/labs/wiki/tasks/formulas/"
D, B, H = "Duckworth–Lewis_method", "Beta_function_(physics)", "Hilbert's_axioms,_π"
RUNS = {
    "Slt": {"W-1": [f"{D}:1", f"{B}:1", f"{D}:0"], "W-2": [f"{B}:0", f"{H}:1", f"{H}:0"]},
    "Opt": {"W-1": [f"{H}:0", f"{D}:1", f"{B}:0"], "W-2": [f"{H}:0", f"{D}:0", f"{B}:0"]},
}
FIRST = {
    "W-1": {f"{D}:1": 2, f"{B}:1": 2, f"{D}:0": 1, f"{H}:0": 0, f"{B}:0": 1},
    "W-2": {f"{B}:0": 2, f"{H}:1": 2, f"{H}:0": 0, f"{D}:0": 1},
}
SECOND = {
    "W-1": {f"{D}:1": 2, f"{B}:1": 1, f"{D}:0": 1, f"{H}:0": 0, f"{B}:0": 0},
    "W-2": {f"{B}:0": 2, f"{H}:1": 1, f"{H}:0": 1, f"{D}:0": 0},
}
SUMS = {
    topic: {item: label + SECOND[topic][item] for item, label in labels.items()}
    for topic, labels in FIRST.items()
}
GROUPS = {"ada": "graduates", "bo": "undergraduates"}
Labels = Mapping[str, Mapping[str, int]]


@pytest.fixture
def task(transactional_db: None, tmp_path: Path) -> Task:
    """Return the task of a lab with articles, an organizer and two assessors; it has no topics."""
    lab_of_articles(tmp_path)
    lab = load_lab(folder=SourceFolder(tmp_path), at=NOW, by=None).lab
    OrganizerFactory(lab=lab, user__username="olga")
    for name in ("ada", "bo"):
        AssessorFactory(lab=lab, user__username=name)
    return lab.tasks.select_related("lab").get()


def become(it: Weeks, name: str) -> None:
    """Go on as another person, on their home page of the lab."""
    it.page.goto("/health/live")
    enter(it.page, Task.objects.get().lab.memberships.get(user__username=name).user)
    it.page.goto(f"{LAB}judging/")


def load_topics(it: Weeks) -> None:
    it.page.goto(TASK)
    it.press("Load topics")
    text = "".join(f"{topic}\t{formula}\n" for topic, formula in TOPICS.items())
    it.choose_file("Topics", "topics.txt", text)
    it.press("Load topics")
    it.see("2 topics: 2 new, 0 changed, 0 unchanged.")
    it.press("View topics")
    expect(it.page.locator(".tml-fbox").first).to_be_visible()  # the wildcard


def submit_runs(task: Task) -> None:
    for tag, topics in RUNS.items():
        lines = [
            f"{topic} Q0 {item} {rank} {10 - rank} {tag}\n"
            for topic, items in topics.items()
            for rank, item in enumerate(items, start=1)
        ]
        file, team = sent("".join(lines).encode(), f"{tag}.run"), TeamFactory(lab=task.lab)
        [run] = submit_upload(file=file, task=task, team=team, by=None, at=NOW)
        validate_uploaded_run(run_id=run.pk, at=NOW)


def freeze_pool(it: Weeks) -> None:
    it.tab(TASK, "Pools")
    it.press("Plan pool")
    it.press("Freeze pool…")
    it.page.get_by_label("Continue although").check()
    it.press("Freeze pool")
    it.see("The pool is frozen. You can now assign its topics.")


def plan_assessors(it: Weeks) -> None:
    """Each topic gets two assessors: the plan suggests it, because their labels are added."""
    it.tab(TASK, "Judging")
    it.press("Roster and plan")
    for name in ("ada", "bo"):
        it.page.get_by_label(name, exact=True).check()
    it.press("Add to roster")
    for name, group in GROUPS.items():
        it.page.get_by_label(f"Group of {name}").fill(group)
        it.page.get_by_label(f"Group of {name}").press("Enter")
        it.see(f"Saved the entry of {name}.")
    it.look_at("ntcir-roster")
    it.press("Plan assignments")
    expect(it.page.get_by_label("Topics with a second assessor")).to_have_value("2")
    it.press("Propose a plan")
    for topic, (first, second) in {"W-1": ("ada", "bo"), "W-2": ("ada", "bo")}.items():
        row = it.page.get_by_role("row").filter(has_text=topic)
        row.get_by_role("combobox").nth(0).select_option(label=first)
        row.get_by_role("combobox").nth(1).select_option(label=second)
    it.press("Assign topics as planned")
    it.see("2 topics assigned")


def judge(it: Weeks, labels: Mapping[str, int]) -> None:
    """Judge the topic on the page with the keys 2, 1 and 0, which are Relevant, Partially, Not."""
    keys = Assessor(it.page)
    for place in range(len(labels)):
        expect(it.page.locator(SHOWN)).to_have_count(1)
        [instance] = keys.standing
        if not place:
            words = it.page.locator(f"{SHOWN} .judge-label").all_inner_texts()
            assert "Partially relevant" in " ".join(words)
        keys.press(str(labels[PoolInstance.objects.get(pk=instance).doc_id]), "Enter")
        expect(it.page.locator(f"{SHOWN} #instance-{instance}")).to_have_count(0)
    expect(it.page.get_by_role("heading", name="is complete")).to_be_visible()
    keys.expect_saved()


def judge_first(it: Weeks) -> None:
    become(it, "ada")
    for topic, labels in FIRST.items():
        it.page.goto(f"{TASK}judge/{topic}/")
        expect(it.page.locator(SHOWN)).to_have_count(1)
        it.look_at(f"ntcir-judging-{topic}")
        judge(it, labels)


def judge_second(it: Weeks) -> None:
    """Judge both topics in a round of second judgments, before whose end nothing is added."""
    become(it, "olga")
    it.tab(TASK, "Qrels")
    it.see("0 of 9 pool items have the labels of two assessors.")
    it.tab(TASK, "Rounds")
    it.press("Plan second judgments")
    expect(it.page.get_by_label("Whole topics")).to_be_checked()
    assert it.page.locator("[name=topics]:checked").count() == len(TOPICS)
    it.press("Show plan")
    it.see("9 items to judge again.")
    it.press("Start round")
    it.see("0 of 9 items judged again.")
    become(it, "bo")
    for topic, labels in SECOND.items():
        it.page.goto(f"{LAB}judging/")
        it.page.locator("#round-topics").get_by_role("link", name=topic).click()
        judge(it, labels)


def read_agreement(it: Weeks) -> None:
    become(it, "olga")
    it.tab(TASK, "Rounds")
    it.press("Second judgments 1")
    it.see("9 labels with a first and a second judgment; 5 differ.")
    rows = [
        ((topic, item), name, label)
        for name, side in (("ada", FIRST), ("bo", SECOND))
        for topic, labels in side.items()
        for item, label in labels.items()
    ]
    check_agreement(it.rows("assessors-table"), votes_of(rows))
    groups = votes_of((item, GROUPS[name], label) for item, name, label in rows)
    shown = it.rows("groups-table")
    check_agreement({"Assessor": shown.pop("Group"), **shown}, groups)
    it.look_at("ntcir-round")


def freeze(it: Weeks, name: str, labels: Labels, group: str = "") -> None:
    """Freeze qrels of the sums, or of one group, and read their lines."""
    it.tab(TASK, "Qrels")
    it.press("Freeze qrels…")
    it.fill(Name=name)
    if group:
        it.page.locator("[name=group]").select_option(label=f"Of the group {group} only")
    it.look_at(f"ntcir-freeze-{name}")
    it.page.get_by_label("Continue although").check()
    it.press("Freeze qrels")
    it.see(f"{name} is frozen as version", "9 lines for 2 topics.")
    lines = {
        f"{topic}\t0\t{item}\t{label}"
        for topic, own in labels.items()
        for item, label in own.items()
    }
    assert {*it.download("Download qrels").splitlines()} == lines


def formula_of(item: str) -> str:
    """Return the LaTeX of a formula: equal ones are relevant once."""
    name, place = item.split(":")
    return ARTICLES[name][int(place)]


def read_draft(it: Weeks) -> None:
    it.tab(TASK, "Qrels")
    it.see("9 of 9 pool items have the labels of two assessors.", "the sum of the official label")
    head, *lines = it.lines("topics")
    for topic, *cells in lines:
        shown, own = dict(zip(head[1:], cells, strict=True)), [*SUMS[topic].values()]
        relevant = {formula_of(item) for item, label in SUMS[topic].items() if label >= 3}
        assert shown["Relevant"] == str(len(relevant))
        assert shown["Partially relevant (2)"] == str(own.count(2))
    it.look_at("ntcir-qrels")


def expected(tag: str, measure: str, labels: Labels, relevant_from: int) -> float:
    """Return the mean of a run by pytrec_eval."""
    run = {
        topic: {item: float(10 - rank) for rank, item in enumerate(items, start=1)}
        for topic, items in RUNS[tag].items()
    }
    evaluator = pytrec_eval.RelevanceEvaluator(labels, {measure}, relevance_level=relevant_from)
    key = measure.replace(".", "_")
    return mean(values[key] for values in evaluator.evaluate(run).values())


def read_leaderboard(it: Weeks, qrels: str, labels: Labels, relevant_from: int) -> None:
    score_waiting(at=timezone.now())
    it.tab(TASK, "Leaderboard")
    it.page.goto(f"{TASK}leaderboard/?qrels={qrels}")
    it.look_at(f"ntcir-leaderboard-{qrels}")
    head, *rows = it.lines("board")
    figures = {row[head.index("Run")]: dict(zip(head, row, strict=True)) for row in rows}
    assert figures.keys() == {*RUNS, "Best possible"}
    for tag in RUNS:
        shown = figures[tag]
        for heading, measure in (("P@5", "P.5"), ("P@10", "P.10"), ("nDCG′", "ndcg")):
            close(
                shown[heading].rstrip("†"), expected(tag, measure, labels, relevant_from), digits=4
            )


def test_a_lab_of_ntcir_is_judged_by_two_people(page: Page, look, task: Task) -> None:
    it = Weeks(page, look)
    become(it, "olga")
    load_topics(it)
    submit_runs(task)
    freeze_pool(it)
    plan_assessors(it)
    judge_first(it)
    judge_second(it)
    read_agreement(it)
    read_draft(it)
    freeze(it, "sums", SUMS)
    freeze(it, "undergraduates", SECOND, group="undergraduates")
    read_leaderboard(it, "sums", SUMS, 3)
    read_leaderboard(it, "undergraduates", SECOND, 2)
