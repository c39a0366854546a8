"""The log names the request of each line, also in the task that the request woke."""

import gzip
import io
import json
import logging
import os
import queue
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from multiprocessing import Pipe
from typing import Any

import brotli
import pytest
from django.test import Client
from structlog.contextvars import bound_contextvars

from arqlab import celery, schedule
from arqlab.celery import app, send_to_background, wake_after_commit
from arqlab.environment import log_formatter
from tests.paths import ROOT

UNPACKED = {"gzip": gzip.decompress, "br": brotli.decompress}
logger = logging.getLogger("arqlab.tests")


@app.task(name="tests.speak")
def speak(word: str) -> None:
    """Log a word; an empty one is an error."""
    logger.warning("The task says %s.", word)
    if not word:
        raise ValueError("no word")


@pytest.fixture
def background(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Yield the end at which a background process receives messages."""
    monkeypatch.setattr(celery, "_background", None)
    received, sent = Pipe(duplex=False)
    send_to_background(sent)
    yield received
    sent.close()


def test_a_response_names_its_request_as_the_proxy_did(db: None) -> None:
    answer = Client(headers={"x-request-id": "proxy-17.a"}).get("/nothing/")

    assert answer["X-Request-ID"] == "proxy-17.a"


@pytest.mark.parametrize("sent", [None, "", "a b", "ä", "x" * 65, "a\r\nb"])
def test_a_request_without_a_usable_name_gets_one(db: None, sent: str | None) -> None:
    headers = {} if sent is None else {"x-request-id": sent}

    names = {Client(headers=headers).get("/health/live")["X-Request-ID"] for _ in range(2)}

    assert len(names) == 2
    assert all(re.fullmatch("[0-9a-f]{32}", name) for name in names)


def test_a_line_of_the_log_names_its_request(db: None, log: io.StringIO) -> None:
    Client(headers={"x-request-id": "abc"}).get("/nothing/")
    logger.warning("Later.")

    first, second = log.getvalue().splitlines()
    assert re.fullmatch(
        r"20\S+ \S+ \[warning\] Not Found: /nothing/ \[django.request\] request_id=abc", first
    )
    assert second.endswith("[warning] Later. [arqlab.tests]")


def test_a_line_of_json_has_the_same_facts_and_the_traceback() -> None:
    handler = logging.StreamHandler(io.StringIO())
    options = log_formatter(as_json=True)
    handler.setFormatter(options.pop("()")(**options))
    with bound_contextvars(request_id="abc"):
        try:
            raise ValueError("two\nlines")
        except ValueError:
            record = logging.makeLogRecord(
                {"name": "x", "levelname": "ERROR", "msg": "Failed %s", "args": ("so",)}
            )
            record.exc_info = sys.exc_info()
            handler.emit(record)

    [line] = handler.stream.getvalue().splitlines()
    found = json.loads(line)
    assert (found["event"], found["level"], found["logger"]) == ("Failed so", "error", "x")
    assert (found["request_id"], found["timestamp"][:2]) == ("abc", "20")
    assert "ValueError: two" in found["exception"]


def test_the_background_process_names_the_request_that_woke_it(
    background: Any, log: io.StringIO, django_capture_on_commit_callbacks: Any, db: None
) -> None:
    with bound_contextvars(request_id="abc"), django_capture_on_commit_callbacks(execute=True):
        wake_after_commit(speak, word="hello")

    schedule._run(*background.recv())
    logger.warning("Afterwards.")

    spoken, after = log.getvalue().splitlines()
    assert "The task says hello. " in spoken
    assert "request_id=abc" in spoken
    assert "task=tests.speak" in spoken
    assert "=" not in after


def test_a_task_that_fails_is_logged_with_the_request_that_woke_it(
    db: None, log: io.StringIO
) -> None:
    schedule._run("tests.speak", ("",), {"request_id": "abc"})

    [line] = [line for line in log.getvalue().splitlines() if "tests.speak failed" in line]
    assert line.endswith("request_id=abc")


def test_the_page_of_our_mistake_names_its_request(
    db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("desk.views.labs.labs_visible_to", None)
    answer = Client(raise_request_exception=False).get("/labs/")

    assert answer.status_code == 500
    assert f"<code>{answer['X-Request-ID']}</code>" in answer.content.decode()


@pytest.mark.servers
def test_a_worker_names_the_request_that_woke_it(tmp_path: Any) -> None:
    own = {
        "REDIS_URL": os.environ["ARQLAB_TEST_REDIS_URL"],
        "ARQLAB_DATA": str(tmp_path),
        "DJANGO_SETTINGS_MODULE": "arqlab.settings",
        "ARQLAB_LOG_JSON": "1",
    }
    words = f"--app arqlab.celery worker --pool solo --queues names --include {__name__}"
    command = [sys.executable, "-m", "celery", *words.split()]
    speak_there = (
        "import tests.core.test_log_context as here\n"
        "here.speak.apply_async(['hello'], queue='names', headers={'request_id': 'abc'})"
    )
    environment = os.environ | own
    subprocess.run([sys.executable, "-c", speak_there], env=environment, cwd=ROOT, check=True)
    worker = subprocess.Popen(
        command, env=environment, cwd=ROOT, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL
    )
    try:
        assert worker.stderr
        line = next(line for line in worker.stderr if b"The task says" in line)
    finally:
        worker.terminate()
        worker.communicate()
    facts = json.loads(line)
    assert (facts["request_id"], facts["task"]) == ("abc", "tests.speak")


def test_sentry_gets_an_error_with_its_request_and_no_values() -> None:
    bodies: queue.SimpleQueue[bytes] = queue.SimpleQueue()

    class Sentry(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            bodies.put(UNPACKED[self.headers["Content-Encoding"]](body))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None: ...

    steps = (
        "import django, logging\n"
        "django.setup()\n"
        "from structlog.contextvars import bound_contextvars\n"
        "with bound_contextvars(request_id='abc'):\n"
        "    password = 'a quiet ' + 'blackboard'\n"
        "    try:\n"
        "        1 / 0\n"
        "    except ZeroDivisionError:\n"
        "        logging.getLogger('arqlab').exception('It failed.')\n"
    )
    with HTTPServer(("127.0.0.1", 0), Sentry) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        dsn = f"http://key@127.0.0.1:{server.server_port}/1"
        own = {"ARQLAB_SENTRY_DSN": dsn, "DJANGO_SETTINGS_MODULE": "arqlab.settings"}
        subprocess.run([sys.executable, "-c", steps], env=os.environ | own, cwd=ROOT, check=True)
        server.shutdown()

    sent = b"".join(iter_of(bodies)).decode()
    assert "ZeroDivisionError" in sent
    assert '"request_id":"abc"' in sent
    assert "a quiet blackboard" not in sent


def iter_of(bodies: queue.SimpleQueue[bytes]) -> Iterator[bytes]:
    while not bodies.empty():
        yield bodies.get()
