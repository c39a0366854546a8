"""Processes with their own database and storage, which tests kill or run at the same time."""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.databases import copy_embedded, new_database
from tests.paths import ROOT

PREPARE = """
import os, signal, json, sys
from multiprocessing import Process
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
from submissions.models import Run, RunProblem
from submissions.services import validation
from submissions.services.uploads import submit_upload
from submissions.services.validation import (
    release_stale_claims, validate_uploaded_run, waiting_run_ids
)

def die(*args, **options):
    os.kill(os.getpid(), signal.SIGKILL)

def is_killed(step):
    # a fork imports nothing again and connects by itself
    process = Process(target=exec, args=(step, globals()))
    process.start()
    process.join()
    return process.exitcode == -signal.SIGKILL

def submit(tag, mark="A"):
    rows = b"A.1\\t10\\t1\\t2\\tt\\nA.1\\t11\\t2\\t2\\tt\\n"
    file = ContentFile(rows, name=f"Alpha-task1-{tag}-auto-both-{mark}.tsv")
    task, team = Task.objects.get(), Team.objects.get()
    return submit_upload(file=file, task=task, team=team, by=None, at=timezone.now())
"""
TOGETHER = """
import contextlib, io, traceback
from multiprocessing import Barrier, Pipe, Process
from django.db import connections

def answer_of(step):
    printed = io.StringIO()
    try:
        with contextlib.redirect_stdout(printed):
            exec(step, dict(globals()))
        return json.loads(printed.getvalue().splitlines()[-1])
    except Exception:
        return traceback.format_exc()

def run(step, barrier, end):
    barrier.wait()
    end.send(answer_of(step))
    connections.close_all()

def run_together(steps):
    barrier, ends = Barrier(len(steps)), []
    for step in steps:  # each is a fork, which imports nothing again and connects by itself
        end, other = Pipe(duplex=False)
        Process(target=run, args=(step, barrier, other)).start()
        other.close()
        ends.append(end)
    return [end.recv() for end in ends]

print(json.dumps([run_together(steps) for steps in json.loads(sys.stdin.readline())]))
"""
MAKE_LAB = """
if not os.environ.get("ARQLAB_TEST_TEMPLATE"):
    call_command("migrate", verbosity=0)
lab = Lab.objects.create(slug="lab", name="Lab", protocol="arqmath-3")
task = Task.objects.create(lab=lab, slug="task1", name="Task", kind="answers", trec_items="posts")
Topic.objects.create(task=task, query_id="A.1", position=1)
Team.objects.create(lab=lab, name="Alpha")
"""


def use_database(data: Path) -> None:
    """Create a database for `data` on the tests' PostgreSQL server; SQLite's is in `data`."""
    if url := new_database(data):
        (data / "database").write_text(url)


def start(data: Path, *steps: str, under: Sequence[str] = ()) -> subprocess.Popen[str]:
    """Start a process that runs the steps, with its files below `data`, `under` another command."""
    variables = {
        key: value for key, value in os.environ.items() if key not in {"DATABASE_URL", "REDIS_URL"}
    }
    variables |= {"ARQLAB_DATA": str(data), "DJANGO_SETTINGS_MODULE": "arqlab.settings"}
    if (data / "database").exists():
        variables |= {"DATABASE_URL": (data / "database").read_text()}
    else:
        copy_embedded(data)
    command, pipe = [*under, sys.executable, "-c", "\n".join([PREPARE, *steps])], subprocess.PIPE
    return subprocess.Popen(
        command, cwd=ROOT, env=variables, stdin=pipe, stdout=pipe, stderr=pipe, text=True
    )


def output_of(data: Path, *steps: str) -> Any:
    """Run the steps in a process. Return the last line that it printed, parsed as JSON."""
    process = start(data, *steps)
    out, errors = process.communicate()
    assert process.returncode == 0, errors
    return json.loads(out.splitlines()[-1])


def outputs_together(data: Path, steps: list[str]) -> list[Any]:
    """Run each step in its own process, all at once. Return what each printed."""
    return outputs_in_rounds(data, [steps])[0]


def outputs_in_rounds(data: Path, rounds: list[list[str]]) -> list[list[Any]]:
    """Run the steps of each round at once, and the rounds one after the other."""
    process = start(data, TOGETHER)
    out, errors = process.communicate(json.dumps(rounds) + "\n")
    assert process.returncode == 0, errors
    outputs: list[list[Any]] = json.loads(out)
    return outputs
