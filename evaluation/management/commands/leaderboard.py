"""`manage.py leaderboard LAB/TASK`: print the leaderboard of a task, released or not."""

from typing import TypedDict, Unpack

from django.utils import timezone

from arqkit.formats.leaderboards import write_board
from arqkit.formats.tables import FILE_ENDINGS
from arqlab.labs.management.labcommand import TASK, LabCommand
from arqlab.labs.selectors import task_named
from assessment.qrels.selectors.versions import required_qrels
from evaluation.selectors.boards import live_board
from evaluation.selectors.pending_scores import unscored_runs
from evaluation.services.scoring import score_waiting


class _Options(TypedDict):
    task: str
    qrels: str | None
    format: str


class Command(LabCommand):
    """Print the leaderboard of a task to four decimals: baselines, then teams by their best run.

    TSV and CSV have the columns team, run, primary (P or empty), manual (M or empty) and one column
    per measure.
    """

    changes_labs = False

    arguments = {
        "task": TASK,
        "--qrels": {
            "metavar": "NAME",
            "help": "version of the qrels (default: the current version)",
        },
        "--format": {"choices": list(FILE_ENDINGS), "default": "tsv"},
    }

    def handle(self, *args: object, **options: Unpack[_Options]) -> None:
        """Score waiting runs and print the board. List runs without scores on standard error."""
        task = task_named(options["task"])
        qrel_set = required_qrels(task, options["qrels"] or "")
        score_waiting(at=timezone.now(), task=task)
        board = live_board(qrel_set)
        self.stdout.write(write_board(board, options["format"]), ending="")
        for run, reason in unscored_runs(qrel_set, [row.run.key for row in board.rows]):
            self.stderr.write(
                f"{run} is not on the leaderboard. "
                f"{reason or 'Its index cannot be read. See the log.'}"
            )
