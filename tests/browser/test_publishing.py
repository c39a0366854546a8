"""The organizer of a lab with real runs compares two of them, prints the certificate and downloads
the paper kit.
"""

import csv
import io
import re
import zipfile

import pytest
from playwright.sync_api import Page, expect

from evaluation.services.scoring import score_waiting
from tests.browser.conftest import enter
from tests.contrib.papers.compiling import needs_pdflatex, pages_of
from tests.evaluation.factories import NOW, make_qrels, make_run
from tests.factories import Scene, TeamFactory, TopicFactory, make_lab
from tests.real_data import index_frame, read_run

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), needs_pdflatex]
RUNS = {
    "PSU1": "PSU-task1-PSU1-auto-both-A",
    "PSU2": "judged-only/PSU-task1-PSU2-auto-both-P",
    "alpha05noReRank": "judged-only/MathDowsers-task1-alpha05noReRank-auto-both-A",
}
# nDCG', MAP' and P'@10, as trec_eval computes them
PUBLISHED = {
    "PSU1": [".2625", ".0822", ".1156"],
    "PSU2": [".2277", ".0536", ".0545"],
    "alpha05noReRank": [".3446", ".1393", ".1623"],
}


@pytest.fixture
def scene(shared_data, transactional_db) -> Scene:
    """Return a lab with the qrels of ARQMath-1's Task 1 and three of its runs."""
    scene, folder = make_lab(), shared_data / "arqmath-1"
    labels: dict[str, dict[str, int]] = {}
    for line in (folder / "qrels.task1.tsv").read_text().splitlines():
        topic, _, item, label = line.split()
        labels.setdefault(topic, {})[item] = int(label)
    scene.task.topics.all().delete()
    for topic in labels:
        TopicFactory(task=scene.task, query_id=topic)
    make_qrels(scene.task, labels)
    for tag, name in RUNS.items():
        team = TeamFactory(lab=scene.lab, name=f"Team of {tag}")
        index = index_frame(read_run(folder / "runs/task1" / f"{name}.tsv.gz"))
        make_run(team, scene.task, index=index, tag=tag, is_primary=True)
    score_waiting(at=NOW)
    return scene


def cells_of(page: Page) -> dict[str, list[str]]:
    """Return the first three scores of each run on the leaderboard."""
    texts = {
        row.locator("th").inner_text().split()[0]: row.locator("td a").all_inner_texts()
        for row in page.locator("#board tbody tr").all()
    }
    return {tag: [text.lstrip("0") for text in cells[:3]] for tag, cells in texts.items()}


def analysis(page: Page, name: str) -> None:
    """Open an analysis of the leaderboard."""
    page.goto("/labs/arqmath-x/tasks/task1/leaderboard/")
    page.get_by_text("Analyses", exact=True).click()
    page.get_by_role("link", name=name).click()


def test_an_organizer_publishes_real_runs(page: Page, scene, look, tmp_path):
    page.goto("/health/live")
    enter(page, scene.organizer)
    page.goto("/labs/arqmath-x/tasks/task1/leaderboard/")
    shown = cells_of(page)
    assert shown == PUBLISHED

    analysis(page, "Compare runs")
    expect(page.locator("#figures")).to_contain_text("+0.0821")  # .3446 and .2625
    expect(page.locator("#topics tbody tr")).to_have_count(77)
    look("comparison")

    analysis(page, "Reusability certificate")
    page.get_by_role("button", name="Compute certificate").click()
    expect(page.locator("#findings")).to_be_visible()
    printed = page.pdf(prefer_css_page_size=True)
    assert len(re.findall(rb"/Type ?/Page\b", printed)) <= 2

    analysis(page, "Paper kit")
    page.get_by_role("button", name="Build paper kit").click()
    with page.expect_download() as download:
        page.get_by_role("link", name=".zip").click()
    with zipfile.ZipFile(download.value.path()) as archive:
        files = {name.partition("/")[2]: archive.read(name) for name in archive.namelist()}
    assert pages_of(files, tmp_path) >= 1
    table = io.StringIO(files["tables/results.tsv"].decode())
    prime = "judged_only=True"
    measures = [f"nDCG({prime})@1000", f"AP(rel=2,{prime})", f"P(rel=2,{prime})@10"]
    kit = {
        row["run"]: [f"{float(row[name]):.4f}".lstrip("0") for name in measures]
        for row in csv.DictReader(table, delimiter="\t")
    }
    assert kit == shown
    for values in PUBLISHED.values():  # the paper's precision
        assert f"{float(values[0]):.3f}".encode() in files["tables/results.tex"]
