"""Kill a worker in the middle of a job of every kind, while assessors judge and a team uploads.

    python -m tests.faults.jobs

Prints the table of docs/operations.md: for the embedded mode, and for PostgreSQL and Redis.
"""

import contextlib
import json
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from tests.everywhere import postgresql_server, redis_server
from tests.faults.drill import UPLOAD_EVERY, Drill, problems
from tests.faults.site import LONGEST, Site

PAUSE = 3
"""Seconds between two looks at the jobs; without pauses, the assessors would run out of items."""
WAVES = (("visual-ids",), ("collection",), ("candidates",))
"""Jobs that change what others read: each is started when all before are over."""
START = """
import json, pathlib, tempfile
from arqlab.jobs.tasks import wake_after_commit
from tests.jobs import cases
wake_after_commit = lambda *_: None  # the schedule finds the jobs
if not cases.Lab.objects.filter(slug="arqmath-x").exists():
    cases.make_ground(pathlib.Path(tempfile.mkdtemp()))
ground = cases.known_ground()
later = {later!r}
names = {names!r} or [name for name in cases.CASES if name not in later]
print(json.dumps({{name: cases.CASES[name](ground).pk for name in names}}))
"""
ROWS = """
import json
from tests.jobs.cases import rows_of_lab
print(json.dumps(rows_of_lab()))
"""
RUN = """
from arqlab.jobs.tasks import run_waiting_jobs
from submissions.tasks import validate_waiting_runs
run_waiting_jobs(), validate_waiting_runs()
print(0)
"""
OVER = "SELECT id FROM core_job WHERE id IN ({}) AND state IN ('waiting', 'running')"
UNCHECKED = "SELECT id FROM submissions_run WHERE status NOT IN ('valid', 'invalid')"
STATES = "SELECT id, state, attempts FROM core_job WHERE id IN ({})"
HEAD = "| kind of job | workers killed | ended | rows as undisturbed |\n| --- | --- | --- | --- |"


class JobRow(NamedTuple):
    """A job of a kind: its state in the end, and how many workers were killed in it."""

    case: str
    state: str
    killed: int


class JobDrill(NamedTuple):
    """The jobs of a drill, what the judges and the team found, and rows that differ."""

    jobs: list[JobRow]
    found: list[str]
    labels: int
    uploads: int
    differing: dict[str, tuple[int, int]]


def waves() -> list[tuple[str, ...]]:
    """Return the cases that are started together, in order; the first are all others."""
    return [(), *WAVES]


def started(site: Site, names: Sequence[str]) -> dict[str, int]:
    """Start the jobs of some cases at a site, and return their keys."""
    later = [name for wave in WAVES for name in wave]
    jobs: dict[str, int] = json.loads(site.shell(START.format(later=later, names=list(names))))
    return jobs


def undisturbed_rows(folder: Path) -> dict[str, int]:
    """Return the rows of the labs after the same jobs, of which none was killed."""
    site = new_site(folder, "", "", items=1)
    try:
        for names in waves():
            started(site, names)
            site.shell(RUN)
        rows: dict[str, int] = json.loads(site.shell(ROWS))
    finally:
        site.listening.close()
    return rows


def new_site(folder: Path, server: str, queue: str, *, items: int) -> Site:
    """Return a site in a new folder, to whose pages the jobs may be sent."""
    folder.mkdir()
    site = Site(folder, server, queue, items=items)
    site.environment["ARQLAB_HOSTS"] = "localhost,127.0.0.1,testserver"
    return site


def drilled_jobs(folder: Path, *, embedded: bool) -> JobDrill:
    """Start jobs of all kinds at a site whose workers die, and return what became of them."""
    expected = undisturbed_rows(folder / "undisturbed")
    with contextlib.ExitStack() as stack:
        server = queue = ""
        if not embedded:
            server = stack.enter_context(postgresql_server(fsync=True)) or ""
            queue = stack.enter_context(redis_server()) or ""
        site = new_site(folder / "killed", server, queue, items=1_500)
        stack.callback(site.stop)
        site.environment["DJANGO_SETTINGS_MODULE"] = "tests.faults.mortal_settings"
        site.start()
        drill, jobs = Drill(site), dict[str, int]()
        drill.client.may_judge.clear()
        for thread in drill.threads:
            thread.start()
        for names in waves():
            jobs |= started(site, names)
            keys = ", ".join(map(str, jobs.values()))
            judge_until_over(drill, keys)
        site.until(UNCHECKED, has_rows=False)
        drill.stop()
        rows = {key: (state, attempts) for key, state, attempts in site.rows(STATES.format(keys))}
        made = json.loads(site.shell(ROWS))
        return JobDrill(
            [JobRow(case, rows[key][0], rows[key][1] - 1) for case, key in jobs.items()],
            problems(site, drill.judges, drill.uploader.acknowledged),
            *drill.counts(),
            {
                name: (expected.get(name, 0), made.get(name, 0))
                for name in {*expected, *made}
                if expected.get(name) != made.get(name)
            },
        )


def judge_until_over(drill: Drill, keys: str) -> None:
    """Let assessors judge, a few items at a time, until jobs are over or `LONGEST` has passed."""
    end = time.monotonic() + LONGEST
    while drill.site.rows(OVER.format(keys)) and time.monotonic() < end:
        drill.client.may_judge.set()
        drill.go_on(UPLOAD_EVERY)
        drill.client.may_judge.clear()
        time.sleep(PAUSE)


def main() -> None:
    """Run the drill in both modes and print the tables."""
    for title in ("Embedded", "PostgreSQL and Redis"):
        with tempfile.TemporaryDirectory() as folder:
            drill = drilled_jobs(Path(folder), embedded=title == "Embedded")
        print(f"{title}: {drill.labels} labels, {drill.uploads} uploads: ", end="")  # noqa: T201
        print(drill.found or "nothing lost, nothing twice")  # noqa: T201
        print(f"rows that differ (undisturbed, killed): {drill.differing or 'none'}")  # noqa: T201
        print(HEAD)  # noqa: T201
        for row in drill.jobs:
            same = "no" if drill.differing else "yes"
            print(f"| {row.case} | {row.killed} | {row.state} | {same} |", flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
