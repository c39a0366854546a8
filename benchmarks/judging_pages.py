"""Claim: with 8 assessors, 100 topics and 45,000 items, the server answers with each page of
judging, for organizers and for assessors, in under 300 ms, on both databases.

The lab has rounds of each kind, tickets, marks, findings of the radar and forecasts of topics.
Django's test client asks for the pages, middleware and templates included. Each line has the time
that the browser waits, the time that the processors of the server and of PostgreSQL work (other
programs on the machine do not change it), and the number of queries. Effects on the leaderboard are
computed once and kept until a label changes: what that takes is printed, without a goal. The goals
are absolute.
"""

import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.common import (
    Benchmark,
    environment,
    in_process,
    postgresql,
    seconds,
    set_up_django,
    start,
)

MOST_MILLISECONDS = 300
TASK_PAGES = {
    "assignments": "assessment:assignment-list",
    "import assignments": "assessment:assignment-import",
    "roster": "assessment:assignment-roster",
    "plan": "assessment:assignment-plan",
    "rounds": "assessment:round-list",
    "adjudication": "analyses:adjudication-list",
    "adjudication, by effect": "analyses:adjudication-list?sort=-effect",
    "radar": "radar:radar-list",
    "dismissed findings": "radar:radar-list?state=dismissed",
    "guidelines": "assessment:guideline-edit",
    "guidelines, cases": "assessment:guideline-entry-list",
    "guidelines, judgments": "assessment:guideline-judgment-list",
    "pool": "assessment:pool-list",
    "qrels": "assessment:qrels-list",
    "draft of the qrels": "assessment:qrels-draft",
}
LAB_PAGES = {
    "tickets": "assessment:ticket-list",
    "answered tickets": "assessment:ticket-list?state=answered",
    "time sheet": "timesheets:time-sheet",
    "time sheet, CSV": "timesheets:time-sheet-csv",
    "judging home": "assessment:judging-home",
}
ROUND_PAGES = {
    "new training round": ("assessment:round-create", "training"),
    "new sample task": ("assessment:round-create", "sample"),
    "plan of second judgments": ("assessment:round-create", "second"),
    "new special questions": ("assessment:round-create", "questions"),
    "training round": ("analyses:round-detail", "training-2"),
    "meeting": ("assessment:meeting", "training-2"),
    "votes, TSV": ("assessment:round-votes", "training-2"),
    "sample task": ("analyses:round-detail", "sample-1"),
    "second judgments": ("analyses:round-detail", "second-1"),
    "special questions": ("analyses:round-detail", "questions-1"),
    "second judgments, effect": ("analyses:round-detail?effect=yes", "second-1"),
}
EFFECTS = ("adjudication, by effect", "second judgments, effect")
Page = tuple[str, Any, str]  # its name, the user who sees it, and its address


def main(bench: Benchmark) -> None:
    """Measure each page."""
    size = bench.sized({"topics": 100, "items": 450}, {"topics": 8, "items": 110})
    size |= bench.sized({"applicants": 44, "runs": 12}, {"applicants": 2, "runs": 1})
    with tempfile.TemporaryDirectory() as folder, postgresql() as server:
        variables = environment(Path(folder), server)
        found = in_process(measure, variables, size=size, rounds=bench.rounds)
    print(f"{found['judgments']:,} judgments, {found['findings']} findings")
    bench.require("findings of three kinds", found["kinds"] == 3)
    for name, page in found["pages"].items():
        took, work = (1000 * statistics.median(page[key]) for key in ("waits", "works"))
        if name in EFFECTS:
            print(f"{name}, computed: {1000 * page['first']:.0f} ms")
        what = f"{name}, {work:.0f} ms of work, {page['queries']} queries"
        bench.limit(what, took, MOST_MILLISECONDS, "ms")


def measure(size: dict[str, int], rounds: int) -> dict[str, Any]:
    """Make the lab and return the seconds of each page."""
    set_up_django()
    from django.db import connection

    from assessment.models import Judgment
    from benchmarks.labs.rounds import make_lab_with_rounds
    from contrib.radar.selectors.findings import findings_of

    made = make_lab_with_rounds(**size)
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE")  # as autovacuum does within minutes
    findings = findings_of(made.task)
    return {
        "judgments": Judgment.objects.count(),
        "findings": len(findings),
        "kinds": len({one.kind for one in findings}),
        "pages": {
            name: measured(user, path, rounds) for name, user, path in pages_of(made, findings)
        },
    }


def pages_of(made: Any, findings: list[Any]) -> Iterator[Page]:
    """Yield all pages of judging."""
    from assessment.models import Ticket
    from assessment.rounds.selectors.adjudication import disagreement_queue

    lab, task, organizer = (
        [made.task.lab.slug],
        [made.task.lab.slug, made.task.slug],
        made.organizer,
    )
    longest = max(findings, key=lambda one: len(one.instances))
    for names, arguments in ((TASK_PAGES, task), (LAB_PAGES, lab)):
        for name, view in names.items():
            yield name, organizer, address(view, *arguments)
    for name, (view, key) in ROUND_PAGES.items():
        yield name, organizer, address(view, *task, key)
    yield "finding", organizer, address("radar:radar-detail", *task, longest.key)
    ticket = Ticket.objects.latest("pk").pk
    yield "ticket", organizer, address("assessment:ticket-detail", *lab, ticket)
    disagreement = disagreement_queue(made.task)["instance"][-1]
    yield "disagreement", organizer, address("assessment:adjudication-detail", *task, disagreement)
    yield "pool with its labels", organizer, address("assessment:pool-detail", *task, 1)
    yield from own_pages(made, lab, task)


def own_pages(made: Any, lab: list[str], task: list[str]) -> Iterator[Page]:
    """Yield the pages that assessors see."""
    person, topic = made.assessors[0], made.task.topics.first().query_id
    yield "own judging home", person, address("assessment:judging-home", *lab)
    yield "own work", person, address("assessment:judging-work", *lab)
    yield "own work, CSV", person, address("assessment:judging-work-csv", *lab)
    yield "own bids", person, address("assessment:bid-list", *task)
    yield "judging page", person, address("assessment:judge", *task, topic)
    yield "own judgments", person, address("assessment:judgment-list", *task, topic)
    yield "own training round", person, address("analyses:round-detail", *task, "training-2")
    yield "own meeting", person, address("assessment:meeting", *task, "training-2")
    yield "read guidelines", person, address("assessment:guideline-detail", *task, 2)
    yield "changed guidelines", person, address("assessment:guideline-changes", *task, 2)
    yield "tickets sent to the expert", person, address("assessment:ticket-sent-list", *lab)


def address(view: str, *arguments: Any) -> str:
    """Return the address of a view with its query."""
    from django.urls import reverse

    name, mark, query = view.partition("?")
    return reverse(name, args=arguments) + mark + query


def measured(user: Any, path: str, rounds: int) -> dict[str, Any]:
    """Return the seconds and the queries of a page."""
    from django.db import connection
    from django.test import Client
    from django.test.utils import CaptureQueriesContext

    client = Client()
    client.force_login(user)

    def ask() -> None:
        status = client.get(path).status_code
        if status != 200:
            raise SystemExit(f"{path} returns {status}.")

    with CaptureQueriesContext(connection) as queries:
        first = seconds(ask)  # it compiles templates and prepares queries, too
        count = len(queries)
    figures: dict[str, list[float]] = {"waits": [], "works": []}
    for _ in range(rounds):
        before = processor_seconds()
        figures["waits"].append(seconds(ask))
        figures["works"].append(processor_seconds() - before)
    return figures | {"first": first, "queries": count}


def processor_seconds() -> float:
    """Return the seconds that this process and its process of PostgreSQL have worked."""
    from django.db import connection

    with connection.cursor() as cursor:
        [(process,)] = (cursor.execute("SELECT pg_backend_pid()"), cursor.fetchall())[1]
    own = Path(f"/proc/{process}/schedstat").read_text(encoding="utf-8").split()[0]
    return time.process_time() + int(own) / 1e9


if __name__ == "__main__":
    start(main, rounds=5, sides=(measure,))
