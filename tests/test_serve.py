"""`manage.py serve` in embedded mode, as a separate process."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.everywhere import free_port, wait_for_port
from tests.served_lab import ROOT, ask, first_score, form_with_a_run, load_small_lab

EMBEDDED = {
    name: value for name, value in os.environ.items() if name not in {"DATABASE_URL", "REDIS_URL"}
}


@pytest.mark.parametrize("threads", ["8", "1"])
def test_one_process_serves_checks_and_scores(tmp_path: Path, threads: str) -> None:
    port = free_port()
    environment = EMBEDDED | {
        "ARQLAB_DATA": str(tmp_path),
        "DJANGO_SETTINGS_MODULE": "arqlab.settings",
    }
    command = [
        sys.executable,
        "manage.py",
        "serve",
        "--bind",
        f"127.0.0.1:{port}",
        "--threads",
        threads,
    ]
    server = subprocess.Popen(command, cwd=ROOT, env=environment)
    try:
        wait_for_port(port)
        load_small_lab(tmp_path, environment)
        ask(port, "/api/labs/small/tasks/task1/runs/", form_with_a_run())
        assert first_score(port) == pytest.approx(1.0)
    finally:
        server.terminate()
        assert server.wait(timeout=40) == 0
