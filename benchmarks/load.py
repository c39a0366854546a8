"""Judging stays quick while 200 teams upload runs of 100,000 lines within five minutes, every run
has its report within ten, and nothing is lost.

All processes of a site run as operators start them: on PostgreSQL and Redis two web processes, a
worker of two processes and beat, then the embedded default. Assessors judge real posts over HTTP,
each a second
after the next item arrives; each team uploads at a time drawn at random. They share the
processors with the site, so the processor seconds of each part are printed.
"""

from __future__ import annotations

import contextlib
import random
import tempfile
import threading
import time
import urllib.request
from argparse import ArgumentParser
from hashlib import sha256
from http.client import HTTPException
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl
import psutil
import psycopg2

from benchmarks.common import (
    Benchmark,
    environment,
    in_process,
    percentile,
    postgresql,
    set_up_django,
    start,
)
from benchmarks.ingest import make_run, topic_ids
from benchmarks.judging import execute
from tests.everywhere import redis_server
from tests.faults.drill import Client, Judge, problems
from tests.faults.site import Site, redis_process

MOST_MILLISECONDS, MOST_SECONDS, MOST_MINUTES = 250, 300, 10
LOOK_EVERY = 0.5
"""Seconds between two looks at the runs that have their reports."""


class Size(NamedTuple):
    """The teams and the seconds in which they upload, the topics of a run and its lines for each;
    the assessors, the items of each, the seconds that they read one, and their labels before the
    first upload; the posts of the collection (all if None).
    """

    teams: int
    seconds: int
    topics: int
    lines: int
    assessors: int
    items: int
    pause: float
    alone: int
    posts: int | None


FULL = Size(200, 280, 100, 1000, assessors=32, items=1200, pause=1, alone=640, posts=2500)
SMALLEST = Size(2, 1, 5, 10, assessors=4, items=60, pause=0.2, alone=20, posts=120)
TENTH = FULL._replace(teams=20, seconds=28, items=600, alone=320)


def main(bench: Benchmark) -> None:
    """Load both kinds of sites; at the smallest size, whose steps are the same, only the first."""
    size = TENTH if bench.options.tenth else bench.sized(FULL, SMALLEST)
    with tempfile.TemporaryDirectory() as name:
        if bench.options.only != "embedded":
            with postgresql() as server, redis_server() as queue:
                measure(bench, "large", Busy(Path(name, "large"), server, queue or "", size))
        if bench.options.only != "large" and not bench.is_smallest:
            folder = Path(name, "embedded")
            environment(folder)
            measure(bench, "embedded", Busy(folder, "", "", size))


def measure(bench: Benchmark, name: str, site: Busy) -> None:
    """Print and compare what assessors and teams see at a site; stop it in the end."""
    size = site.size
    with contextlib.closing(site):
        site.start()
        site.wait_until_ready()
        load = Load(site)
        before, started = site.processor_seconds(), time.monotonic()
        alone = load.judge_alone()
        load.judge_beside_uploads()
        took = time.monotonic() - started
        for part, spent in site.processor_seconds().items():
            print(f"{name}, {part}: {spent - before[part]:.0f} s of a processor in {took:.0f} s")
        found = problems(site, load.judges, load.uploads)
    beside = load.waits()
    rate = len(beside) / (max(load.reported.values()) - load.started)
    print(
        f"{name}: {rate:.0f} labels per second; p50 {percentile(beside, 50):.0f} ms,"
        f" p99 {percentile(beside, 99):.0f} ms; p95 without uploads {percentile(alone, 95):.0f} ms"
    )
    text = f"{name}, {size.assessors} assessors beside {size.teams} uploads"
    bench.limit(f"{text}, p95", percentile(beside, 95), MOST_MILLISECONDS, "ms")
    bench.limit(f"{name}, last upload", max(load.sent.values()) - load.started, MOST_SECONDS, "s")
    waits = [load.reported[run] - sent for run, sent in load.sent.items()]
    bench.limit(f"{name}, longest wait for a report", max(waits) / 60, MOST_MINUTES, "min")
    bench.require(f"{name}: nothing is lost or there twice. {found}", not found)


class Busy(Site):
    """A site with a lab of real posts, teams with tokens, and assessors with a topic each."""

    api = "/api/v1/labs/bench/tasks/task1/"

    def __init__(self, folder: Path, server: str, queue: str, size: Size) -> None:
        self.size = size
        super().__init__(folder, server, queue, items=size.items)
        self.environment.pop("ARQLAB_CLAIM_SECONDS")  # the default

    def make_lab(self, items: int) -> list[tuple[str, str]]:
        """Make the lab, and two files of runs."""
        size = self.size
        made = in_process(
            make_lab,
            self.environment,
            items=items,
            posts=size.posts,
            assessors=size.assessors,
            topics=size.topics,
            teams=size.teams,
        )
        self.tokens: list[str] = made["tokens"]
        posts = pl.DataFrame({"post_id": made["answers"], "type": "answer"})
        self.files = [
            make_run(posts, topic_ids(size.topics), is_odd=is_odd, items=size.lines)
            for is_odd in (False, True)
        ]
        if database := self.environment.get("DATABASE_URL"):
            execute(database, ("VACUUM ANALYZE",))
        return list(made["seats"])

    def wait_until_ready(self) -> None:
        """Wait until the workers have taken a task; raises `TimeoutError`."""
        end = time.monotonic() + 120
        while time.monotonic() < end:
            with contextlib.suppress(OSError):
                urllib.request.urlopen(f"http://127.0.0.1:{self.port}/health/ready").close()
                return
            time.sleep(LOOK_EVERY)
        raise TimeoutError("The site is not ready.")

    def processor_seconds(self) -> dict[str, float]:
        """Return the processor seconds of each part so far."""
        web = psutil.Process(self.process.pid)
        parts = {name: [psutil.Process(one.pid)] for name, one in self.running.items()}
        if self.queue:
            parts["redis"] = [redis_process(self)]
            with contextlib.closing(psycopg2.connect(self.environment["DATABASE_URL"])) as one:
                parts["database"] = [psutil.Process(one.info.backend_pid).parent()]
        else:
            parts["background"] = [one for one in web.children() if one.nice() > web.nice()]
        for found in parts.values():
            found += [child for one in found for child in one.children(recursive=True)]
        parts["web"] = [web, *set(web.children(recursive=True)).difference(*parts.values())]
        spent = {name: sum(map(seconds_of, found)) for name, found in parts.items()}
        return spent | {"assessors and teams": time.process_time()}

    def close(self) -> None:
        """Stop all processes."""
        self.stop()


def seconds_of(process: psutil.Process) -> float:
    """Return the processor seconds of a process and of its children that ended."""
    try:
        return float(sum(process.cpu_times()[:4]))
    except psutil.NoSuchProcess:  # it has ended since it was listed
        return 0.0


class TimedJudge(Judge):
    """An assessor who notes the milliseconds of each request that submits a label."""

    def __init__(self, site: Busy, number: int, client: Client) -> None:
        super().__init__(site, number, client)
        self.pause, self.waits = site.size.pause, list[float]()

    def ask(self, method: str, path: str, body: Any = None, **headers: str) -> Any:
        """Read for a while, ask once, and note how long the answer took."""
        time.sleep(self.pause)
        started = time.perf_counter()
        answer = super().ask(method, path, body, **headers)
        if method == "POST":
            self.waits.append(1000 * (time.perf_counter() - started))
        return answer


class Load:
    """The assessors and teams at a site. By run: the SHA-256 of what was uploaded, and when it was
    acknowledged and had its report.
    """

    def __init__(self, site: Busy) -> None:
        self.site, self.client, self.over = site, Client(), threading.Event()
        self.judges = [
            TimedJudge(site, number, self.client) for number in range(site.size.assessors)
        ]
        self.uploads, self.sent, self.reported = (
            dict[int, str](),
            dict[int, float](),
            dict[int, float](),
        )
        self.threads = [
            threading.Thread(target=one.work, args=(self.over,), daemon=True) for one in self.judges
        ]

    def waits(self) -> list[float]:
        """Return the milliseconds of the labels since this was last called."""
        found = [wait for judge in self.judges for wait in judge.waits]
        for judge in self.judges:
            judge.waits.clear()
        return found

    def judge_alone(self) -> list[float]:
        """Start the assessors, and return the milliseconds of their first labels."""
        for one in self.threads:
            one.start()
        self.client.wait("label", self.site.size.alone)
        return self.waits()

    def judge_beside_uploads(self) -> None:
        """Let all teams upload, and go on until every run has its report."""
        self.started, draw = time.monotonic(), random.Random(1)
        teams = [
            threading.Thread(target=self.upload, args=(number, at), daemon=True)
            for number in range(self.site.size.teams)
            for at in [self.started + draw.random() * self.site.size.seconds]
        ]
        for one in teams:
            one.start()
        end = self.started + self.site.size.seconds + 2 * 60 * MOST_MINUTES
        checked = "SELECT id FROM submissions_run WHERE status IN ('valid', 'invalid')"
        while len(self.reported) < len(teams) or len(self.sent) < len(teams):
            if time.monotonic() > end or not all(one.is_alive() for one in self.threads):
                raise SystemExit(
                    f"{len(self.sent)} runs sent, {len(self.reported)} reports; "
                    f"{self.client.happened}: an assessor has no item left, or the time is over."
                )
            time.sleep(LOOK_EVERY)
            for (run,) in self.site.rows(checked):
                self.reported.setdefault(run, time.monotonic())
        self.over.set()
        for one in self.threads:
            one.join()

    def upload(self, team: int, at: float) -> None:
        """Upload the run of a team at its time, and again until it is acknowledged."""
        time.sleep(max(0, at - time.monotonic()))
        content = self.site.files[team % 2].replace(b"run_1", b"run_%d" % team)
        name = f"Team{team}-task1-run_{team}-auto-both-A.tsv"
        while True:
            with contextlib.suppress(OSError, HTTPException), self.client.asking():
                [run] = self.site.upload(self.site.tokens[team], name, content, check_only=False)
                self.uploads[run["id"]] = sha256(content).hexdigest()
                self.sent[run["id"]] = time.monotonic()
                return


def make_lab(items: int, posts: int | None, assessors: int, topics: int, teams: int) -> Any:
    """Make a topic with so many items for each assessor, and further topics; and the teams.

    Return the places of the assessors with their sessions, the tokens, and the answers.
    """
    from benchmarks import judging

    sessions, _ = judging.make_lab(assessors * items, assessors, posts, assessors)
    set_up_django()
    from django.utils import timezone

    from arqlab.accounts.services.tokens import create_token
    from arqlab.core.models import Membership, Task, Team, Topic, User
    from collection.models import Post

    task, at = Task.objects.get(), timezone.now()
    Topic.objects.bulk_create(
        Topic(task=task, query_id=f"A.{number}", position=number)
        for number in range(assessors + 1, topics + 1)
    )
    tokens = []
    for number in range(teams):
        team = Team.objects.create(lab=task.lab, name=f"Team{number}")
        user = User.objects.create_user(f"member{number}")
        Membership.objects.create(lab=task.lab, user=user, role="member", team=team)
        tokens.append(create_token(user=user, name="uploads", scope="write", days=1, at=at))
    answers = Post.objects.filter(kind="answer").order_by("pk")
    judging.typeset_all(list(answers))
    return {
        "seats": [[f"topics/A.{number + 1}", key] for number, key in enumerate(sessions)],
        "tokens": tokens,
        "answers": list(answers.values_list("post_id", flat=True)),
    }


def add_options(parser: ArgumentParser) -> None:
    """Add the options for a smaller load."""
    parser.add_argument("--tenth", action="store_true", help="20 teams in half a minute")
    parser.add_argument("--only", choices=["large", "embedded"], help="one kind of site")


if __name__ == "__main__":
    start(main, sides=(make_lab,), add_options=add_options)
