"""Several processes at once: the database decides which is first."""

from pathlib import Path

import pytest

from tests.databases import UseDatabase
from tests.submissions.processes import MAKE_LAB, output_of, outputs_together

VALIDATE = "print(json.dumps(validate_uploaded_run(run_id={run}, at=timezone.now())))"
SUBMIT = """
try:
    submit("run{number}")
    print(json.dumps("submitted"))
except UserError as refused:
    print(json.dumps(refused.code))
"""


@pytest.fixture
def data(tmp_path: Path, use_tested_database: UseDatabase) -> Path:
    """Return a data folder whose database is on the tests' server."""
    use_tested_database(tmp_path)
    return tmp_path


def test_one_of_four_workers_validates_a_run(data: Path) -> None:
    run = output_of(data, MAKE_LAB, 'print(submit("x")[0].pk)')
    assert sorted(outputs_together(data, [VALIDATE.format(run=run)] * 4)) == [
        False,
        False,
        False,
        True,
    ]


def test_one_of_four_uploads_takes_the_last_place_in_the_quota(data: Path) -> None:
    output_of(data, MAKE_LAB, 'Task.objects.update(overrides={"quota": 1})', "print(0)")
    outcomes = outputs_together(data, [SUBMIT.format(number=number) for number in range(4)])
    assert sorted(outcomes) == ["quota", "quota", "quota", "submitted"]


def test_one_of_two_primary_runs_that_become_valid_together_stays_primary(data: Path) -> None:
    first, second = output_of(
        data, MAKE_LAB, 'print(json.dumps([submit(tag, "P")[0].pk for tag in "ab"]))'
    )
    assert outputs_together(data, [VALIDATE.format(run=first), VALIDATE.format(run=second)]) == [
        True,
        True,
    ]
    marks = 'print(json.dumps(sorted(Run.objects.values_list("status", "is_primary"))))'
    assert output_of(data, marks) == [["valid", False], ["valid", True]]


def test_runs_of_two_teams_with_one_tag_that_become_valid_together_have_two_ids(data: Path) -> None:
    first, second = output_of(
        data,
        MAKE_LAB,
        'runs = [submit(tag)[0].pk for tag in "ab"]',
        'other = Team.objects.create(lab=Lab.objects.get(), name="Beta")',
        'Run.objects.filter(pk=runs[1]).update(tag="a", team=other)',
        "print(json.dumps(runs))",
    )
    assert outputs_together(data, [VALIDATE.format(run=first), VALIDATE.format(run=second)]) == [
        True,
        True,
    ]
    names = output_of(data, 'print(json.dumps(list(Run.objects.values_list("pk", "identifier"))))')
    assert sorted(name for _, name in names) in (["a", f"a-{first}"], ["a", f"a-{second}"])
