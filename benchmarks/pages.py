"""Pages stay quick and small in a lab with 1,000 runs, and so does the process that serves them.

A fresh process on SQLite makes no page before it is measured: the first view of a page, which
fills caches and compiles templates, is printed beside the median of the later ones. Times
are those of the processor. What takes longer than a page may compute is left to another process.

With `--growth`, the lab also has 1,000 topics and a million items, of which most are judged. Jobs
are measured too: for each of their inputs, they take as long as in a tenth of the lab.
"""

import statistics
import tempfile
import time
from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.common import (
    Benchmark,
    environment,
    in_process,
    peak_megabytes,
    seconds,
    set_up_django,
    start,
)

MOST_MILLISECONDS, MOST_KILOBYTES, MOST_MEGABYTES = 150, 150, 400
MOST_BY_INPUTS = 1.5
"""How many times as long a job may take for each of its inputs as in a tenth of the lab."""
Page = tuple[str, str, list[Any]]  # its name, its view with a query, and the address
ORGANIZER_PAGES = {
    "pools": "assessment:pool-list",
    "planner": "assessment:pool-plan",
    "pool audit": "assessment:pool-audit?run=2&run=3&run=4",
    "runs": "submissions:run-list",
    "topics": "labs:topic-list",
    "task": "desk:task-detail",
    "live leaderboard": "evaluation:leaderboard?live=1",
    "provisional leaderboard": "analyses:provisional-board",
    "look-alikes": "analyses:look-alike-list",
    "comparison": "analyses:comparison",
    "pairs": "analyses:comparison-matrix",
    "correlations": "analyses:correlation-matrix",
    "breakdown": "analyses:breakdown",
    "effect of the qrels": "analyses:qrels-effect",
    "qrels": "assessment:qrels-list",
    "draft of the qrels": "assessment:qrels-draft",
    "assignments": "assessment:assignment-list",
    "home": "desk:home",
}
VISITOR_PAGES = {
    "leaderboard": "evaluation:leaderboard",
    "comparison, visitor": "analyses:comparison",
}


def main(bench: Benchmark) -> None:
    """Compare the pages of the lab with those of a tenth of it."""
    full = bench.sized(
        {"runs": 1000, "topics": 100, "items": 450}, {"runs": 20, "topics": 4, "items": 60}
    )
    tenth = full | bench.sized({"runs": 100, "items": 46}, {"runs": 5})
    if bench.options.growth:
        full = bench.sized({"runs": 1000, "topics": 1000, "items": 1000}, full)
        tenth = {"runs": full["runs"] // 10, "topics": full["topics"] // 10, "items": full["items"]}
    kept = Path(bench.options.folder) if bench.options.folder else None
    with tempfile.TemporaryDirectory() as name:
        found = [
            of_lab(bench, size, Path(kept or name, f"{size['runs']}-runs-{size['topics']}"))
            for size in (tenth, full)
        ]
    small, large = found
    for name, page in large["pages"].items():
        took, kilobytes = 1000 * statistics.median(page["waits"]), page["bytes"] / 1000
        less = small["pages"][name]
        print(
            f"{name}: first {1000 * page['first']:.0f} ms; a tenth: "
            f"{1000 * statistics.median(less['waits']):.0f} ms, {less['bytes'] / 1000:.0f} kB"
        )
        bench.limit(f"{name}, {page['queries']} queries", took, MOST_MILLISECONDS, "ms")
        if page["is_page"]:
            bench.limit(name, kilobytes, MOST_KILOBYTES, "kB")
    bench.limit("memory of the process", large["megabytes"], MOST_MEGABYTES, "MB")
    print(f"sweep of scores: {1000 * large['sweep']:.1f} ms; a tenth: {1000 * small['sweep']:.1f}")
    for name, (took, inputs) in large["jobs"].items():
        less, fewer = small["jobs"][name]
        print(f"{name}: {took:.1f} s; a tenth: {less:.2f} s; inputs {inputs / fewer:.0f} times")
        ratio = took / less / (inputs / fewer)
        bench.ratio(f"{name}, time by inputs", ratio, at_most=MOST_BY_INPUTS)


def of_lab(bench: Benchmark, size: dict[str, int], folder: Path) -> dict[str, Any]:
    """Make the lab if its folder is new, and return the figures of its pages and jobs."""
    is_made = folder.exists()
    variables = environment(folder)
    if not is_made:
        in_process(make, variables, size=size)
    has_jobs = bench.options.growth or bench.is_smallest
    jobs = in_process(measure_jobs, variables) if has_jobs else {}
    return in_process(measure, variables, rounds=bench.rounds) | {"jobs": jobs}


def make(size: dict[str, int]) -> None:
    """Make the lab in a process of its own, whose memory is not that of a web process."""
    set_up_django()
    from benchmarks.labs.scored import make_scored

    make_scored(**size)


def measure(rounds: int) -> dict[str, Any]:
    """Return the seconds and the bytes of each page, and the memory of the process after all."""
    set_up_django()
    from multiprocessing import Pipe

    from django.utils import timezone

    import arqlab.wsgi  # noqa: F401  # which sets up a web process
    from arqlab.celery import send_to_background
    from arqlab.core.models import Task, User
    from evaluation.services.scoring import score_waiting

    task, organizer = (
        Task.objects.select_related("lab").get(),
        User.objects.get(username="organizer"),
    )
    ends = Pipe()  # `work` reads the database instead
    send_to_background(ends[1])
    pages = {name: measured(user, path, rounds) for name, user, path in pages_of(task, organizer)}
    memory = peak_megabytes()
    sweep = min(seconds(lambda: score_waiting(at=timezone.now())) for _ in range(rounds))
    return {"pages": pages, "megabytes": memory, "sweep": sweep}


def measure_jobs() -> dict[str, tuple[float, int]]:
    """Return the processor seconds of each job and the number of its inputs."""
    set_up_django()
    from benchmarks.labs.jobs import jobs_of

    return {name: (seconds(job, time.process_time), inputs) for name, inputs, job in jobs_of()}


def work() -> None:
    """Do the jobs that pages have left to the background process."""
    set_up_django()
    from arqlab.jobs.tasks import run_waiting_jobs

    run_waiting_jobs()


def pages_of(task: Any, organizer: Any) -> Iterator[tuple[str, Any, str]]:
    """Yield the pages that grow with runs, topics or judged items."""
    from benchmarks.judging_pages import address

    names = [task.lab.slug, task.slug]
    for name, view in ORGANIZER_PAGES.items():
        yield name, organizer, address(view, *([] if view == "desk:home" else names))
    for name, view in VISITOR_PAGES.items():
        yield name, None, address(view, *names)
    topic, run = task.topics.order_by("position").first().query_id, task.runs.last().pk
    yield "topic's scores", None, address("evaluation:topic-scores", *names, topic)
    yield "topic's scores, organizer", organizer, address("evaluation:topic-scores", *names, topic)
    yield "run's scores", None, address("evaluation:run-scores", *names, run)
    yield "run", organizer, address("desk:run-detail", *names, run)
    yield "run's ranking", organizer, address("evaluation:run-ranking", *names, run, topic)
    yield "topic", None, address("labs:topic-detail", *names, topic)
    yield "pool", organizer, address("assessment:pool-detail", *names, 1)
    yield "frozen qrels", organizer, address("assessment:qrels-detail", *names, 1)


def measured(user: Any, path: str, rounds: int) -> dict[str, Any]:
    """Return the seconds, bytes and queries of a page."""
    from django.db import connection
    from django.test import Client
    from django.test.utils import CaptureQueriesContext

    client, answers = Client(), []
    if user:
        client.force_login(user)

    def ask() -> None:
        answer = client.get(path)
        while answer.status_code == 202:
            in_process(work)
            answer = client.get(path)
        if answer.status_code != 200:
            raise SystemExit(f"{path} returns {answer.status_code}.")
        answers[:] = [answer]

    with CaptureQueriesContext(connection) as queries:
        first = seconds(ask, time.process_time)
        count = len(queries)
    waits = [seconds(ask, time.process_time) for _ in range(rounds)]
    is_page = answers[-1]["Content-Type"].startswith("text/html")
    figures = {"bytes": len(answers[-1].content), "is_page": is_page}
    return {"first": first, "waits": waits, "queries": count} | figures


def add_options(parser: ArgumentParser) -> None:
    """Add the options for a larger lab, and for one that is kept."""
    parser.add_argument("--growth", action="store_true", help="1,000 topics and a million items")
    parser.add_argument(
        "--folder", help="keep the labs in this folder, and measure those that it has"
    )


if __name__ == "__main__":
    start(main, rounds=3, sides=(make, measure, measure_jobs, work), add_options=add_options)
