"""A worker killed during scoring leaves nothing behind, and two at once store every score once."""

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.databases import copy_embedded
from tests.paths import ROOT

START = "import django; django.setup()\n"
SET_UP = """
from django.core.management import call_command
call_command("migrate", verbosity=0)
from tests.factories import make_lab
from tests.evaluation.factories import GOOD, make_qrels, make_run
scene = make_lab()
make_qrels(scene.task, {f"A.{n}": {"p1": 3, "p2": 0} for n in range(200)})
for n in range(6):
    make_run(scene.team, scene.task, {f"A.{n}": ["p1", "p2"] for n in range(200)}, tag=f"run{n}")
"""
SCORE = """
from django.utils import timezone
from evaluation.services.scoring import score_waiting
print(score_waiting(at=timezone.now()))
"""
# The worker dies after it wrote the topic scores and before it writes the means.
SCORE_AND_DIE = (
    """
import os, signal
from evaluation.services import scoring
insert, stored = scoring.insert_rows, []
def insert_and_die(model, *rest):
    if stored:
        os.kill(os.getpid(), signal.SIGKILL)
    stored.append(insert(model, *rest))
scoring.insert_rows = insert_and_die
"""
    + SCORE
)
COUNT = """
import json
from evaluation.models import RunScore, Scoring, TopicScore
print(json.dumps([model.objects.count() for model in (Scoring, RunScore, TopicScore)]))
"""


def started(data: Path, program: str) -> subprocess.Popen[str]:
    """Start a process on the database in a data folder."""
    settings = {
        "ARQLAB_DATA": str(data),
        "DATABASE_URL": "",
        "DJANGO_SETTINGS_MODULE": "arqlab.settings",
    }
    command = [sys.executable, "-c", START + program]
    return subprocess.Popen(
        command, cwd=ROOT, env=os.environ | settings, stdout=subprocess.PIPE, text=True
    )


@pytest.fixture(scope="module")
def waiting(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a data folder with six waiting runs."""
    data = tmp_path_factory.mktemp("waiting")
    copy_embedded(data)
    assert ended(started(data, SET_UP)) == (0, "")
    return data


@pytest.fixture
def worker(waiting: Path, tmp_path: Path) -> Callable[[str], subprocess.Popen[str]]:
    """Return a function that starts processes on a copy of that folder."""
    data = Path(shutil.copytree(waiting, tmp_path / "data"))
    return lambda program: started(data, program)


def ended(process: subprocess.Popen[str]) -> tuple[int, str]:
    """Wait for a process. Return its exit status and its output."""
    printed, _ = process.communicate()
    return process.returncode, printed.strip()


def counts(worker) -> list[int]:
    return json.loads(ended(worker(COUNT))[1])


def test_a_worker_killed_while_storing_leaves_nothing_and_the_next_one_scores_all(worker):
    assert ended(worker(SCORE_AND_DIE)) == (-signal.SIGKILL, "")
    assert counts(worker) == [0, 0, 0]

    assert ended(worker(SCORE)) == (0, "6")
    scorings, means, values = counts(worker)
    assert (scorings, values) == (6, means * 200)


def test_two_workers_at_once_store_every_score_once(worker):
    (first, done), (second, also_done) = map(ended, [worker(SCORE), worker(SCORE)])

    assert first == second == 0
    assert int(done) + int(also_done) == 6
    assert counts(worker)[0] == 6
