"""A worker that is killed in the middle of a validation leaves nothing half-written, and the run is resumed.

The worker is a real process with a database and a storage of its own, killed by SIGKILL from inside.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[3]
PREPARE = """
import os, signal, json
import django
django.setup()
from datetime import timedelta
from django.core.files.base import ContentFile
from django.core.files.storage import FileSystemStorage
from django.core.management import call_command
from django.utils import timezone
from submissions import services
from submissions.models import Run, RunProblem
die = lambda *args, **options: os.kill(os.getpid(), signal.SIGKILL)
"""
SUBMIT = """
call_command("migrate", verbosity=0)
from arqlab.core.models import Lab, Task, Team, Topic
lab = Lab.objects.create(slug="lab", name="Lab", protocol="arqmath-3")
task = Task.objects.create(lab=lab, slug="task1", name="Task", kind="answers", trec_items="posts")
Topic.objects.create(task=task, query_id="A.1", position=1)
team = Team.objects.create(lab=lab, name="Alpha")
file = ContentFile(b"A.1\\t10\\t1\\t2\\tt\\nA.1\\t11\\t2\\t2\\tt\\n", name="Alpha-task1-x-auto-both-P.tsv")
services.submit_upload(file=file, task=task, team=team, by=None, at=timezone.now())
"""
DEATHS = {
    "before anything is stored": "services.validation.check_stored = die",
    "while the index is stored": "FileSystemStorage._save = die",
    "when index and places are stored": "RunProblem.objects.filter = die",
    "inside the last transaction": "RunProblem.objects.bulk_create = die",
}
VALIDATE = "services.validate_run(run_id=Run.objects.get().pk, at=timezone.now())"
RESUME = """
services.return_stale_claims(at=timezone.now() + timedelta(hours=1))
for run_id in services.waiting_run_ids():
    services.validate_run(run_id=run_id, at=timezone.now())
"""
TELL = """
run = Run.objects.get()
problems = list(run.problems.values_list("kind", flat=True))
print(json.dumps([run.status, run.attempts, bool(run.index), bool(run.report), problems]))
"""


def process(data: Path, *steps: str) -> subprocess.CompletedProcess[str]:
    """Run steps in a process of their own on SQLite and files below `data`."""
    variables = {key: value for key, value in os.environ.items() if key not in {"DATABASE_URL", "REDIS_URL"}}
    variables |= {"ARQLAB_DATA": str(data), "DJANGO_SETTINGS_MODULE": "arqlab.settings"}
    command = [sys.executable, "-c", "\n".join([PREPARE, *steps])]
    return subprocess.run(command, cwd=ROOT, env=variables, capture_output=True, text=True, timeout=60, check=False)


def told(data: Path, *steps: str) -> list[Any]:
    """Run steps and give what the database says of the run then."""
    ended = process(data, *steps, TELL)
    assert ended.returncode == 0, ended.stderr
    return json.loads(ended.stdout)


@pytest.fixture(scope="module")
def submitted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a data folder with one run that waits."""
    data = tmp_path_factory.mktemp("crash")
    assert told(data, SUBMIT)[0] == "uploaded"
    return data


@pytest.mark.parametrize("death", DEATHS)
def test_a_killed_worker_leaves_a_claim_and_the_run_is_resumed(submitted: Path, tmp_path: Path, death: str) -> None:
    data = tmp_path / "data"
    subprocess.run(["cp", "-r", str(submitted), str(data)], check=True)
    assert process(data, DEATHS[death], VALIDATE).returncode == -9
    assert told(data) == ["validating", 1, False, False, []]
    assert told(data, RESUME) == ["valid", 2, True, True, ["score-tie"]]


def test_a_run_that_kills_every_worker_is_given_up(submitted: Path, tmp_path: Path) -> None:
    data = tmp_path / "data"
    subprocess.run(["cp", "-r", str(submitted), str(data)], check=True)
    back = "services.return_stale_claims(at=timezone.now() + timedelta(hours=1))"
    for _ in range(3):
        assert process(data, back, DEATHS["while the index is stored"], VALIDATE).returncode == -9
    assert told(data, back)[:2] == ["invalid", 3]
