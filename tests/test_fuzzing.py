"""No request is a server error: hostile forms, links, bodies and headers of every page and role.

Each run sends the same few requests. `ARQLAB_FUZZ=10` sends others, for ten minutes, and prints the
seed by which `ARQLAB_FUZZ_SEED` sends them again.
"""

import json
import logging
import os
import re
import sys
import traceback
from collections import Counter
from collections.abc import Iterator
from random import Random, randrange
from time import monotonic, process_time
from typing import Any

import pytest
import schemathesis.checks
from django.core.cache import caches
from django.core.signals import request_finished, request_started
from django.db import close_old_connections, transaction
from django.test import Client, TestCase
from django.urls import get_resolver, reverse
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode
from schemathesis.config import SchemathesisConfig
from schemathesis.specs.openapi.checks import negative_data_rejection, positive_data_acceptance

from arqlab.wsgi import application
from tests.hostile import (
    JSON,
    NO_HTTP,
    Request,
    Sent,
    asked_parameters,
    broken,
    connected,
    hostile,
    hostile_json,
    offered,
    status_of,
    too_much,
)
from tests.paths import ROOT
from tests.served import listening
from tests.test_access import ROLES, Filled, address, body, filled, named_views, rows
from tests.test_serve import environment_of

__all__ = ["filled"]
MINUTES = float(os.environ.get("ARQLAB_FUZZ", "0"))
SEED = int(os.environ.get("ARQLAB_FUZZ_SEED", "0")) or (randrange(1, 10**6) if MINUTES else 32)
OTHERS = ("/health/live", "/metrics", "/static/none.js", "/admin/core/user/", "/x/")


class Fuzzer:
    """Sends requests of every role and keeps those that failed, by the place that failed."""

    def __init__(self, filled: Filled, chance: Random) -> None:
        self.filled, self.chance = filled, chance
        self.cookies = {
            role: "; ".join(f"{name}={each.value}" for name, each in cookies.items())
            for role, cookies in filled.cookies.items()
        }
        views = sorted(named_views(get_resolver().url_patterns))
        self.paths = {path: path for path in OTHERS}
        self.paths |= {name: address(name, filled.public, filled.run.pk) for name, _ in views}
        self.asked = {name: ["q"] for name in OTHERS}
        self.asked |= {name: asked_parameters(view) for name, view in views}
        self.entering = dict.fromkeys(self.paths, ROLES)
        self.entering |= {name: roles for _, name, roles in rows() if roles}
        self.counts: Counter[int] = Counter()
        self.failures: dict[str, Any] = {}
        self.pages: dict[tuple[str, str], bytes] = {}
        self.slowest: list[tuple[float, str]] = []

    def ask(self, role: str, request: Request) -> Any:
        """Return the answer with its whole text, after what it wrote is undone."""
        client, headers = Client(raise_request_exception=False), dict(request.headers)
        headers["Cookie"] = "; ".join(filter(None, (self.cookies[role], headers.get("Cookie"))))
        sent, started = {"content_type": request.content_type, "headers": headers}, process_time()
        with transaction.atomic():
            with TestCase.captureOnCommitCallbacks(execute=MINUTES > 0):
                answer = client.generic(request.method, request.path, request.body, **sent)
                answer.text_ = answer.getvalue()
            transaction.set_rollback(True)
        took = process_time() - started, f"{role}: {request}"[:600]
        self.slowest = sorted([*self.slowest, took], reverse=True)[:10]
        self.counts[answer.status_code] += 1
        if request.method not in ("GET", "HEAD"):  # another row will have the number of one undone
            for name in ("computed", "default"):
                caches[name].clear()
        is_told_to_wait = answer.status_code == 503 and "Sec-Purpose" in headers
        if answer.status_code >= 500 and not is_told_to_wait:
            self.failures.setdefault(place_of(answer), f"{answer.status_code} for {took[1]}")
        return answer

    def fill_each(self) -> None:
        """Send every form and the parameters of every address once, all with too much in them."""
        done = set()
        for name, path in self.paths.items():
            role, asked = self.entering[name][-1], dict.fromkeys((*self.asked[name], "next"), "")
            for sent in self.offered(role, path, Sent("GET", path, [*asked.items()])):
                kind = (
                    sent.method,
                    re.sub(r"\d+", "", sent.path),
                    *(field for field, _ in sent.pairs),
                )
                if kind not in done:
                    done.add(kind)
                    self.ask(role, too_much(self.chance, sent))

    def change_some(self) -> None:
        """Open pages of all addresses, and change what they offer."""
        chance, filled, end = self.chance, self.filled, monotonic() + 60 * MINUTES
        while monotonic() < end or (not MINUTES and self.counts.total() < 300):
            name, path = chance.choice(list(self.paths.items()))
            role = chance.choice(self.entering[name] if chance.random() < 0.9 else ROLES)
            seeds = self.offered(role, path, Sent("GET", path, []))
            for sent in chance.choices(seeds, k=5 if self.page(role, path) else 1):
                self.ask(role, hostile(chance, sent, self.asked[name]))
            item = filled.round_item if ":round-" in name else filled.item
            data = body(name, filled.public, item).get("data")
            if isinstance(data, dict) and "api-judging" in name:
                text = json.dumps(hostile_json(chance, data)).encode()
                self.ask("assessor", Request("POST", path, text, JSON))

    def offered(self, role: str, path: str, reads: Sent) -> list[Sent]:
        """Return how a role reads a path, and what the page there offers to send."""
        page = self.page(role, path)
        return [reads, *(offered(self.chance, page, path) if page else [Sent("POST", path, [])])]

    def page(self, role: str, path: str) -> bytes:
        """Return the page at a path, or nothing if the role gets none. It stays as it is."""
        if (role, path) not in self.pages:
            answer = self.ask(role, Request("GET", path))
            is_page = answer.status_code == 200 and answer["Content-Type"].startswith("text/html")
            self.pages[role, path] = answer.text_ if is_page else b""
        return self.pages[role, path]


def place_of(answer: Any) -> str:
    """Return the error of an answer, and the last lines of our own that it passed."""
    _, error, trace = answer.exc_info or (None, None, None)
    ours = [
        f"{frame.filename.removeprefix(str(ROOT))}:{frame.lineno}"
        for frame in traceback.extract_tb(trace)
        if str(ROOT) in frame.filename and ".venv" not in frame.filename
    ]
    return f"{error!r:.200} in {' '.join(ours[-2:])}"


@pytest.fixture
def unlogged() -> Iterator[None]:
    """Log nothing: the log of all requests would fill the memory."""
    logging.disable()
    yield
    logging.disable(logging.NOTSET)


@pytest.mark.parametrize("go", [Fuzzer.fill_each, Fuzzer.change_some])
def test_no_hostile_request_is_a_server_error(go, filled, unlogged, db):
    fuzzer = Fuzzer(filled, Random(SEED))
    go(fuzzer)
    if MINUTES:
        print(SEED, fuzzer.counts, *fuzzer.slowest, sep="\n")  # noqa: T201

    assert not fuzzer.failures, "\n".join(map(": ".join, fuzzer.failures.items()))


FILTERS = {"topic", "team", "state", "standing", "q"}
"""Parameters of lists that refuse values which none of their rows can have."""


@pytest.fixture
def described(filled, db) -> Iterator[schemathesis.schemas.BaseSchema]:
    """The API by its own description. Its requests leave the connection of the test open."""
    signals = request_started, request_finished
    for signal in signals:
        signal.disconnect(close_old_connections)
    # A null character is refused with 400 at every address; the schema does not repeat it.
    rules = SchemathesisConfig.from_dict({"generation": {"allow-x00": False}})
    yield schemathesis.openapi.from_wsgi(reverse("server:api-schema"), application, config=rules)
    for signal in signals:
        signal.connect(close_old_connections)


def test_the_api_answers_as_its_schema_says(described, filled, db):
    sessions = {role: {n: e.value for n, e in filled.cookies[role].items()} for role in ROLES}
    there = {"lab": "arqmath-x", "task": "task1", "query_id": "A.1", "round": "training-1"}
    there |= {"run": filled.run.pk, "item": filled.item["item"], "name": "topics.xml"}
    there |= {"number": 1, "version": 1}
    statuses = Counter[int]()

    @settings(
        max_examples=int(30 * MINUTES) or 3,
        derandomize=not MINUTES,
        suppress_health_check=list(HealthCheck),
    )
    @given(data=st.data(), role=st.sampled_from(ROLES), is_there=st.booleans())
    def ask(cases, data, role, is_there):
        case = data.draw(cases)
        if is_there:
            case.path_parameters = {name: there[name] for name in case.path_parameters}
        lenient = [negative_data_rejection] if case.method == "GET" else []  # such as `?page=`
        if FILTERS & {*(case.query or {})}:  # whose values a lab has, and the schema does not
            lenient.append(positive_data_acceptance)
        with transaction.atomic():
            answer = case.call_and_validate(
                cookies=sessions[role],
                headers={"Accept-Encoding": "identity"},
                excluded_checks=lenient,
            )
            transaction.set_rollback(True)
        statuses[answer.status_code] += 1

    for operation in (found.ok() for found in described.get_all_operations()):
        ask(operation.as_strategy(generation_mode=GenerationMode.POSITIVE))
        if operation.query or operation.body:
            ask(operation.as_strategy(generation_mode=GenerationMode.NEGATIVE))
    if MINUTES:
        print(statuses)  # noqa: T201


def test_the_server_stands_what_is_no_http(tmp_path):
    chance, statuses = Random(SEED), Counter()
    command = [sys.executable, "manage.py", "serve", "--bind", "{bind}", "--threads", "2"]
    with (tmp_path / "log").open("w+") as log:
        server, port = listening(command, env=environment_of(tmp_path), stderr=log)
        try:
            for _ in range(int(20 * MINUTES) or 2):
                sent = [*NO_HTTP, *(broken(chance) for _ in NO_HTTP)]
                clients = [connected(port, raw) for raw in sent]
                assert status_of(connected(port, NO_HTTP[0])) == "200"
                for client in clients:
                    client.setblocking(False)
                    statuses[status_of(client)] += 1
        finally:
            server.terminate()
            server.wait()
        log.seek(0)
        lines = log.read().splitlines()
    if MINUTES:
        print(SEED, statuses)  # noqa: T201
    assert not [status for status in statuses if status.startswith("5")]
    assert [
        line for line in lines if not re.match(r"\d{4}-.{14} \[(info|warning|error)\] ", line)
    ] == []
    assert server.returncode == 0
