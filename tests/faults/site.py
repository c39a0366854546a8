"""A site with all its processes, embedded or on PostgreSQL and Redis, and the faults it must stand.

Each fault is a context: within it a part is broken.
"""

import contextlib
import json
import os
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psutil
import psycopg2
import redis
from celery import Celery

from tests.everywhere import postgresql_binaries, wait_for_line
from tests.faults.judging import Served
from tests.paths import ROOT
from tests.served import start_on

LONGEST = 300
"""Seconds to wait for a label, and in which every uploaded run is checked in the end."""
TEAM = """
from datetime import UTC, datetime
from arqlab.core.models import *
from arqlab.accounts.services.tokens import create_token
lab = Lab.objects.get()
user = User.objects.create_user("member")
team = Team.objects.create(lab=lab, name="Alpha")
Membership.objects.create(lab=lab, user=user, role="member", team=team)
at = datetime.now(UTC)
print(create_token(user=user, name="uploads", scope="write", days=1, at=at))
"""
# By run: its state, and whether its file is as it was sent.
RUNS = """
import json
from hashlib import sha256
from submissions.models import Run
print(json.dumps({
    run.pk: [run.status, sha256(run.upload.file.open().read()).hexdigest()]
    for run in Run.objects.select_related("upload")
}))
"""


Fault = Callable[["Site"], contextlib.AbstractContextManager[None]]


class Site(Served):
    """The web process, and what does background work; `server` and `queue` name PostgreSQL and
    Redis, or are empty for the embedded mode.
    """

    def __init__(self, folder: Path, server: str, queue: str, *, items: int) -> None:
        super().__init__(folder, server or None, items=items)
        self.queue = queue
        # What a killed worker had begun is free again after a minute, not after five.
        self.environment |= {"ARQLAB_CLAIM_SECONDS": "60"}
        if queue:
            self.environment |= {"REDIS_URL": queue}
        else:
            self.environment.pop("REDIS_URL")
        self.running: dict[str, subprocess.Popen[Any]] = {}
        self.words: dict[str, list[str]] = {}

    def make_lab(self, items: int) -> list[tuple[str, str]]:
        """Make the lab, with a team that can upload."""
        seats = super().make_lab(items)
        self.token = self.shell(TEAM)
        return seats

    def upload(self, token: str, name: str, content: bytes, *, check_only: bool) -> Any:
        """Return the JSON of the runs; raises `ConnectionError` for 503, and for a full disk."""
        head = f'--b\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n\r\n'
        more = '\r\n--b\r\nContent-Disposition: form-data; name="check_only"\r\n\r\n'
        headers = {"Authorization": f"Bearer {token}"}
        headers["Content-Type"] = "multipart/form-data; boundary=b"
        connection = HTTPConnection("127.0.0.1", self.port, timeout=60)
        with contextlib.closing(connection):
            body = b"".join([head.encode(), content, f"{more}{check_only}\r\n--b--".encode()])
            connection.request("POST", f"{self.api}runs/", body, headers)
            response = connection.getresponse()
            text = response.read()
        if response.status in (503, 507):
            raise ConnectionError(text.decode())
        assert response.status == 202, text
        return json.loads(text)

    def until(self, query: str, *, has_rows: bool) -> None:
        """Wait until a query has rows, or none, but not longer than `LONGEST`."""
        end = time.monotonic() + LONGEST
        while bool(self.rows(query)) != has_rows and time.monotonic() < end:
            time.sleep(0.2)

    def start(self) -> None:
        """Start every process that does not run."""
        self.start_web()
        if self.queue:
            worker = ["worker", "--concurrency", "2", "--without-gossip", "--without-mingle"]
            beat = ["beat", "--schedule", str(Path(self.environment["ARQLAB_DATA"]) / "beat")]
            for words in (worker, beat):
                self.start_celery(words)

    def start_web(self) -> None:
        """Serve, and wait for the first answer."""
        options = ["--bind", "{bind}", "--threads", "8"]
        command = [sys.executable, "manage.py", "serve", *options]
        self.process = start_on(
            self.listening, command, env=self.environment, start_new_session=True
        )
        urllib.request.urlopen(f"http://127.0.0.1:{self.port}/health/live", timeout=300).close()

    def start_celery(self, words: list[str]) -> None:
        """Start a worker or beat, as compose does."""
        command = [sys.executable, "-m", "celery", "--app", "arqlab.celery", *words]
        command += ["--loglevel", "critical"]
        self.running[words[0]] = subprocess.Popen(
            command, cwd=ROOT, env=self.environment, start_new_session=True
        )
        self.words[words[0]] = words

    def kill_one(self, name: str) -> None:
        """Kill a worker with its children, beat, or a Redis that a fault started."""
        process = self.running.pop(name)
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()

    def stop(self) -> None:
        """Kill what runs."""
        for name in list(self.running):
            self.kill_one(name)
        if self.process.poll() is None:
            self.kill()
        self.listening.close()


@contextlib.contextmanager
def web_killed(site: Site) -> Iterator[None]:
    """All processes of the web server are killed, as by a power cut."""
    site.kill()
    yield
    site.start_web()


@contextlib.contextmanager
def background_killed(site: Site) -> Iterator[None]:
    """The process of the scheduled tasks is killed; the server starts another."""
    for child in psutil.Process(site.process.pid).children():
        if "spawn_main" in " ".join(child.cmdline()) and child.nice() > 0:
            child.kill()
    yield


def celery_killed(name: str) -> Fault:
    """Return the fault that the worker or beat is killed."""

    @contextlib.contextmanager
    def fault(site: Site) -> Iterator[None]:
        words = site.words[name]
        site.kill_one(name)
        yield
        site.start_celery(words)

    return fault


def redis_process(site: Site) -> psutil.Process:
    """Return the process of Redis."""
    return psutil.Process(int(redis.from_url(site.queue).info("server")["process_id"]))


@contextlib.contextmanager
def redis_killed(site: Site) -> Iterator[None]:
    """Redis is killed, and what it held is lost."""
    process, port = redis_process(site), urlsplit(site.queue).port
    process.kill()
    process.wait()
    yield
    site.running["redis"] = subprocess.Popen(
        ["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--save", ""],
        cwd=site.environment["ARQLAB_DATA"],
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    wait_for_line(site.running["redis"].stdout, "Ready to accept connections")


@contextlib.contextmanager
def redis_hung(site: Site) -> Iterator[None]:
    """Redis takes connections and answers nothing."""
    process = redis_process(site)
    process.suspend()
    yield
    process.resume()


@contextlib.contextmanager
def messages_lost(site: Site) -> Iterator[None]:
    """Redis forgets all messages."""
    redis.from_url(site.queue).flushall()
    yield


@contextlib.contextmanager
def messages_twice(site: Site) -> Iterator[None]:
    """A worker is asked twice more to check each run."""
    app = Celery(broker=site.queue)
    for run in site.rows("SELECT id FROM submissions_run"):
        for _ in range(2):
            app.send_task("submissions.tasks.validate_run", run)
    yield


@contextlib.contextmanager
def postgresql_killed(site: Site) -> Iterator[None]:
    """PostgreSQL ends at once, as by a crash, and starts again."""
    url = site.environment["DATABASE_URL"]
    with contextlib.closing(psycopg2.connect(url)) as connection:
        cursor = connection.cursor()
        cursor.execute("SHOW data_directory")
        [folder] = cursor.fetchone()
    user = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
    binaries = postgresql_binaries()
    control = [*user, str(binaries / "pg_ctl"), "-D", folder, "-w", "-s"]
    options = shlex.split((Path(folder) / "postmaster.opts").read_text())[3:]
    subprocess.run([*control, "-m", "immediate", "stop"], check=True, cwd="/")
    yield
    log = str(Path(folder).parent / "log")
    subprocess.run([*control, "-o", shlex.join(options), "-l", log, "start"], check=True, cwd="/")


@contextlib.contextmanager
def slow_clients(site: Site) -> Iterator[None]:
    """Others send half of a header, or a form at no speed, over 80 connections."""
    halves = (
        b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ",
        b"POST /accounts/login/ HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 1000\r\n\r\na",
    )
    with contextlib.ExitStack() as stack:
        for number in range(80):
            client = socket.create_connection(("127.0.0.1", site.port))
            stack.enter_context(client).sendall(halves[number % 2])
        yield


@contextlib.contextmanager
def disk_at(folder: Path, size: str) -> Iterator[bool]:
    """Mount a disk in memory; yield whether there is one, which only root can make."""
    folder.mkdir(parents=True, exist_ok=True)
    mount = ["mount", "-t", "tmpfs", "-o", f"size={size},mode=700", "arqlab-test", str(folder)]
    is_there = subprocess.run(mount, capture_output=True, check=False).returncode == 0
    try:
        yield is_there
    finally:
        if is_there:
            subprocess.run(["umount", "--lazy", str(folder)], check=True)


def disk_full(kind: str) -> Fault:
    """Return the fault that the disk of a folder of files (`disk_at`) has no room left."""

    @contextlib.contextmanager
    def fault(site: Site) -> Iterator[None]:
        disk = Path(site.environment["ARQLAB_DATA"]) / "files" / kind

        def resized(size: int) -> bool:
            words = ["mount", "-o", f"remount,size={size}", str(disk)]
            return subprocess.run(words, capture_output=True, check=False).returncode == 0

        # Refused if a file was written in between. One page is left if there are no files yet.
        while not resized(max(shutil.disk_usage(disk).used, 4096)):
            pass
        yield
        assert resized(2**30)

    return fault


EMBEDDED: dict[str, Fault] = {
    "web process killed": web_killed,
    "background process killed": background_killed,
    "80 slow clients": slow_clients,
    "disk of uploads full": disk_full("uploads"),
    "disk of indexes full": disk_full("indexes"),
}
LARGE: dict[str, Fault] = {
    "web processes killed": web_killed,
    "worker killed": celery_killed("worker"),
    "beat killed": celery_killed("beat"),
    "Redis killed": redis_killed,
    "Redis hangs": redis_hung,
    "messages lost": messages_lost,
    "messages delivered twice": messages_twice,
    "PostgreSQL killed": postgresql_killed,
    "80 slow clients": slow_clients,
    "disk of uploads full": disk_full("uploads"),
    "disk of indexes full": disk_full("indexes"),
}
