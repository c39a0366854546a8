"""A worker that is killed in the middle of a validation leaves nothing half-written, and the run is
resumed.

The worker is a real process with a database and a storage of its own, killed by SIGKILL from
inside.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.submissions.processes import MAKE_LAB, killed, told

DEATHS = {
    "before anything is stored": "validation.check_stored = die",
    "while the index is stored": "FileSystemStorage._save = die",
    "when index and places are stored": "RunProblem.objects.filter = die",
    "inside the last transaction": "RunProblem.objects.bulk_create = die",
}
VALIDATE = "validate_uploaded_run(run_id=Run.objects.get().pk, at=timezone.now())"
GIVE_BACK = "return_stale_claims(at=timezone.now() + timedelta(hours=1))"
RESUME = f"""
{GIVE_BACK}
for run_id in waiting_run_ids():
    validate_uploaded_run(run_id=run_id, at=timezone.now())
"""
TELL = """
run = Run.objects.get()
problems = list(run.problems.values_list("kind", flat=True))
print(json.dumps([run.status, run.attempts, bool(run.index), bool(run.report), problems]))
"""


@pytest.fixture(scope="module")
def submitted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a data folder with one run that waits."""
    data = tmp_path_factory.mktemp("crash")
    assert told(data, MAKE_LAB, 'submit("x", "P")', TELL)[0] == "uploaded"
    return data


@pytest.fixture
def data(submitted: Path, tmp_path: Path) -> Path:
    """Return a copy of that folder."""
    return Path(shutil.copytree(submitted, tmp_path / "data"))


@pytest.mark.parametrize("death", DEATHS)
def test_a_killed_worker_leaves_a_claim_and_the_run_is_resumed(data: Path, death: str) -> None:
    assert killed(data, DEATHS[death], VALIDATE)
    assert told(data, TELL) == ["validating", 1, False, False, []]
    assert told(data, RESUME, TELL) == ["valid", 2, True, True, ["score-tie"]]


def test_a_run_that_kills_every_worker_is_given_up(data: Path) -> None:
    for _ in range(3):
        assert killed(data, GIVE_BACK, DEATHS["while the index is stored"], VALIDATE)
    assert told(data, GIVE_BACK, TELL)[:2] == ["invalid", 3]
