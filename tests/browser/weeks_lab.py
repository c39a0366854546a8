"""A small lab at the beginning of its judging weeks, and the browser of its people.

What the assessors say is written down here; what the pages make of it is computed in
`weeks_figures`.
"""

import csv
import io
from collections.abc import Mapping, Sequence
from pathlib import Path

from playwright.sync_api import expect

from arqlab.core.models import User
from assessment.models import PoolInstance
from tests.assessment.factories import make_pool
from tests.assessment.judging.desk import Desk, body_for, doc_id_of, label_for
from tests.browser.conftest import enter
from tests.browser.judging import SHOWN, Assessor
from tests.browser.lab_browser import LabBrowser
from tests.collection.factories import load_small
from tests.evaluation.factories import make_run
from tests.factories import AssessorFactory, Scene, TopicFactory, make_lab

LAB, TASK = "/labs/arqmath-x/", "/labs/arqmath-x/tasks/task1/"
ORGANIZER = "organizer-arqmath-x"
PEOPLE = ("ada", "bo", "cleo", "dan")
NUMBERS = (1, 2, 3, 4, 5)
ITEMS = {f"A.{topic}": [f"{topic}{place}" for place in NUMBERS] for topic in NUMBERS}
Labels = Mapping[str, int]

# topic: its assessor and, but for A.5, the second one
FIRST = {"A.1": "ada", "A.2": "bo", "A.3": "cleo", "A.4": "dan", "A.5": "ada"}
SECOND = {"A.1": "bo", "A.2": "cleo", "A.3": "dan", "A.4": "ada"}
HOURS = {"ada": 4.0, "bo": 2.5, "cleo": 3.0, "dan": 2.0}

TRAINING: Mapping[str, Labels] = {
    person: dict(zip(ITEMS["A.1"] + ITEMS["A.2"], labels, strict=True))
    for person, labels in {
        "ada": (3, 2, 0, 1, 0, 2, 3, 0, 0, 1),
        "bo": (3, 1, 0, 2, 0, 2, 3, 1, 0, 0),
        "cleo": (2, 2, 1, 0, 0, 3, 3, 0, 0, 1),
        "dan": (3, 2, 0, 1, 0, 1, 3, 0, 2, 1),
    }.items()
}
BROKEN, UNSURE = 5, 6
OFFICIAL: Labels = {
    **dict(zip(ITEMS["A.1"], (3, 2, 0, 1, 0), strict=True)),
    **dict(zip(ITEMS["A.2"], (2, 3, 0, 0, 1), strict=True)),
    **dict(zip(ITEMS["A.3"], (3, 0, 1, 2, 0), strict=True)),
    **dict(zip(ITEMS["A.4"], (1, 2, 3, 0, 0), strict=True)),
    **dict(zip(ITEMS["A.5"], (3, 2, 0, 1, BROKEN), strict=True)),
}
AGAIN: Labels = {
    **dict(zip(ITEMS["A.1"], (3, 1, 0, 2, 0), strict=True)),
    **dict(zip(ITEMS["A.2"], (2, 3, 1, UNSURE, 0), strict=True)),
    **dict(zip(ITEMS["A.3"], (3, 0, 1, 2, 2), strict=True)),
    **dict(zip(ITEMS["A.4"], (0, 2, 3, 0, 3), strict=True)),
}
PLACES = {
    "one": (1, 5, 6, 2, 3, 4),
    "two": (2, 1, 4, 3, 5),
    "three": (6, 5, 4, 3, 2, 1),
    "four": (3, 2),
}
RUNS = {
    f"{team} {tag}": {
        topic: [f"{topic.removeprefix('A.')}{place}" for place in PLACES[tag]] for topic in ITEMS
    }
    for team, tag in (("Alpha", "one"), ("Alpha", "two"), ("Beta", "three"), ("Beta", "four"))
}
"""The answers that each run retrieves in each topic, best first; the sixth was not pooled."""


def _posts() -> str:
    rows = []
    for topic, answers in ITEMS.items():
        thread = topic.removeprefix("A.")
        rows.append(
            f'<row Id="{thread}" PostTypeId="1" Title="Sum" Body="&lt;p&gt;Add.&lt;/p&gt;" />'
        )
        rows += [
            f'<row Id="{answer}" PostTypeId="2" ParentId="{thread}"'
            f' Body="&lt;p&gt;The sum is {answer}.&lt;/p&gt;" />'
            for answer in answers
        ]
    return f'<?xml version="1.0" encoding="utf-8"?>\n<posts>{"".join(rows)}</posts>'


def make_weeks(folder: Path) -> Scene:
    """Make a lab with a collection, five topics, four runs, a frozen pool and four assessors."""
    scene = make_lab()
    for number in NUMBERS[2:]:
        TopicFactory(task=scene.task, query_id=f"A.{number}", position=number)
    scene.assessor.memberships.all().delete()  # the assessors have names here
    for name in PEOPLE:
        AssessorFactory(lab=scene.lab, user__username=name)
    load_small(scene.lab, folder, posts=_posts(), formulas=None)
    make_pool(scene.task, ITEMS)
    for name, lists in RUNS.items():
        team, tag = name.split()
        make_run(scene.lab.teams.get(name=team), scene.task, lists, tag=tag)
    return scene


NOTHING: Mapping[str, str] = {}
CELLS = """(table) => [...table.rows].map((row) => [...row.cells].map((cell) => {
  const copy = cell.cloneNode(true);
  copy.querySelectorAll("[aria-hidden=true], small").forEach((each) => each.remove());
  return copy.textContent.trim().replace(/\\s+/g, " ");
}))"""


class Weeks(LabBrowser):
    """The browser in which one person after the other works; pages are looked at on request."""

    def see(self, *texts: str) -> None:
        """Read texts on the page."""
        for text in texts:
            expect(self.page.get_by_text(text).locator("visible=true").first).to_be_visible()

    def tab(self, address: str, name: str) -> None:
        """Open a tab and wait for its page."""
        super().tab(address, name)
        expect(self.page.locator(".tabs [aria-current=page]")).to_have_text(name)

    def look_at(self, name: str) -> None:
        """Look at the page in all widths and schemes."""
        self.look(f"weeks-{next(self.number):02}-{name}")

    def become(self, name: str) -> None:
        """Go on as another person, on their home page of the lab."""
        self.page.goto("/health/live")
        enter(self.page, User.objects.get(username=name))
        self.page.goto(f"{LAB}judging/")

    def lines(self, table: str) -> list[list[str]]:
        """Return the texts of the cells of a table, its head first."""
        shown = self.page.locator(f"table#{table}")
        expect(shown).to_have_count(1)
        return shown.evaluate(CELLS)

    def rows(self, table: str) -> dict[str, list[str]]:
        """Return the rows of a table by the text of their first cell, each without it."""
        return {first: cells for first, *cells in self.lines(table)}

    def saved(self, link: str) -> list[dict[str, str]]:
        """Download a table by its link on the page and return its rows."""
        text = self.download(link).removeprefix("\ufeff")
        delimiter = "\t" if "\t" in text.partition("\n")[0] else ","
        return list(csv.DictReader(io.StringIO(text), delimiter=delimiter))

    def exported(self, name: str) -> list[dict[str, str]]:
        """Download a file of the task and return its rows."""
        self.page.goto(TASK)
        return self.saved(name)

    def judge_topic(
        self, labels: Labels, count: int, comments: Mapping[str, str] = NOTHING
    ) -> None:
        """Judge the items of the topic on the page with keys; the last one completes it."""
        keys = Assessor(self.page)
        for _ in range(count):
            expect(self.page.locator(SHOWN)).to_have_count(1)
            [instance] = keys.standing
            doc_id = PoolInstance.objects.get(pk=instance).doc_id
            keys.press({BROKEN: "s"}.get(labels[doc_id], str(labels[doc_id])))
            if doc_id in comments:
                keys.press(*["c"] if labels[doc_id] != BROKEN else [])
                self.page.keyboard.type(comments[doc_id])
            keys.press("Enter")
            expect(self.page.locator(f"{SHOWN} #instance-{instance}")).to_have_count(0)
        expect(self.page.get_by_role("heading", name="is complete")).to_be_visible()
        keys.expect_saved()


def judge_by_requests(
    name: str, labels: Labels, topics: Sequence[str], *, guidelines: int, round_key: str = ""
) -> None:
    """Judge all open items of topics over the judging API, as the page does.

    `guidelines` is the version that the page shows.
    """
    person = User.objects.get(username=name)
    for topic in topics:
        desk = Desk(person, topic, round=round_key)
        item = desk.next()
        while item:
            [instance] = item["instances"]
            doc_id = doc_id_of(instance)
            fields = {"comment": f"{name} is not sure."} if labels[doc_id] == UNSURE else {}
            fields["active_ms"] = 1000 * int(doc_id) + 500 * PEOPLE.index(name)
            row = label_for(instance, labels[doc_id], **fields)
            body = body_for(item, [row]) | {"guideline": guidelines}
            desk.work(milliseconds=fields["active_ms"])
            item = desk.post("judgments/", body)["next"]
