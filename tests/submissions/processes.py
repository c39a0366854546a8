"""Real processes on a database and a storage of their own, to be killed or to run at the same time."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import psycopg2

from tests.paths import ROOT

PREPARE = """
import os, signal, json, time
import django
django.setup()
from datetime import timedelta
from django.core.files.base import ContentFile
from django.core.files.storage import FileSystemStorage
from django.core.management import call_command
from django.db import transaction
from django.utils import timezone
from arqlab.core.errors import UserError
from arqlab.core.models import Lab, Task, Team, Topic
from submissions.services.intake import submit_upload
from submissions.services import validation
from submissions.services.validation import (
    return_stale_claims,
    validate_uploaded_run,
    waiting_run_ids,
)
from submissions.models import Run, RunProblem

def die(*args, **options):
    os.kill(os.getpid(), signal.SIGKILL)

def submit(tag, mark="A"):
    file = ContentFile(b"A.1\\t10\\t1\\t2\\tt\\nA.1\\t11\\t2\\t2\\tt\\n", name=f"Alpha-task1-{tag}-auto-both-{mark}.tsv")
    return submit_upload(file=file, task=Task.objects.get(), team=Team.objects.get(), by=None, at=timezone.now())

def start_together():
    while not os.path.exists(os.environ["GO"]):
        time.sleep(0.001)
"""
MAKE_LAB = """
call_command("migrate", verbosity=0)
lab = Lab.objects.create(slug="lab", name="Lab", protocol="arqmath-3")
task = Task.objects.create(lab=lab, slug="task1", name="Task", kind="answers", trec_items="posts")
Topic.objects.create(task=task, query_id="A.1", position=1)
Team.objects.create(lab=lab, name="Alpha")
"""


def use_tested_database(data: Path) -> None:
    """Have processes on `data` use a new database of the server that the tests run on; SQLite needs
    nothing.
    """
    if url := os.environ.get("DATABASE_URL"):
        name = f"together_{hashlib.sha256(bytes(data)).hexdigest()[:12]}"
        with contextlib.closing(psycopg2.connect(url)) as server:
            server.autocommit = True
            server.cursor().execute(f"CREATE DATABASE {name}")
        (data / "database").write_text(f"{url.rpartition('/')[0]}/{name}")


def start(data: Path, *steps: str) -> subprocess.Popen[str]:
    """Start a process that does the steps, with its files below `data`."""
    variables = {
        key: value for key, value in os.environ.items() if key not in {"DATABASE_URL", "REDIS_URL"}
    }
    variables |= {
        "ARQLAB_DATA": str(data),
        "DJANGO_SETTINGS_MODULE": "arqlab.settings",
        "GO": str(data / "go"),
    }
    if (data / "database").exists():
        variables |= {
            "DATABASE_URL": (data / "database").read_text(),
            "ARQLAB_SECRET_KEY": "only for tests",
        }
    command = [sys.executable, "-c", "\n".join([PREPARE, *steps])]
    return subprocess.Popen(
        command, cwd=ROOT, env=variables, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def told(data: Path, *steps: str) -> Any:
    """Do the steps in a process; gives what it printed last, read as JSON."""
    process = start(data, *steps)
    out, errors = process.communicate(timeout=60)
    assert process.returncode == 0, errors
    return json.loads(out.splitlines()[-1])


def killed(data: Path, *steps: str) -> bool:
    """Do the steps in a process; says whether it was killed on the way."""
    process = start(data, *steps)
    process.communicate(timeout=60)
    return process.returncode == -9


def told_together(data: Path, steps: list[str]) -> list[Any]:
    """Do each step in a process of its own, all at the same moment; gives what each printed."""
    processes = [start(data, "start_together()", step) for step in steps]
    time.sleep(2.5)  # until all are loaded
    (data / "go").touch()
    outcomes = [process.communicate(timeout=60) for process in processes]
    return [json.loads(out) if out else errors for out, errors in outcomes]
