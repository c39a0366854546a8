"""`manage.py leaderboard LAB/TASK`: print a task's board, released or not."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError
from django.utils import timezone

from arqlab.core.management.labcommand import LabCommand
from arqlab.core.models import Task
from arqlab.core.selectors import task_named
from arqlab.formats.leaderboards import CONTENT_TYPES, write_board
from assessment.models import QrelSet
from assessment.qrels.selectors.versions import qrels_named
from evaluation.selectors.boards import live_board
from evaluation.selectors.waiting import unscored_runs
from evaluation.services.scoring import score_waiting


class Command(LabCommand):
    """Print the board of all valid runs; runs that wait for their scores are scored first."""

    help = (
        "Print the leaderboard of a task to four decimals: baselines, then teams by their best run. TSV and CSV have "
        "the columns team, run, primary (P or nothing), manual (M or nothing), then one for each measure."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Take the task, the qrels and the format."""
        parser.add_argument("task", metavar="LAB/TASK")
        parser.add_argument(
            "--qrels", metavar="NAME", help="the version of the qrels; else the current one"
        )
        parser.add_argument("--format", choices=list(CONTENT_TYPES), default="tsv")

    def handle(self, *args: Any, **options: Any) -> None:
        """Score what waits and print the board; say on the error stream which runs are not on it."""
        task = task_named(options["task"])
        qrel_set = self._qrels(task, options["qrels"])
        score_waiting(at=timezone.now(), task=task)
        board = live_board(qrel_set)
        self.stdout.write(write_board(board, options["format"]), ending="")
        for run, reason in unscored_runs(qrel_set, [row.run.key for row in board.rows]):
            self.stderr.write(
                f"{run} is not on the board. {reason or 'Its index cannot be read; see the log.'}"
            )

    def _qrels(self, task: Task, name: str | None) -> QrelSet:
        chosen = qrels_named(task, name or "")
        if chosen is None:
            known = (
                ", ".join(task.qrel_sets.values_list("name", flat=True))
                or "none; load some with load_lab"
            )
            asked = f"no qrels {name!r}" if name else "no current qrels"
            raise CommandError(f"The task {task} has {asked}. Known are: {known}.")
        return chosen
