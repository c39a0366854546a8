"""Claim: the browser shows the report of a 100,000-line run within 2 s of the last byte of its
upload.

`manage.py serve` runs on SQLite, as embedded, with a lab of 100 topics. Chromium uploads the run
through the page and waits for its report. The goal is absolute. Beside it, in each round, the same
bytes are checked by `arqlab.formats.runs.check.check_run` alone: the ratio to it has no goal.
"""

import statistics
import tempfile
from itertools import count
from pathlib import Path

from playwright.sync_api import Page

from arqlab.formats.runs.check import check_run
from arqlab.formats.runs.report import RunRules
from arqlab.ir.records import TaskKind
from benchmarks.common import (
    PASSWORD,
    Benchmark,
    environment,
    in_process,
    page_of,
    seconds,
    set_up_django,
    start,
)

TOPICS = tuple(f"A.{number}" for number in range(1, 101))
MOST_SECONDS = 2
# The moment of the last byte survives the change of page; the next page waits for the report.
CLOCK = """
const send = XMLHttpRequest.prototype.send;
XMLHttpRequest.prototype.send = function (body) {
  this.upload.addEventListener("load", () => sessionStorage.setItem("last-byte", Date.now()));
  return send.call(this, body);
};
const look = () => {
  if (!document.querySelector(".notice-good, #report-title")) return requestAnimationFrame(look);
  sessionStorage.setItem("report", Date.now());
};
requestAnimationFrame(look);
"""


def main(bench: Benchmark) -> None:
    """Compare the page with its limit and with the check."""
    run = make_run(bench.sized(1000, 10))
    rules = RunRules(TaskKind.ANSWERS, TOPICS)
    numbers = count()
    with tempfile.TemporaryDirectory() as folder:
        variables = environment(Path(folder))
        in_process(make_scene, variables)
        with page_of("ada", variables) as page:
            page.add_init_script(CLOCK)
            times = bench.alternate(
                {
                    "page": lambda: seconds_to_report(page, run, next(numbers)),
                    "check": lambda: seconds(lambda: check_run(run, rules)),
                },
                unmeasured=1,
            )
    report, check = (statistics.median(times[side]) for side in ("page", "check"))
    print(f"the check alone {check:.2f} s, ratio of the page to it {report / check:.1f}")
    bench.limit("from the last byte to the report", report, MOST_SECONDS, "s")


def make_run(items: int) -> bytes:
    """Make a Task 1 run with so many items per topic."""
    rows = (
        f"{topic}\t{number * 7}\t{number}\t{1000.5 - number}\tours"
        for topic in TOPICS
        for number in range(1, items + 1)
    )
    return ("\n".join(rows) + "\n").encode()


def make_scene() -> None:
    """Make a lab with a team and its member."""
    set_up_django()
    from arqlab.core.models import Lab, Membership, Task, Team, Topic, User

    lab = Lab.objects.create(slug="lab", name="Lab", protocol="arqmath-1")
    task = Task.objects.create(
        lab=lab,
        slug="task1",
        name="Answers",
        kind="answers",
        trec_items="posts",
        overrides={"quota": 100},
    )
    Topic.objects.bulk_create(
        Topic(task=task, query_id=name, position=number) for number, name in enumerate(TOPICS)
    )
    user = User.objects.create_user("ada", "ada@example.org", PASSWORD)
    team = Team.objects.create(lab=lab, name="Ours")
    Membership.objects.create(lab=lab, user=user, role="member", team=team)


def seconds_to_report(page: Page, run: bytes, number: int) -> float:
    """Upload the run in the browser; return the seconds from its last byte to its report."""
    page.goto("/labs/lab/tasks/task1/runs/upload/")
    name = f"Ours-task1-run{number}-auto-both-A.tsv"
    page.locator("#id_file").set_input_files(
        {"name": name, "mimeType": "text/plain", "buffer": run}
    )
    page.evaluate("sessionStorage.clear()")
    page.get_by_role("button", name="Submit runs").click()
    page.locator(".notice-good, #report-title").wait_for()
    page.evaluate("new Promise(requestAnimationFrame)")
    took = page.evaluate("sessionStorage.getItem('report') - sessionStorage.getItem('last-byte')")
    return float(took) / 1000


if __name__ == "__main__":
    start(main, rounds=5, sides=(make_scene,))
