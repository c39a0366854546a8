"""The command `leaderboard`."""

from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from tests.evaluation.factories import GOOD, make_qrels, make_run


def leaderboard(*arguments: str) -> str:
    out = StringIO()
    call_command("leaderboard", *arguments, stdout=out, stderr=StringIO())
    return out.getvalue()


def test_it_scores_waiting_runs_and_prints_the_board(team, task):
    make_qrels(task)
    make_run(team, task, GOOD, tag="bm25", is_primary=True)

    header, line = leaderboard(str(task)).splitlines()
    cells = dict(zip(header.split("\t"), line.split("\t"), strict=True))
    assert (cells["team"], cells["run"], cells["primary"]) == ("Alpha", "bm25", "P")
    assert [cells[name] for name in ("nDCG'", "MAP'", "P'@10")] == ["1.0000", "1.0000", "0.1500"]


def test_it_accepts_other_qrels_and_formats(team, task):
    make_qrels(task), make_qrels(task, {"A.1": {"p1": 3}})
    make_run(team, task)

    assert '"qrels": "v2"' in leaderboard(str(task), "--qrels", "v2", "--format", "json")


def test_a_board_without_runs_has_only_a_header(task):
    make_qrels(task)

    assert len(leaderboard(str(task)).splitlines()) == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [(["no/task"], "Unknown task 'no/task'"), (["--qrels", "x"], "no qrels 'x'")],
)
def test_unknown_tasks_and_qrels_are_refused(arguments, message, task):
    make_qrels(task)

    with pytest.raises(CommandError, match=message):
        leaderboard(*([str(task)] if arguments[0] == "--qrels" else []), *arguments)


def test_the_error_without_qrels_explains_how_to_load_them(task):
    with pytest.raises(CommandError, match="load_lab"):
        leaderboard(str(task))


def test_a_run_that_cannot_be_scored_is_reported_on_standard_error(team, task):
    make_qrels(task)
    make_run(team, task, tag="stray", report={"items": "formula-ids"})
    errors = StringIO()
    call_command("leaderboard", str(task), stdout=StringIO(), stderr=errors)

    assert "Alpha stray is not on the leaderboard. The run has formula ids" in errors.getvalue()
