"""A worker killed during a validation leaves no partial result, and the run is validated again.

The worker is a real process with its own database and storage that sends itself SIGKILL.
"""

import shutil
from pathlib import Path

import pytest

from tests.submissions.processes import MAKE_LAB, output_of

DEATHS = {
    "before anything is stored": "validation.check_stored = die",
    "while the index is stored": "FileSystemStorage._save = die",
    "when index and occurrences are stored": "RunProblem.objects.filter = die",
    "inside the last transaction": "RunProblem.objects.bulk_create = die",
}
VALIDATE = "validate_uploaded_run(run_id=Run.objects.get().pk, at=timezone.now())"
RELEASE = "release_stale_claims(at=timezone.now() + timedelta(hours=1))"
RESUME = f"""
{RELEASE}
for run_id in waiting_run_ids(at=timezone.now() + timedelta(hours=1)):
    validate_uploaded_run(run_id=run_id, at=timezone.now())
"""
DESCRIBE = """
def describe():
    run = Run.objects.get()
    problems = list(run.problems.values_list("kind", flat=True))
    return [run.status, run.attempts, bool(run.index), bool(run.report), problems]
"""
PRINT_RUN = "print(json.dumps(describe()))"


@pytest.fixture(scope="module")
def submitted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a data folder with one waiting run."""
    data = tmp_path_factory.mktemp("crash")
    made = output_of(data, DESCRIBE, MAKE_LAB, 'submit("x", "P")', PRINT_RUN)
    assert made[0] == "uploaded"
    return data


@pytest.fixture
def data(submitted: Path, tmp_path: Path) -> Path:
    """Return a copy of that folder."""
    return Path(shutil.copytree(submitted, tmp_path / "data"))


@pytest.mark.parametrize("death", DEATHS)
def test_a_killed_worker_leaves_a_claim_and_the_run_is_validated_again(
    data: Path, death: str
) -> None:
    dead = f"dead = is_killed({f'{DEATHS[death]}; {VALIDATE}'!r})"
    shown = "print(json.dumps([dead, left, describe()]))"
    dead, left, resumed = output_of(data, DESCRIBE, dead, "left = describe()", RESUME, shown)

    assert dead
    assert left == ["validating", 1, False, False, []]
    assert resumed == ["valid", 2, True, True, ["score-tie"]]


def test_a_run_that_killed_three_workers_waits_on_and_becomes_valid(data: Path) -> None:
    work = f"{RELEASE}; {DEATHS['while the index is stored']}; {VALIDATE}"
    dead = f"dead = [is_killed({work!r}) for _ in range(3)]"
    shown = "print(json.dumps([dead, left, describe()]))"
    steps = (dead, RELEASE, "left = describe()", RESUME, shown)
    dead, left, resumed = output_of(data, DESCRIBE, *steps)

    assert dead == [True] * 3
    assert left[:2] == ["uploaded", 3]
    assert resumed[:2] == ["valid", 4]
