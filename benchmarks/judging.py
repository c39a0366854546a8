"""Claim: judging makes at least 40% of the judgments a second of a view that inserts a row and
reads the next.

    python benchmarks/judging.py [--rounds 7] [--posts ../shared/data/collection/Posts.xml.gz]

Starts PostgreSQL, and gunicorn with 4 workers for each of three: a lab whose pool has 36,000 items
of real posts, one of 500, and the peer, a Django view for who is signed in that inserts one row and
reads the next, with sessions and CSRF. Assessors judge as the page does, over HTTP with sessions
and CSRF, one request a judgment, each as soon as it has the next item. In each round every one of
them is measured, so that other work on the machine strikes all alike; the medians are compared.
Prints judgments a second, the 95th percentile of the time of a request, their ratios, and the
queries of a judgment.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import socket
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from http.client import HTTPConnection
from pathlib import Path
from typing import Any, NamedTuple
from uuid import uuid4

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

SAMPLE = ROOT.parent / "shared" / "data" / "collection" / "Posts.xml.gz"
ASSESSORS, EACH, UNMEASURED = (
    32,
    14,
    2,
)  # in a round each of 8 judges 56 items, each of 32 judges 14: 448 judgments
CSRF = "b" * 32
PEER = "peer"
BACKEND, PEERS_BACKEND = (
    "arqlab.core.signedin.Backend",
    "django.contrib.auth.backends.ModelBackend",
)


class Measured(NamedTuple):
    """What a round gave: judgments a second, and the times of its requests in milliseconds."""

    rate: float
    times: list[float]


class Place(NamedTuple):
    """Where something is served, and who may come in: the session of each assessor, here and at the
    peer.
    """

    port: int
    database: str
    sessions: list[str]
    peers: list[str]


def main() -> None:
    """Measure, in turns."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument(
        "--posts", type=Path, default=SAMPLE, help="where the real posts are taken from"
    )
    parser.add_argument("--count", metavar="SESSION", help=argparse.SUPPRESS)
    parser.add_argument("--make", type=int, metavar="ITEMS", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.make:
        make_lab(options.make, options.posts)
    elif options.count:
        count_queries(options.count)
    else:
        measure(options.rounds, options.posts)


def measure(count: int, posts: Path) -> None:
    """Judge in turns, and print what it gave."""
    from tests.everywhere import postgresql_server

    with postgresql_server() as server, contextlib.ExitStack() as stack:
        big, small = (stack.enter_context(served(server, items, posts)) for items in (36_000, 500))
        peer = stack.enter_context(served_peer(big))
        rounds: dict[str, list[Measured]] = {}
        for _ in range(count):
            for name, place, clients in (
                ("peer, 8", peer, 8),
                ("36,000 items, 8", big, 8),
                ("500 items, 8", small, 8),
                ("36,000 items, 32", big, 32),
                ("peer, 32", peer, 32),
            ):
                rounds.setdefault(name, []).append(
                    judge_round(place, clients, is_peer=place is peer)
                )
        report(rounds)
        print(f"queries of a judgment: {queries_of_a_judgment(big)} (at most 8), requests: 1")


def report(rounds: dict[str, list[Measured]]) -> None:
    """Print what was measured."""
    rate = {
        name: statistics.median(one.rate for one in measured) for name, measured in rounds.items()
    }
    for name, measured in rounds.items():
        p95 = statistics.median(percentile(one.times, 95) for one in measured)
        print(f"{name:18} {rate[name]:6.0f} judgments/s   p95 {p95:6.1f} ms")
    ratios = [
        big.rate / peer.rate
        for big, peer in zip(rounds["36,000 items, 8"], rounds["peer, 8"], strict=True)
    ]
    sizes = [
        big.rate / small.rate
        for big, small in zip(rounds["36,000 items, 8"], rounds["500 items, 8"], strict=True)
    ]
    print(f"ratio to the peer, 8 assessors      {statistics.median(ratios):.2f}   (at least 0.40)")
    print(f"ratio of 36,000 items to 500 items  {statistics.median(sizes):.2f}   (at least 0.85)")


def percentile(values: list[float], share: int) -> float:
    """Return the value below which a share of the values lies, in percent."""
    return sorted(values)[min(len(values) - 1, len(values) * share // 100)]


# --- the assessors


def judge_round(place: Place, clients: int, *, is_peer: bool) -> Measured:
    """Run the assessors at the same time. The first judgments of each are not measured:
    after the tables were emptied for the round, the database's processes read them anew."""
    if not is_peer:
        execute(place.database, RESET)
    each = ASSESSORS * EACH // clients
    begin = peer_assessor if is_peer else assessor
    ready, times = threading.Barrier(clients + 1), list[float]()

    def work(number: int) -> None:
        judge = begin(place, number)
        for _ in range(UNMEASURED):
            judge()
        ready.wait(60)
        for _ in range(each):
            start = time.perf_counter()
            judge()
            times.append((time.perf_counter() - start) * 1000)

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
    return Measured(len(times) / took, times)


def assessor(place: Place, number: int) -> Callable[[], None]:
    """Take an item, and give a function that judges as the page does: it submits and takes the next
    in one request.
    """
    ask = asking(
        place.port,
        f"/api/labs/bench/tasks/task1/topics/A.{number + 1}/judging/",
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
            raise SystemExit(f"Not stored: {answer}")
        item = answer["next"]

    return judge


def peer_assessor(place: Place, number: int) -> Callable[[], None]:
    """Return a function that does the same at the peer."""
    ask, item = asking(place.port, "/", place.sessions[number]), number * 1000 + 1

    def judge() -> None:
        nonlocal item
        item = ask("POST", "", {"item": item, "label": 2})["item"]

    return judge


def asking(port: int, base: str, session: str) -> Callable[[str, str, Any], Any]:
    """Return a function that asks over one connection, opened anew after the server closed it."""
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
            raise SystemExit(f"{method} {base + path} answers {response.status}: {text[:500]!r}")
        return json.loads(text)

    return ask


# --- what is served

RESET = (
    "DELETE FROM assessment_judgment",
    "UPDATE assessment_poolitem SET done_at = NULL, leased_to_id = NULL, leased_until = NULL"
    " WHERE done_at IS NOT NULL OR leased_until IS NOT NULL",
    "VACUUM ANALYZE assessment_poolitem",
    "VACUUM ANALYZE assessment_judgment",
)


def execute(url: str, commands: tuple[str, ...]) -> None:
    """Run SQL, each command by itself."""
    import psycopg2

    with contextlib.closing(psycopg2.connect(url)) as connection:
        connection.autocommit = True
        for command in commands:
            connection.cursor().execute(command)


@contextlib.contextmanager
def served(server: str, items: int, posts: Path) -> Iterator[Place]:
    """Serve a lab with a pool of so many items on a database of its own."""
    execute(server, (f"CREATE DATABASE bench_{items}",))
    database = f"{server.rpartition('/')[0]}/bench_{items}"
    environment = os.environ | {"DATABASE_URL": database, "ARQLAB_SECRET_KEY": "only here"}
    command = [sys.executable, __file__, "--make", str(items), "--posts", str(posts)]
    made = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    execute(database, ("VACUUM ANALYZE",))
    with gunicorn("arqlab.wsgi:application", environment) as port:
        yield Place(port, database, *json.loads(made.stdout.splitlines()[-1]))


@contextlib.contextmanager
def served_peer(lab: Place) -> Iterator[Place]:
    """Serve the peer on the database of a lab, in tables of its own with the same posts."""
    execute(
        lab.database,
        (
            "CREATE TABLE peer_item AS SELECT row_number() OVER (ORDER BY item.id) AS id, post.body AS text"
            " FROM assessment_poolinstance item JOIN collection_post post ON post.post_id = item.post_id",
            "ALTER TABLE peer_item ADD PRIMARY KEY (id)",
            "CREATE TABLE peer_label (id bigserial PRIMARY KEY, item bigint NOT NULL, label smallint NOT NULL,"
            " assessor bigint NOT NULL)",
            "VACUUM ANALYZE",
        ),
    )
    with gunicorn("benchmarks.judging:peer()", os.environ | {"DATABASE_URL": lab.database}) as port:
        yield Place(port, lab.database, lab.peers, [])


@contextlib.contextmanager
def gunicorn(application: str, environment: dict[str, str]) -> Iterator[int]:
    """Serve an application by 4 workers that do one request at a time, as `manage.py serve
    --workers 4 --threads 1` does.
    """
    from tests.everywhere import free_port, wait_for_port

    port = free_port()
    command = [sys.executable, "-m", "gunicorn", "--workers", "4"]
    command += ["--bind", f"127.0.0.1:{port}", "--log-level", "warning", application]
    process = subprocess.Popen(command, cwd=ROOT, env=environment)
    try:
        wait_for_port(port)
        yield port
    finally:
        process.terminate()
        process.wait(timeout=60)


def peer() -> Any:
    """Return the peer: Django with the middleware that a new project has, and one view for who is
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
            "arqlab.core",
        ],
        MIDDLEWARE=[
            *(f"django.middleware.{name}" for name in middleware),
            *(f"django.contrib.{name}" for name in parts),
        ],
        AUTH_USER_MODEL="core.User",
        AUTHENTICATION_BACKENDS=[PEERS_BACKEND],
        ROOT_URLCONF=__name__,
        ALLOWED_HOSTS=["*"],
        SECRET_KEY="only here",
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
    return get_wsgi_application()


# --- the lab


def make_lab(items: int, posts: Path) -> None:
    """Make a lab with a pool of so many answers and an assessor for each of 32 topics; print their
    sessions.
    """
    os.environ["DJANGO_SETTINGS_MODULE"] = "arqlab.settings"
    import django

    django.setup()
    from django.core.management import call_command

    from arqlab.core.models import Lab, Task, Topic

    call_command("migrate", verbosity=0)
    lab = Lab.objects.create(slug="bench", name="Bench", protocol="arqmath-1")
    task = Task.objects.create(
        lab=lab, slug="task1", name="Answers", kind="answers", trec_items="posts"
    )
    call_command(
        "import_posts", str(posts), "--collection", "bench", "--lab", "bench", stdout=sys.stderr
    )
    topics = [Topic(task=task, query_id=f"A.{number}", position=number) for number in range(1, 101)]
    Topic.objects.bulk_create(topics)
    make_pool(task, topics, items)
    people = [make_assessor(topic) for topic in topics[:ASSESSORS]]
    print(
        json.dumps(
            [
                [session_of(person, backend) for person in people]
                for backend in (BACKEND, PEERS_BACKEND)
            ]
        )
    )


def make_pool(task: Any, topics: list[Any], items: int) -> None:
    """Make a pool of answers of the collection; the formulas of those that will be judged are
    typeset.
    """
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
        for number, (topic, share) in enumerate(shares_of(items, topics))
        for place, post in enumerate(
            (answers[(number * 61 + turn) % len(answers)] for turn in range(share)), start=1
        )
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
    """Sign a person in, and give the key of the session."""
    from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
    from django.contrib.sessions.backends.db import SessionStore

    session = SessionStore()
    session[SESSION_KEY], session[HASH_SESSION_KEY] = str(user.pk), user.get_session_auth_hash()
    session[BACKEND_SESSION_KEY] = backend
    session.create()
    return str(session.session_key)


def shares_of(items: int, topics: list[Any]) -> list[tuple[Any, int]]:
    """Return each topic its share of the items; a pool of few items has few topics, those that are
    judged by 8.
    """
    used = topics if items > 10_000 else topics[:8]
    return [
        (topic, items // len(used) + (place < items % len(used)))
        for place, topic in enumerate(used)
    ]


def typeset_all(posts: list[Any]) -> None:
    """Typeset the formulas of posts and keep them, as the first who sees a post does."""
    from arqlab.core.services.formulas import typeset_formulas
    from arqlab.texts.html.rendering import keys_of, read_text

    typeset_formulas(keys_of(read_text(post.safe_body) for post in posts))


def queries_of_a_judgment(place: Place) -> int:
    """Return the most queries that a judgment took, of 15, as Django counts them, in a process of
    its own.
    """
    environment = os.environ | {"DATABASE_URL": place.database, "ARQLAB_SECRET_KEY": "only here"}
    command = [sys.executable, __file__, "--count", place.sessions[0]]
    counted = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    return int(counted.stdout.splitlines()[-1])


def count_queries(session: str) -> None:
    """Judge as `assessor` does, and print the most queries of a judgment."""
    os.environ["DJANGO_SETTINGS_MODULE"] = "arqlab.settings"
    import django

    django.setup()
    from django.conf import settings
    from django.db import connection
    from django.test import Client
    from django.test.utils import CaptureQueriesContext

    settings.ALLOWED_HOSTS = ["*"]
    client, counts = Client(), []
    client.cookies["sessionid"] = session
    base = "/api/labs/bench/tasks/task1/topics/A.1/judging/"
    item = client.get(f"{base}next/").json()["item"]
    for _ in range(15):
        label = {"instance": item["instances"][0]["instance"], "label": 2, "key": str(uuid4())}
        body = {"item": item["item"], "lease": item["lease"], "judgments": [label]}
        with CaptureQueriesContext(
            connection,
        ) as queries:
            item = client.post(f"{base}judgments/", body, content_type="application/json").json()[
                "next"
            ]
        asked = [
            query["sql"] for query in queries if not query["sql"].startswith(("BEGIN", "COMMIT"))
        ]
        counts.append(len(asked))
    if os.environ.get("SHOW"):
        print("\n\n".join(asked), file=sys.stderr)
    print(max(counts))


if __name__ == "__main__":
    main()
