"""Several processes at once: the database decides who was first."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.submissions.processes import MAKE_LAB, told, told_together, use_tested_database

VALIDATE = "print(json.dumps(validate_uploaded_run(run_id={run}, at=timezone.now())))"
SUBMIT = """
try:
    submit("run{number}")
    print(json.dumps("taken"))
except UserError as refused:
    print(json.dumps(refused.code))
"""


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Return a data folder; its database is on the server that the tests run on."""
    use_tested_database(tmp_path)
    return tmp_path


def test_of_four_workers_one_validates(data: Path) -> None:
    run = told(data, MAKE_LAB, 'print(submit("x")[0].pk)')
    assert sorted(told_together(data, [VALIDATE.format(run=run)] * 4)) == [
        False,
        False,
        False,
        True,
    ]


def test_of_four_uploads_for_the_last_place_one_is_taken(data: Path) -> None:
    told(data, MAKE_LAB, 'Task.objects.update(overrides={"quota": 1})', "print(0)")
    outcomes = told_together(data, [SUBMIT.format(number=number) for number in range(4)])
    assert sorted(outcomes) == ["quota", "quota", "quota", "taken"]


def test_of_two_primary_runs_that_become_valid_together_one_stays_primary(data: Path) -> None:
    first, second = told(
        data, MAKE_LAB, 'print(json.dumps([submit(tag, "P")[0].pk for tag in "ab"]))'
    )
    assert told_together(data, [VALIDATE.format(run=first), VALIDATE.format(run=second)]) == [
        True,
        True,
    ]
    tell = 'print(json.dumps(sorted(Run.objects.values_list("status", "is_primary"))))'
    assert told(data, tell) == [["valid", False], ["valid", True]]
