"""The services of docker-compose.yml on machines that share no disk: a lab year through the proxy,
then everything is destroyed and restored."""

import os
import re
import shutil
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from hashlib import sha256
from pathlib import Path
from typing import Any

import boto3
import pytest
from django.db import connection
from playwright.sync_api import Page

from arqlab.core.files import kept
from tests.browser.lab_browser import LabBrowser
from tests.browser.test_lab_year import hold_the_year, read_as_a_visitor
from tests.buckets import bucket_server
from tests.everywhere import free_port
from tests.factories import PASSWORD
from tests.paths import ROOT
from tests.served import environment
from tests.served_lab import TOKEN
from tests.test_compose import COMPOSE, EXAMPLE, of_this_machine, started
from tests.test_deploy import CADDYFILE, running_caddy

pytestmark = [pytest.mark.browser, pytest.mark.servers, pytest.mark.django_db(transaction=True)]

SERVICES = ("web", "web", "worker", "worker", "jobs", "beat")
CHANGES_BY_ITSELF = {"core_attempts"}
"""Counts, among them the time of the last backup, which is no part of it."""


class Site:
    """The services with a machine each, and the proxy; PostgreSQL and Redis are the tests'."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.running = folder, ExitStack()
        self.processes: list[subprocess.Popen[Any]] = []
        self.ports: list[int] = []
        port = free_port()
        self.url = f"https://localhost:{port}"
        servers = of_this_machine(folder, environment(folder)["DATABASE_URL"])
        own = {
            "DJANGO_SETTINGS_MODULE": "arqlab.settings",
            "REDIS_URL": servers["REDIS_URL"].replace("/0", "/3"),
            "ARQLAB_SECRET_KEY": os.environ["ARQLAB_SECRET_KEY"],
            "ARQLAB_HOSTS": "localhost,127.0.0.1",
            "ARQLAB_ORIGINS": self.url,
            "ARQLAB_SECOND_FACTOR": "0",
            "ARQLAB_METRICS_TOKEN": TOKEN,
            "EMAIL_URL": "",
        }
        self.environment = os.environ | EXAMPLE | servers | own
        self.caddyfile = CADDYFILE.replace(
            "admin off", f"admin off\n\thttp_port {free_port()}\n\tskip_install_trust"
        )

    def start(self, *services: str) -> None:
        """Start services as compose does, those with a health check until it passes, and the proxy
        before them."""
        self.ports = []
        for number, name in enumerate(services):
            machine = self.folder / f"{name}-{number}"
            machine.mkdir(exist_ok=True)
            own = self.environment | {"ARQLAB_DATA": str(machine)}
            log = self.running.enter_context((machine / "log").open("wb"))
            process, port = self.running.enter_context(started(name, own, stderr=log))
            self.processes.append(process)
            if name == "web":
                self.ports.append(port)
        for port in self.ports:
            _, _, *check = COMPOSE["services"]["web"]["healthcheck"]["test"]
            words = [each.replace("127.0.0.1:8000", f"127.0.0.1:{port}") for each in check]
            subprocess.run([sys.executable, *words], check=True)
        variables = {
            "ARQLAB_HOSTS": self.url,
            "ARQLAB_WEB": " ".join(f"127.0.0.1:{port}" for port in self.ports),
        }
        self.running.enter_context(running_caddy(self.folder, self.caddyfile, variables))

    def stop(self) -> None:
        """End all services at once, and the proxy."""
        for process in self.processes:
            process.terminate()
        self.running.close()
        self.processes.clear()

    def manage(self, *words: str) -> None:
        """Run a command on a machine of its own."""
        machine = self.folder / "commands"
        machine.mkdir(exist_ok=True)
        own = self.environment | {
            "ARQLAB_DATA": str(machine),
            "DJANGO_SUPERUSER_PASSWORD": PASSWORD,
        }
        subprocess.run(
            [sys.executable, "manage.py", *words], cwd=ROOT, env=self.environment | own, check=True
        )

    def homes(self, port: int) -> float:
        """Return how often a web service has shown the home page, from its metrics."""
        request = urllib.request.Request(f"http://127.0.0.1:{port}/metrics")
        request.add_header("Authorization", f"Bearer {TOKEN}")
        request.add_header("X-Forwarded-Proto", "https")
        with urllib.request.urlopen(request) as answer:
            pattern = r'arqlab_request_seconds_count{status="2..",view="desk:home"} (.*)'
            [count] = re.findall(pattern, answer.read().decode())
            return float(count)


@pytest.fixture(autouse=True)
def served(transactional_db: None, tmp_path: Path, settings: Any) -> Iterator[Site]:
    """The site in place of the server of other browser tests; this process shares its storage."""
    if not shutil.which("caddy"):
        pytest.skip("caddy not found. Install it: apt-get install caddy")
    with bucket_server() as variables:
        settings.S3_BUCKET = variables["ARQLAB_S3_BUCKET"]
        backend = {"BACKEND": "arqlab.core.buckets.BucketStorage"}
        settings.STORAGES = settings.STORAGES | {"default": backend}
        site = Site(tmp_path)
        try:
            yield site
        finally:
            site.stop()


class Visited(LabBrowser):
    """A browser at a site with workers, which do by themselves what a test without them does."""

    def scheduled(self, work: Callable[[], object]) -> None:
        """Leave it to the schedule."""


def contents() -> tuple[dict[str, list[str]], dict[str, str]]:
    """Return all rows and the digests of all files."""
    rows = {}
    with connection.cursor() as cursor:
        for table in {*connection.introspection.table_names(cursor)} - CHANGES_BY_ITSELF:
            cursor.execute(f'SELECT * FROM "{table}"')
            rows[table] = sorted(map(repr, cursor.fetchall()))
    files = {}
    for name in kept.names():
        with kept.open(name) as file:
            files[name] = sha256(file.read()).hexdigest()
    return rows, files


def destroy(site: Site) -> None:
    """Delete all tables and all files."""
    with connection.cursor() as cursor:
        cursor.execute("DROP SCHEMA public CASCADE; CREATE SCHEMA public")
    connection.close()
    boto3.resource("s3").Bucket(site.environment["ARQLAB_S3_BUCKET"]).objects.delete()


def test_a_lab_year_on_machines_without_a_common_disk_is_backed_up_and_restored(
    page: Page, served: Site
) -> None:
    person = ("--username", "organizer", "--email", "organizer@example.org")
    served.start(*SERVICES)
    served.manage("createsuperuser", "--no-input", *person)
    it = Visited(page, lambda name: None)
    hold_the_year(it)
    for port in served.ports:  # the proxy asks both, and each knows what its processes did
        [count] = {served.homes(port) for _ in range(8)}
        assert count > 0

    served.stop()
    [backup] = re.findall("manage.py ([^;]+);", COMPOSE["services"]["backup"]["command"])
    served.manage(*backup.replace("/backups", str(served.folder / "backups")).split())
    rows, files = contents()
    destroy(served)
    shutil.rmtree(served.folder / "commands")
    [archive] = (served.folder / "backups").iterdir()
    served.manage("restore", str(archive))

    assert rows["evaluation_leaderboard"]
    assert contents() == (rows, files)
    assert {name.partition("/")[0] for name in files} >= {"uploads", "indexes", "loads"}
    served.start("web")
    read_as_a_visitor(it)
