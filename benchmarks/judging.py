"""Claim: judging makes at least 40% of the judgments per second of a view that inserts a row and
reads the next.

PostgreSQL and granian with 4 workers serve three sites: a lab whose pool has 36,000 items of real
posts, a lab with 500, and the peer, a Django view for users who are signed in that inserts one row
and reads the next, with sessions and CSRF. Assessors judge as the page does, over HTTP with
sessions and CSRF, one request per judgment, each as soon as the next item arrives. In each round
every site is measured, and the medians of the rounds' ratios are compared. A judgment takes at most
7 queries.
"""

import contextlib
import gzip
import json
import os
import socket
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from http.client import HTTPConnection
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple
from uuid import uuid4

import psycopg2
from django.apps import AppConfig

from arqlab.asgi import Buffered
from benchmarks.common import (
    Benchmark,
    environment,
    in_process,
    percentile,
    postgresql,
    seconds,
    serving,
    set_up_django,
    shared_data,
    start,
)
from tests.everywhere import free_port, migrate

UNMEASURED = 2
CSRF = "b" * 32
PEER = "peer"
BACKENDS = BACKEND, PEERS_BACKEND = (
    "arqlab.accounts.signedin.Backend",
    "django.contrib.auth.backends.ModelBackend",
)
LEAST, LEAST_BY_SIZE, MOST_QUERIES = 0.40, 0.85, 7


class Round(NamedTuple):
    """The result of a round: judgments per second, and milliseconds of its requests."""

    rate: float
    times: list[float]


class Place(NamedTuple):
    """A site: its port and database, and the sessions of the assessors there and at the peer.

    At the peer, each assessor judges the items of a stride.
    """

    port: int
    variables: Mapping[str, str]
    database: str
    sessions: list[str]
    peers: list[str]
    stride: int


Rounds = dict[tuple[str, int], list[Round]]


class Size(NamedTuple):
    """The items of both pools, the posts to draw them from (all if None), the topics of the big
    pool, the assessors, and the judgments of a round.
    """

    big: int
    small: int
    posts: int | None
    topics: int
    few: int
    many: int
    judgments: int
    workers: int


FULL = Size(36_000, 500, None, topics=100, few=8, many=32, judgments=448, workers=4)
SMALLEST = Size(80, 32, 40, topics=10, few=4, many=10, judgments=10, workers=1)


def main(bench: Benchmark) -> None:
    """Judge in turns and compare the rates."""
    size = bench.sized(FULL, SMALLEST)
    with (
        tempfile.TemporaryDirectory() as name,
        postgresql() as server,
        contextlib.ExitStack() as stack,
    ):
        folder = Path(name)
        migrate(environment(folder, server))
        big, small = (
            stack.enter_context(served(server, folder, site, items, size))
            for site, items in (("big", size.big), ("small", size.small))
        )
        peer = stack.enter_context(served_peer(big, size.workers))
        sides = {
            (name, clients): partial(
                judge_round, place, clients, size.judgments // clients, is_peer=place is peer
            )
            for name, place, clients in (
                ("peer", peer, size.few),
                ("big pool", big, size.few),
                ("small pool", small, size.few),
                ("big pool", big, size.many),
                ("peer", peer, size.many),
            )
        }
        report(bench, bench.alternate(sides), size.few)
        execute(big.database, RESET)
        queries = in_process(
            most_queries, big.variables, session=big.sessions[0], judgments=bench.sized(15, 3)
        )
    print(f"queries of a judgment: {queries}")
    bench.require(f"a judgment takes at most {MOST_QUERIES} queries", queries <= MOST_QUERIES)


def report(bench: Benchmark, rounds: Rounds, few: int) -> None:
    """Print the rate and the times of each site, and compare the ratios with the goals."""
    for (name, clients), results in rounds.items():
        rate = statistics.median(each.rate for each in results)
        p95 = statistics.median(percentile(each.times, 95) for each in results)
        print(f"{name}, {clients} assessors: {rate:.0f} judgments per second, p95 {p95:.1f} ms")
    for name, goal in (("peer", LEAST), ("small pool", LEAST_BY_SIZE)):
        pairs = zip(rounds["big pool", few], rounds[name, few], strict=True)
        ratio = statistics.median(big.rate / other.rate for big, other in pairs)
        bench.ratio(f"judging, big pool to {name}", ratio, at_least=goal)


# --- the assessors


def judge_round(place: Place, clients: int, each: int, *, is_peer: bool) -> Round:
    """Run the assessors at the same time.

    The first judgments of each are not measured: the database reads the emptied tables again.
    """
    if not is_peer:
        execute(place.database, RESET)
    begin = peer_assessor if is_peer else assessor
    ready, times = threading.Barrier(clients + 1), list[float]()

    def work(number: int) -> None:
        with aborting(ready):
            judge = begin(place, number)
            for _ in range(UNMEASURED):
                judge()
            ready.wait(60)
            for _ in range(each):
                times.append(1000 * seconds(judge))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(clients)]
    for thread in threads:
        thread.start()
    ready.wait(60)
    start = time.perf_counter()
    for thread in threads:
        thread.join()
    took = time.perf_counter() - start
    if len(times) != clients * each:
        raise SystemExit(f"{clients * each - len(times)} judgments failed.")
    return Round(len(times) / took, times)


@contextlib.contextmanager
def aborting(ready: threading.Barrier) -> Iterator[None]:
    """Let nobody wait for an assessor that failed."""
    try:
        yield
    except BaseException:
        ready.abort()
        raise


def assessor(place: Place, number: int) -> Callable[[], None]:
    """Take an item; return a function that judges as the page does, submitting and taking the next
    item in one request.
    """
    ask = asking(
        place.port,
        f"/api/v1/labs/bench/tasks/task1/topics/A.{number + 1}/judging/",
        place.sessions[number],
    )
    item = ask("GET", "next/", None)["item"]

    def judge() -> None:
        nonlocal item
        labels = [
            {
                "instance": one["instance"],
                "label": 2,
                "key": str(uuid4()),
                "seen": None,
                "active_ms": 41_000,
            }
            for one in item["instances"]
        ]
        answer = ask(
            "POST",
            "judgments/",
            {"item": item["item"], "lease": item["lease"], "judgments": labels},
        )
        if not (answer["done"] and answer["saved"][0]["counts"]):
            raise RuntimeError(f"Not saved: {answer}")
        item = answer["next"]

    return judge


def peer_assessor(place: Place, number: int) -> Callable[[], None]:
    """Return a function that judges at the peer."""
    ask, item = asking(place.port, "/", place.sessions[number]), number * place.stride + 1

    def judge() -> None:
        nonlocal item
        item = ask("POST", "", {"item": item, "label": 2})["item"]

    return judge


def asking(port: int, base: str, session: str) -> Callable[[str, str, Any], Any]:
    """Return a function that sends requests over one connection, reopened when closed."""
    connection = HTTPConnection("127.0.0.1", port, timeout=60)
    connection.connect()
    connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    headers = {"Content-Type": "application/json", "X-CSRFToken": CSRF}
    headers["Cookie"] = f"sessionid={session}; csrftoken={CSRF}"

    def ask(method: str, path: str, body: Any) -> Any:
        connection.request(method, base + path, json.dumps(body) if body else None, headers)
        response = connection.getresponse()
        text = response.read()
        if response.status != 200:
            raise RuntimeError(f"{method} {base + path} returns {response.status}: {text[:500]!r}")
        return json.loads(text)

    return ask


# --- the servers

RESET = (
    "DELETE FROM assessment_judgment",
    "UPDATE assessment_poolitem SET done_at = NULL, leased_to_id = NULL, leased_until = NULL"
    " WHERE done_at IS NOT NULL OR leased_until IS NOT NULL",
    "VACUUM ANALYZE assessment_poolitem",
    "VACUUM ANALYZE assessment_judgment",
)
PEER_TABLES = (
    "CREATE TABLE peer_item AS"
    " SELECT row_number() OVER (ORDER BY item.id) AS id, post.body AS text"
    " FROM assessment_poolinstance item JOIN collection_post post ON post.post_id = item.post_id",
    "ALTER TABLE peer_item ADD PRIMARY KEY (id)",
    "CREATE TABLE peer_label (id bigserial PRIMARY KEY, item bigint NOT NULL,"
    " label smallint NOT NULL, assessor bigint NOT NULL)",
    "VACUUM ANALYZE",
)


def execute(url: str, commands: tuple[str, ...]) -> None:
    """Run SQL, one command at a time."""
    with contextlib.closing(psycopg2.connect(url)) as connection:
        connection.autocommit = True
        for command in commands:
            connection.cursor().execute(command)


@contextlib.contextmanager
def served(server: str, folder: Path, name: str, items: int, size: Size) -> Iterator[Place]:
    """Serve a lab with a pool of so many items on a database of its own."""
    address, _, template = server.rpartition("/")
    database = f"{address}/bench_{name}"
    execute(f"{address}/template1", (f"CREATE DATABASE bench_{name} TEMPLATE {template}",))
    variables = environment(folder / name, database)
    used = size.topics if items == size.big else size.few
    arguments = {"items": items, "used": used, "posts": size.posts, "assessors": size.many}
    sessions, peers = in_process(make_lab, variables, **arguments)
    execute(database, ("VACUUM ANALYZE",))
    with granian("benchmarks.judging:arqlab", variables, size.workers) as port:
        yield Place(port, variables, database, sessions, peers, items // size.many)


@contextlib.contextmanager
def served_peer(lab: Place, workers: int) -> Iterator[Place]:
    """Serve the peer on the database of a lab, in tables of its own with the same posts."""
    execute(lab.database, PEER_TABLES)
    with granian("benchmarks.judging:peer", lab.variables, workers) as port:
        yield lab._replace(port=port, sessions=lab.peers)


@contextlib.contextmanager
def granian(application: str, variables: Mapping[str, str], workers: int) -> Iterator[int]:
    """Serve an application by workers that answer one request at a time, as `manage.py serve
    --workers 4 --threads 1` does.
    """
    port = free_port()
    command = ["-m", "granian", "--interface", "asginl", "--workers", str(workers), "--factory"]
    command += ["--port", str(port), "--log-level", "error", application]
    with serving(command, port, variables):
        yield port


def buffered(application: Any) -> Buffered:
    """Return an application as `manage.py serve` runs it, in one thread."""
    folder = Path(os.environ["ARQLAB_DATA"])
    return Buffered(application, threads=1, largest=2**20, folder=folder)


def arqlab() -> Buffered:
    """Return ArqLab."""
    from arqlab.wsgi import application

    return buffered(application)


class Users(AppConfig):
    """The users of ArqLab for the peer, without what else the app starts."""

    name, label = "arqlab.core", "core"


def peer() -> Buffered:
    """Return the peer: Django with the middleware of a new project, and one view for users who are
    signed in.
    """
    import dj_database_url
    import django
    from django.conf import settings

    parts = ("sessions.middleware.SessionMiddleware", "auth.middleware.AuthenticationMiddleware")
    middleware = [
        "security.SecurityMiddleware",
        "common.CommonMiddleware",
        "csrf.CsrfViewMiddleware",
    ]
    settings.configure(
        DATABASES={
            "default": dj_database_url.parse(os.environ["DATABASE_URL"]) | {"CONN_MAX_AGE": 60}
        },
        INSTALLED_APPS=[
            "django.contrib.auth",
            "django.contrib.contenttypes",
            "django.contrib.sessions",
            "benchmarks.judging.Users",
        ],
        MIDDLEWARE=[
            *(f"django.middleware.{name}" for name in middleware),
            *(f"django.contrib.{name}" for name in parts),
        ],
        AUTH_USER_MODEL="core.User",
        AUTHENTICATION_BACKENDS=[PEERS_BACKEND],
        ROOT_URLCONF=__name__,
        ALLOWED_HOSTS=["*"],
        SECRET_KEY=os.environ["ARQLAB_SECRET_KEY"],
        USE_TZ=True,
    )
    django.setup()
    from django.contrib.auth.decorators import login_required
    from django.core.wsgi import get_wsgi_application
    from django.db import models
    from django.http import HttpRequest, JsonResponse
    from django.urls import path

    class Item(models.Model):
        text = models.TextField()

        class Meta:
            app_label, db_table = PEER, "peer_item"

    class Label(models.Model):
        item = models.BigIntegerField()
        label = models.SmallIntegerField()
        assessor = models.BigIntegerField()

        class Meta:
            app_label, db_table = PEER, "peer_label"

    @login_required
    def judge(request: HttpRequest) -> JsonResponse:
        given = json.loads(request.body)
        Label.objects.create(item=given["item"], label=given["label"], assessor=request.user.pk)
        following = Item.objects.filter(pk__gt=given["item"]).order_by("pk").first()
        return JsonResponse({"item": following.pk, "text": following.text})

    globals()["urlpatterns"] = [path("", judge)]
    return buffered(get_wsgi_application())


# --- the lab


def make_lab(items: int, used: int, posts: int | None, assessors: int) -> list[list[str]]:
    """Make a lab with a pool of so many answers in the topics used, and a topic for each assessor.

    Return the sessions of the assessors, at ours and at the peer.
    """
    set_up_django()
    from arqlab.core.models import Lab, Task, Topic

    lab = Lab.objects.create(slug="bench", name="Bench", protocol="arqmath-1")
    task = Task.objects.create(
        lab=lab, slug="task1", name="Answers", kind="answers", trec_items="posts"
    )
    import_posts(posts)
    numbers = range(1, max(used, assessors) + 1)
    topics = [Topic(task=task, query_id=f"A.{number}", position=number) for number in numbers]
    Topic.objects.bulk_create(topics)
    make_pool(task, topics[:used], items)
    people = [make_assessor(topic) for topic in topics[:assessors]]
    return [[session_of(person, backend) for person in people] for backend in BACKENDS]


def import_posts(count: int | None) -> None:
    """Import the sample, or so many posts of it."""
    from django.core.management import call_command

    posts = shared_data("collection/Posts.xml.gz")
    options = ["--collection", "bench", "--lab", "bench"]
    with tempfile.TemporaryDirectory() as folder:
        if count:
            with gzip.open(posts, "rt", encoding="utf-8") as file:
                lines = [*islice(file, count), "</posts>\n"]
            posts = Path(folder, "Posts.xml")
            posts.write_text("".join(lines), encoding="utf-8")
        call_command("import_posts", str(posts), *options, stdout=sys.stderr)


def make_pool(task: Any, topics: list[Any], items: int) -> None:
    """Make a pool of answers of the collection, and typeset the formulas of those to be judged."""
    from django.utils import timezone

    from assessment.models import Pool, PoolInstance, PoolItem
    from collection.models import Post

    fields = {
        "settings": {},
        "scale": task.protocol.labels.rows(),
        "seed": 1,
        "runs": [],
        "sha256": "0" * 64,
        "frozen_at": timezone.now(),
    }
    pool = Pool.objects.create(task=task, number=1, **fields)
    answers = list(Post.objects.filter(kind="answer").order_by("pk"))
    chosen = [
        (PoolItem(pool=pool, topic=topic, kind="posts", item=post.post_id, position=place), post)
        for number, topic in enumerate(topics)
        for place in range(1, items // len(topics) + 1)
        for post in [answers[(number * 61 + place) % len(answers)]]
    ]
    PoolItem.objects.bulk_create((item for item, _ in chosen), batch_size=2000)
    instances = (
        PoolInstance(item=item, doc_id=post.post_id, post_id=post.post_id) for item, post in chosen
    )
    PoolInstance.objects.bulk_create(instances, batch_size=2000)
    typeset_all(
        [post for item, post in chosen if item.position <= (61 if item.topic in topics[:8] else 17)]
    )


def make_assessor(topic: Any) -> Any:
    """Make an assessor for a topic."""
    from django.utils import timezone

    from arqlab.core.models import Membership, User
    from assessment.models import Assignment

    user = User.objects.create_user(f"assessor{topic.position}")
    Membership.objects.create(lab=topic.task.lab, user=user, role="assessor")
    Assignment.objects.create(topic=topic, assessor=user, assigned_at=timezone.now())
    return user


def session_of(user: Any, backend: str) -> str:
    """Sign a person in and return the key of the session."""
    from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
    from django.contrib.sessions.backends.db import SessionStore

    session = SessionStore()
    session[SESSION_KEY], session[HASH_SESSION_KEY] = str(user.pk), user.get_session_auth_hash()
    session[BACKEND_SESSION_KEY] = backend
    session.create()
    return str(session.session_key)


def typeset_all(posts: list[Any]) -> None:
    """Typeset the formulas of posts and store them, as the first view of a post does."""
    from arqkit.texts.html.rendering import keys_of, read_text
    from arqlab.labs.services.formulas import typeset_formulas

    typeset_formulas(keys_of(read_text(post.safe_body) for post in posts))


def most_queries(session: str, judgments: int) -> int:
    """Judge as `assessor` does; return the most queries of a judgment."""
    set_up_django()
    from django.db import connection
    from django.test import Client
    from django.test.utils import CaptureQueriesContext

    client, counts = Client(), []
    client.cookies["sessionid"] = session
    base = "/api/v1/labs/bench/tasks/task1/topics/A.1/judging/"
    item = client.get(f"{base}next/").json()["item"]
    for _ in range(judgments):
        label = {"instance": item["instances"][0]["instance"], "label": 2, "key": str(uuid4())}
        body = {"item": item["item"], "lease": item["lease"], "judgments": [label]}
        with CaptureQueriesContext(connection) as queries:
            answer = client.post(f"{base}judgments/", body, content_type="application/json")
        item = answer.json()["next"]
        counts.append(sum(not q["sql"].startswith(("BEGIN", "COMMIT")) for q in queries))
    return max(counts)


if __name__ == "__main__":
    start(main, rounds=7, sides=(make_lab, most_queries))
