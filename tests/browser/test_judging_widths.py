"""No control of the judging page leaves the window beside the widest real formulas."""

import csv
import gzip
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.assessment.factories import assign, make_formula_pool
from tests.browser.conftest import enter
from tests.browser.judging import SHOWN, Assessor
from tests.browser.realitems import FORMULAS, real_topic, rows_of
from tests.collection.factories import load_small
from tests.factories import FormulaTaskFactory, make_lab

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

WIDEST = 10
# A window of 1440 x 900, 1024 x 768 and a phone's; then the first two at 200% zoom.
WINDOWS = [(1440, 900), (1024, 768), (390, 800), (720, 450), (512, 384)]
OUTSIDE = """() => {
  const inWindow = ({ left, right }) => left >= 0 && right <= innerWidth + 1;
  const isBelow = ({ top, bottom }) => top < 0 || bottom > innerHeight + 1;
  const all = (selector) => [...document.querySelectorAll(selector)]
    .filter((each) => each.checkVisibility({ visibilityProperty: true }));
  const controls = all(`.judge-item.is-shown :is(button, a.judge-thread, textarea),
    .judge-tabs button, .judge-submit, .judge-question a.judge-thread`);
  const fixed = all(".judge-item.is-shown .is-active :is(.judge-label), .judge-submit");
  return [
    ...controls.filter((each) => !inWindow(each.getBoundingClientRect())),
    ...fixed.filter((each) => isBelow(each.getBoundingClientRect())),
    ...all(".judge-scroll").filter((each) => each.scrollWidth > each.clientWidth + 1),
  ].map((each) => `${each.className} ${each.textContent.trim().slice(0, 40)}`);
}"""


def widest_formulas(data: Path) -> dict[str, list[tuple[str, str]]]:
    """Return the longest formulas of answers in the sample, as (formula id, post id) by visual id.

    Matrices and aligned equations count twice: they break no lines.
    """
    with gzip.open(data / "collection/formulas.latex.tsv.gz", "rt", encoding="utf-8") as file:
        rows = [
            row
            for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
            if row["type"] == "answer"
        ]
    rows.sort(key=lambda row: -len(row["formula"]) * (1 + (r"\begin" in row["formula"])))
    return {row["id"]: [(row["id"], row["post_id"])] for row in rows[:WIDEST]}


def test_no_control_leaves_the_window_beside_the_widest_formulas(
    page, tmp_path, shared_data, transactional_db
):
    scene = make_lab()
    formulas = widest_formulas(shared_data)
    posts = {post_id for [(_, post_id)] in formulas.values()}
    load_small(scene.lab, tmp_path, posts=rows_of(shared_data, posts), formulas=None)
    task = FormulaTaskFactory(lab=scene.lab, slug="task2", position=2)
    topic = real_topic(task, shared_data, FORMULAS)
    make_formula_pool(task, {FORMULAS: formulas})
    assign(scene.assessor, topic)
    page.goto("/health/live")
    enter(page, scene.assessor)
    assessor = Assessor(page)
    assessor.open(f"/labs/arqmath-x/tasks/task2/judge/{FORMULAS}/")
    outside = {}
    for number in range(WIDEST):
        for width, height in WINDOWS:
            page.set_viewport_size({"width": width, "height": height})
            page.evaluate(
                "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
            )
            if found := page.evaluate(OUTSIDE):
                outside[number, width, height] = found
        if number + 1 < WIDEST:
            assessor.judge(3)
            expect(page.locator(SHOWN)).to_have_count(1)

    assert outside == {}
