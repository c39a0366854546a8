"""A batch in a page built as Turkle builds it, and its results as labels."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from assessment.judging.services.importing import import_judgments
from assessment.judging.services.turkle import turkle_files
from assessment.models import Judgment
from tests.assessment.factories import make_formula_pool, make_pool
from tests.collection.factories import load_small
from tests.factories import FormulaTaskFactory, Scene, TopicFactory, make_lab

# As `turkle/task_assignment_iframe.html` of Turkle 3.1: a form around the template, and a button.
AROUND = (
    '<!DOCTYPE html><html><head><title>Task</title><meta charset="UTF-8"></head><body>'
    '<form name="mturk_form" method="post" id="mturk_form" target="_parent">{}'
    '<p><input type="submit" id="submitButton" value="Submit"></p></form></body></html>'
)
CHOSEN = "form => JSON.stringify(Object.fromEntries(new FormData(form)))"
pytestmark = pytest.mark.smoke


def populated(template: str, row: dict[str, str]) -> str:
    """Return the page of a task, as `Task.populate_html_template` of Turkle makes it."""
    for field, cell in row.items():
        template = template.replace("${" + field + "}", cell)
    return AROUND.format(template)


def results(done: list[dict[str, Any]]) -> bytes:
    """Return the results as `Batch.to_csv` of Turkle writes them."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(done[0]), lineterminator="\r\n", quoting=csv.QUOTE_ALL)
    writer.writeheader()
    writer.writerows(done)
    return text.getvalue().encode()


def judged(page: Page, template: str, row: dict[str, str], label: str, by: str) -> dict[str, Any]:
    """Choose a label in the page, and return the line of the results."""
    page.set_content(populated(template, row))
    page.get_by_label(label, exact=True).check()
    page.get_by_label("Comment").fill(f"“{label}”\nit is.")
    answers = json.loads(page.locator("#mturk_form").evaluate(CHOSEN))
    return {
        "HITId": row["item"],
        "SubmitTime": "Sat Nov 21 12:00:00 UTC 2026",
        "WorkTimeInSeconds": 7,
        **{f"Input.{name}": cell for name, cell in row.items()},
        **{f"Answer.{name}": answer for name, answer in answers.items()},
        "Turkle.Username": by,
    }


def batch(pool: Any) -> tuple[str, list[dict[str, str]]]:
    """Return the template and the rows of a pool's batch."""
    files = {name: b"".join(chunks).decode() for name, chunks in turkle_files(pool)}
    return files["template.html"], list(csv.DictReader(io.StringIO(files["batch.csv"], newline="")))


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    scene = make_lab()
    load_small(scene.lab, tmp_path)
    return scene


def test_labels_given_in_turkle_come_back_as_the_same_labels(page, scene):
    pool = make_pool(scene.task, {"A.1": ["10", "11", "12"]})
    template, rows = batch(pool)
    words = ["High", "Medium", "Do not know"]
    by = scene.assessor.username
    done = [judged(page, template, row, word, by) for row, word in zip(rows, words, strict=True)]

    changes = import_judgments(
        task=scene.task, data=results(done), path="f.csv", at=timezone.now(), by=None
    )

    assert changes.line == "3 new, 0 changed, 0 unchanged."
    fields = "instance__doc_id", "label", "comment", "active_ms", "assessor__username"
    assert list(Judgment.objects.order_by("pk").values_list(*fields)) == [
        (row["item"], label, f"“{word}”\nit is.", 7000, by)
        for row, label, word in zip(rows, (3, 2, 6), words, strict=True)
    ]


def test_a_formula_is_drawn_and_highlighted_without_a_server(page, scene):
    task = FormulaTaskFactory(lab=scene.lab, slug="task2")
    TopicFactory(task=task, query_id="B.1")
    template, rows = batch(make_formula_pool(task, {"B.1": {"70": [("7", "1"), ("9", "12")]}}))
    assert [row["item"] for row in rows] == ["7", "9"]

    page.set_content(populated(template, rows[0]))

    expect(page.get_by_role("heading", name="Candidate formula")).to_be_visible()
    expect(page.locator("mark.is-highlighted math")).to_have_count(1)
    expect(page.locator("mark.is-highlighted")).to_have_css("outline-style", "solid")
    assert page.locator("script, link, a[href], img").count() == 0
