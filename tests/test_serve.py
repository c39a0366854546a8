"""`manage.py serve` in embedded mode, as a separate process."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.served import listening
from tests.served_lab import ask, first_score, form_with_a_run, load_small_lab, sign_in

EMBEDDED = {
    name: value for name, value in os.environ.items() if name not in {"DATABASE_URL", "REDIS_URL"}
}


@pytest.mark.parametrize("threads", ["8", "1"])
def test_one_process_serves_checks_and_scores(tmp_path: Path, threads: str) -> None:
    environment = EMBEDDED | {
        "ARQLAB_DATA": str(tmp_path),
        "DJANGO_SETTINGS_MODULE": "arqlab.settings",
    }
    command = [sys.executable, "manage.py", "serve", "--bind", "{bind}", "--threads", threads]
    server, port = listening(command, env=environment, stderr=subprocess.PIPE, text=True)
    try:
        ask(port, "/healthz/")
        load_small_lab(tmp_path, environment)
        ask(port, "/api/labs/small/tasks/task1/runs/", form_with_a_run())
        assert first_score(port, server) == pytest.approx(1.0)
    finally:
        server.terminate()
        server.communicate()
        assert server.returncode == 0


@pytest.mark.parametrize("state", ["down", "hanging"])
def test_uploads_and_sign_in_need_no_redis(tmp_path: Path, state: str) -> None:
    environment = EMBEDDED | {
        "ARQLAB_DATA": str(tmp_path),
        "DJANGO_SETTINGS_MODULE": "arqlab.settings",
    }
    load_small_lab(tmp_path, environment)
    with socket.create_server(("127.0.0.1", 0)) as redis:  # takes connections and never answers
        environment["REDIS_URL"] = f"redis://127.0.0.1:{redis.getsockname()[1]}/0"
        if state == "down":
            redis.close()
        command = [sys.executable, "manage.py", "serve", "--bind", "{bind}"]
        server, port = listening(command, env=environment, stderr=subprocess.PIPE, text=True)
        try:
            runs = "/api/labs/small/tasks/task1/runs/"
            [sent] = ask(port, runs, form_with_a_run())
            assert [run["id"] for run in ask(port, runs)["results"]] == [sent["id"]]
            assert sign_in(port) == "/"
        finally:
            server.terminate()
            server.communicate()
            assert server.returncode == 0
