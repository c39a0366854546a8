"""The files of deploy/ run the commands of docker-compose.yml, and the proxy keeps its limits."""

import json
import os
import re
import shutil
import subprocess
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.urls import get_resolver, reverse

from arqlab.core.selectors import largest_request
from arqlab.web.pages import Page
from tests.everywhere import free_port, wait_for_port
from tests.paths import ROOT
from tests.test_access import named_views, parameters_of

DEPLOY = ROOT / "deploy"
CADDYFILE = (DEPLOY / "Caddyfile").read_text(encoding="utf-8")
LIMIT = "max_size 1100MB"
ITEMS = yaml.safe_load((DEPLOY / "kubernetes/arqlab.yaml").read_text(encoding="utf-8"))["items"]
PODS = {
    item["metadata"]["name"]: item["spec"]["template"]["spec"]
    for item in ITEMS
    if item["kind"] == "Deployment"
}
[CRON_JOB] = [item["spec"] for item in ITEMS if item["kind"] == "CronJob"]
PODS["arqlab-backup"] = CRON_JOB["jobTemplate"]["spec"]["template"]["spec"]
COMPOSE = yaml.safe_load((ROOT / "docker-compose.yml").read_text(encoding="utf-8"))["services"]
"""What each part of a server runs is decided there."""
PARTS = ("web", "worker", "short-jobs", "jobs", "beat", "backup")


def words(command: str | list[str]) -> list[str]:
    """Return a command without the folder of its program and the host that it binds to.

    Compose, which has no timer, repeats the backup in a loop.
    """
    if isinstance(command, str):
        command = re.sub("^.*do (.*?);.*$", r"\1", command).replace("/var/lib/arqlab-", "/").split()
    parts = command
    return [
        parts[0].rpartition("/")[2],
        *(re.sub(r"^[\d.]+:8000$", "", part) for part in parts[1:]),
    ]


@pytest.mark.parametrize("part", PARTS)
def test_kubernetes_and_systemd_run_the_commands_of_compose(part):
    [container] = PODS[f"arqlab-{part}"]["containers"]
    unit = (DEPLOY / f"systemd/arqlab-{part}.service").read_text(encoding="utf-8")
    [command] = re.findall("^ExecStart=(.*)$", unit, re.MULTILINE)

    assert words(container["args"]) == words(COMPOSE[part]["command"])
    # Without Redis, a machine of its own has one web process.
    assert words(command) == words(COMPOSE[part]["command"])[: len(words(command))]


def test_nothing_else_is_deployed_and_nothing_runs_as_root():
    units = {path.stem.removeprefix("arqlab-") for path in DEPLOY.glob("systemd/*.service")}
    user = re.search(r"--uid (\d+)", (ROOT / "Dockerfile").read_text(encoding="utf-8"))

    assert units == {name.removeprefix("arqlab-") for name in PODS} == set(PARTS)
    assert user
    for pod in PODS.values():
        assert pod["securityContext"]["runAsNonRoot"]
        assert pod["securityContext"]["runAsUser"] == int(user[1])
    assert "\nUSER arqlab\n" in (ROOT / "Dockerfile").read_text(encoding="utf-8")


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="systemd-analyze not found")
def test_systemd_accepts_the_units():
    units = [str(path) for path in DEPLOY.glob("systemd/arqlab-*.[st]*") if path.is_file()]
    own = os.environ | {"SYSTEMD_UNIT_PATH": f"{DEPLOY}/systemd:"}
    command = ["systemd-analyze", "verify", *units]
    found = subprocess.run(command, env=own, capture_output=True, text=True, check=False).stderr

    assert len(units) == len(PARTS) + 1  # the timer
    # The checkout lies elsewhere.
    own_lines = [line for line in found.splitlines() if line.startswith(("arqlab", "Unit arqlab"))]
    assert [line for line in own_lines if "is not executable" not in line] == []


def test_the_proxies_let_pass_what_a_page_takes():
    [size] = re.findall(r"max_size (\d+)MB", CADDYFILE)
    [ingress] = [item for item in ITEMS if item["kind"] == "Ingress"]

    assert int(size) * 10**6 >= largest_request()
    assert ingress["metadata"]["annotations"] == {
        "nginx.ingress.kubernetes.io/proxy-body-size": f"{size}m"
    }


class Echo(BaseHTTPRequestHandler):
    """A server that answers with the headers of the request."""

    def do_POST(self) -> None:
        length = int(self.headers["Content-Length"])
        if len(self.rfile.read(length)) == length:  # the proxy ends what is too large
            self.send_response(200)
            self.end_headers()
            self.wfile.write(json.dumps(dict(self.headers)).encode())

    def log_message(self, *args: object) -> None:
        """Print nothing."""


@contextmanager
def running_caddy(folder: Path, caddyfile: str, variables: dict[str, str]) -> Iterator[None]:
    """Run Caddy until the block ends; its address is the first of ARQLAB_HOSTS."""
    (folder / "Caddyfile").write_text(caddyfile)
    command = ["caddy", "run", "--config", str(folder / "Caddyfile")]
    own = os.environ | variables | {"HOME": str(folder), "XDG_DATA_HOME": str(folder / "caddy")}
    with (folder / "caddy.log").open("wb") as log:
        caddy = subprocess.Popen(command, env=own, stderr=log)
    try:
        wait_for_port(int(variables["ARQLAB_HOSTS"].rpartition(":")[2]))
        yield
    finally:
        caddy.terminate()
        caddy.wait()


@pytest.fixture(scope="module")
def proxy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Run Caddy as configured, with a small limit, before a server that echoes; yield its URL."""
    if not shutil.which("caddy"):
        pytest.skip("caddy not found. Install it: apt-get install caddy")
    folder, port = tmp_path_factory.mktemp("caddy"), free_port()
    assert LIMIT in CADDYFILE
    with ExitStack() as stack:
        server = stack.enter_context(ThreadingHTTPServer(("127.0.0.1", 0), Echo))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        stack.callback(server.shutdown)
        variables = {
            "ARQLAB_HOSTS": f"http://127.0.0.1:{port}",
            "ARQLAB_WEB": f"127.0.0.1:{server.server_port}",
        }
        limited = CADDYFILE.replace(LIMIT, "max_size 10B")
        stack.enter_context(running_caddy(folder, limited, variables))
        yield f"http://127.0.0.1:{port}"


def post(url: str, size: int, **headers: str) -> Any:
    """Return what the server behind the proxy got, or the status of a refusal."""
    try:
        with closing(
            urllib.request.urlopen(urllib.request.Request(url, b"x" * size, headers))
        ) as got:
            return json.load(got)
    except urllib.error.HTTPError as refusal:
        return refusal.code


def test_a_visitor_cannot_choose_the_address_that_the_proxy_reports(proxy: str) -> None:
    got = post(proxy, 1, **{"X-Forwarded-For": "192.0.2.1", "X-Forwarded-Proto": "https"})

    assert (got["X-Forwarded-For"], got["X-Forwarded-Proto"]) == ("127.0.0.1", "http")


def test_only_pages_that_take_loads_take_more_than_the_limit(proxy: str) -> None:
    refused = 413, 502  # Caddy before 2.7 says 502
    assert post(proxy + "/labs/a/tasks/b/runs/upload/", 100) in refused
    views = named_views(get_resolver().url_patterns)
    loads = [name for name, view in views if getattr(view, "page", Page()).takes_loads]
    assert loads
    for name in loads:
        path = reverse(name, kwargs=dict.fromkeys(parameters_of(name), 1))
        assert post(proxy + path, 100) not in refused, path
