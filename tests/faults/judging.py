"""Assessors at a served lab: what was acknowledged is there once, and nothing is torn."""

import contextlib
import json
import os
import random
import secrets
import signal
import socket
import sqlite3
import subprocess
import sys
import urllib.request
from collections.abc import Iterator, Sequence
from http.client import HTTPConnection, HTTPException
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple
from uuid import uuid4

import psycopg2

from arqkit.protocols.scales import SYSTEM_FAILURE
from tests.assessment.judging.dying import STEP
from tests.paths import ROOT
from tests.served import start_on

ASSESSORS, TOPICS, CSRF = 32, 16, "b" * 32
# Two assessors share each topic; of the last four topics, each has a copy of the items in a round.
# Items of every third topic are formulas with three instances.
MAKE_LAB = f"""
import json
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.sessions.backends.db import SessionStore
from django.utils import timezone
from django.core.management import call_command
from arqlab.core.models import *
from assessment.models import *
call_command("migrate", verbosity=0)
lab = Lab.objects.create(slug="lab", name="Lab", protocol="arqmath-1")
task = Task.objects.create(
    lab=lab, slug="task1", name="Answers", kind="answers", trec_items="posts"
)
at, scale = timezone.now(), task.protocol.labels.rows()
fields = dict(settings={{}}, scale=scale, seed=1, runs=[], sha256="0" * 64)
pool = Pool.objects.create(task=task, number=1, frozen_at=at, **fields)
round_ = Round.objects.create(task=task, kind="training", number=1, made_at=at)
copies = Pool.objects.create(task=task, round=round_, number=1, frozen_at=at, **fields)
sessions = []
def fill(topic, kind, count, **fields):
    items = PoolItem.objects.bulk_create(
        PoolItem(topic=topic, kind=kind, item=str(n), position=n, text="A text.", **fields)
        for n in range(1, {{items}} + 1)
    )
    PoolInstance.objects.bulk_create(
        PoolInstance(item=item, doc_id=f"{{item.item}}.{{place}}", position=place)
        for item in items
        for place in range(count)
    )
for number in range({TOPICS}):
    topic = Topic.objects.create(task=task, query_id=f"A.{{number}}", position=number)
    kind, count = ("visual-ids", 3) if number % 3 == 0 else ("posts", 1)
    in_round = number >= 12
    if not in_round:
        fill(topic, kind, count, pool=pool)
    for name in range({ASSESSORS // TOPICS}):
        user = User.objects.create_user(f"assessor{{number}}-{{name}}")
        Membership.objects.create(lab=lab, user=user, role="assessor")
        if in_round:
            fill(topic, kind, count, pool=copies, assessor=user)
        else:
            Assignment.objects.create(topic=topic, assessor=user, assigned_at=at)
        session = SessionStore()
        session[SESSION_KEY], session[HASH_SESSION_KEY] = str(user.pk), user.get_session_auth_hash()
        session[BACKEND_SESSION_KEY] = "arqlab.accounts.signedin.Backend"
        session.create()
        within = f"rounds/{{round_.key}}/" if in_round else ""
        sessions.append([f"{{within}}topics/{{topic.query_id}}", session.session_key])
print(json.dumps(sessions))
"""
# Everything that must never be, each as a query of its rows.
LOOK = """
import json
from django.db.models import Count, F, Q
from assessment.models import *
current = Q(instances__judgments__is_current=True)
items = PoolItem.objects.annotate(
    labels=Count("instances__judgments", filter=current), parts=Count("instances", distinct=True)
)
counted = PoolInstance.objects.annotate(
    n=Count("judgments"), now=Count("judgments", filter=Q(judgments__is_current=True))
)
stored = Judgment.objects.values_list("key", "instance", "label")
print(json.dumps({
    "keys": {str(key): [instance, label] for key, instance, label in stored},
    "done_without_labels": items.filter(done_at__isnull=False).exclude(labels=F("parts")).count(),
    "labels_without_done": items.filter(done_at=None, labels=F("parts")).count(),
    "doubled": counted.filter(now__gt=1).count(),
    "judged_without_current": counted.filter(n__gt=0, now=0).count(),
    "done": PoolItem.objects.filter(done_at__isnull=False).count(),
    "failures_without_ticket": Judgment.objects.filter(label__in=[5, 6], ticket=None).count(),
}))
"""


class Found(NamedTuple):
    """What was found after the kills; all but the first three are to be 0."""

    acknowledged: int
    kills: int
    done: int
    missing: int
    changed: int
    torn: int
    doubled: int
    without_ticket: int


class Served:
    """A lab that is served by two web processes, which can be killed."""

    api = "/api/v1/labs/lab/tasks/task1/"

    def __init__(
        self, folder: Path, database: str | None, *, items: int, settings: str = "arqlab.settings"
    ) -> None:
        self.environment = {
            key: value
            for key, value in os.environ.items()
            if key not in {"DATABASE_URL", "REDIS_URL"}
        }
        self.environment |= {
            "ARQLAB_DATA": str(folder),
            "DJANGO_SETTINGS_MODULE": settings,
            "REDIS_URL": "redis://127.0.0.1:1/0",  # no Redis: judging needs none
            "ARQLAB_LOG_LEVEL": "CRITICAL",
        }
        if database:
            key = secrets.token_hex(32)
            self.environment |= {"DATABASE_URL": database, "ARQLAB_SECRET_KEY": key}
        # Requests wait here while no server runs.
        self.listening = socket.create_server(("127.0.0.1", 0), backlog=512)
        self.port: int = self.listening.getsockname()[1]
        self.seats = self.make_lab(items)
        self.kills = 0

    def make_lab(self, items: int) -> list[tuple[str, str]]:
        """Make the lab, with so many items in each topic. Return the assessors' places in the task
        and their sessions.
        """
        seats: list[tuple[str, str]] = json.loads(
            self.shell(MAKE_LAB.replace("{items}", str(items)))
        )
        return seats

    def manage(self, *words: str) -> str:
        """Run a command and give what it printed."""
        command = [sys.executable, "manage.py", *words]
        done = subprocess.run(
            command, cwd=ROOT, env=self.environment, check=True, stdout=subprocess.PIPE, text=True
        )
        return done.stdout

    def shell(self, code: str) -> str:
        """Run Python in the lab and give the last line that it printed."""
        return self.manage("shell", "--verbosity", "0", "--command", code).splitlines()[-1]

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """Return the rows of a query, read past the lab."""
        url = self.environment.get("DATABASE_URL")
        database = Path(self.environment["ARQLAB_DATA"]) / "arqlab.sqlite3"
        with contextlib.closing(
            psycopg2.connect(url) if url else sqlite3.connect(database)
        ) as connection:
            cursor = connection.cursor()
            cursor.execute(query)
            return list(cursor.fetchall())

    def start(self) -> None:
        """Serve, by a group of processes of its own."""
        options = ["--bind", "{bind}", "--workers", "2", "--threads", "4"]
        command = [sys.executable, "manage.py", "serve", *options]
        self.process = start_on(
            self.listening, command, env=self.environment, start_new_session=True
        )
        # The socket outlives the processes, so only a time limit shows that they cannot start.
        urllib.request.urlopen(f"http://127.0.0.1:{self.port}/health/live", timeout=300).close()

    def kill(self) -> None:
        """Kill all processes at once, as a power cut does."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.kills += 1

    def found(self, acknowledged: dict[str, tuple[int, int]]) -> Found:
        """Return how what is stored differs from what was acknowledged: key, instance, label."""
        told = json.loads(self.shell(LOOK))
        missing = [key for key in acknowledged if key not in told["keys"]]
        changed = [
            key
            for key, said in acknowledged.items()
            if key not in missing and told["keys"][key] != list(said)
        ]
        torn = (
            told["done_without_labels"]
            + told["labels_without_done"]
            + told["judged_without_current"]
        )
        counts = (torn, told["doubled"], told["failures_without_ticket"])
        return Found(
            len(acknowledged), self.kills, told["done"], len(missing), len(changed), *counts
        )


class Seat:
    """An assessor who keeps what is not acknowledged and sends it again, as the page does."""

    def __init__(self, served: Served, number: int) -> None:
        place, session = served.seats[number]
        self.port = served.port
        self.base = f"{served.api}{place}/judging/"
        self.headers = {"Content-Type": "application/json", "X-CSRFToken": CSRF}
        self.headers["Cookie"] = f"sessionid={session}; csrftoken={CSRF}"
        self.chance = random.Random(number)
        self.acknowledged: dict[str, tuple[int, int]] = {}

    def ask(self, method: str, path: str, body: Any = None, **headers: str) -> Any:
        """Ask once, over a connection of its own; raises `OSError` or `HTTPException` when nobody
        answers.
        """
        connection = HTTPConnection("127.0.0.1", self.port, timeout=30)
        with contextlib.closing(connection):
            connection.request(
                method, self.base + path, json.dumps(body) if body else None, self.headers | headers
            )
            response = connection.getresponse()
            text = response.read()
        if response.status != 200:
            raise AssertionError(f"{method} {path} answers {response.status}: {text[:300]!r}")
        return json.loads(text)

    def insist(self, method: str, path: str, body: Any) -> Any:
        """Ask until there is an answer."""
        while True:
            with contextlib.suppress(OSError, HTTPException):
                return self.ask(method, path, body)

    def labels(self, item: Any, choices: Sequence[int] = (3, 2, 1, 0, 0, 5)) -> dict[str, Any]:
        """Return a label for each instance; now and then one is a ticket."""
        rows = [
            {"instance": one["instance"], "label": self.chance.choice(choices), "key": str(uuid4())}
            for one in item["instances"]
        ]
        return {"item": item["item"], "lease": item["lease"], "judgments": rows}

    def note(self, answer: Any) -> None:
        """Remember what was acknowledged."""
        self.acknowledged |= {
            one["key"]: (one["instance"], one["label"]) for one in answer["saved"]
        }


@contextlib.contextmanager
def served_lab(
    folder: Path, database: str | None, *, items: int, settings: str = "arqlab.settings"
) -> Iterator[Served]:
    """Serve a lab until the block ends."""
    served = Served(folder, database, items=items, settings=settings)
    served.start()
    try:
        yield served
    finally:
        if served.process.poll() is None:
            served.kill()
        served.listening.close()


def kill_at_each_step(served: Served) -> Found:
    """Submit tickets for one item after the other. The worker that takes the first dies before its
    first step, that of the second before its second (`tests.assessment.judging.dying`), until one
    lives. Submit again what nobody answered: the page does not know whether it was stored."""
    seat = Seat(served, 0)
    item = seat.insist("GET", "next/", None)["item"]
    for step in count(1):
        body = seat.labels(item, choices=[SYSTEM_FAILURE.value])
        try:
            seat.note(seat.ask("POST", "judgments/", body, **{STEP: str(step)}))
            break
        except (OSError, HTTPException):
            served.kills += 1
        answer = seat.insist("POST", "judgments/", body)
        seat.note(answer)
        item = answer["next"]
    return served.found(seat.acknowledged)
