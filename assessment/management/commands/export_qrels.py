"""`manage.py export_qrels LAB/TASK`: print a frozen version of the qrels, or the draft."""

from pathlib import Path
from typing import Any

import polars as pl
from django.core.management.base import CommandError

from arqkit.formats.qrels.read import write_qrels
from arqkit.formats.tables import frame_text
from arqkit.judgments.qrels import Level
from arqlab.core.models import Task
from arqlab.labs.management.labcommand import TASK, LabCommand, switch
from arqlab.labs.selectors import task_named
from assessment.qrels.selectors.drafts import LabelSource, draft_of
from assessment.qrels.selectors.versions import qrels_frame, required_qrels
from submissions.selectors import run_map

OF_DRAFTS = ("level", "complete", "all_topics")


class Command(LabCommand):
    """Print a frozen version of the qrels, or the draft, as tab-separated `topic 0 item label`."""

    changes_labs = False

    arguments = {
        "task": TASK,
        "--qrels": {"metavar": "NAME", "help": "name of a frozen version (default: the draft)"},
        "--level": {
            "choices": [level.value for level in Level],
            "help": "items of formula retrieval (default: instances)",
        },
        "--complete": switch("include labels that are not judgments"),
        "--all-topics": switch("include topics with too few relevant items"),
        "--run-map": {
            "type": Path,
            "metavar": "FILE",
            "help": "also write the runs with their ids, teams, tags and files as CSV",
        },
    }

    def handle(self, *args: Any, **options: Any) -> None:
        """Print the lines."""
        task = task_named(options["task"])
        if options["run_map"]:
            Path(options["run_map"]).write_text(
                frame_text(run_map(task), delimiter=","), encoding="utf-8"
            )
        frame = self._version(task, options) if options["qrels"] else self._draft(task, options)
        self.stdout.write(write_qrels(frame).decode(), ending="")

    def _version(self, task: Task, options: dict[str, Any]) -> pl.DataFrame:
        if unusable := [f"--{name.replace('_', '-')}" for name in OF_DRAFTS if options[name]]:
            raise CommandError(
                f"A frozen version cannot be changed. Leave out {', '.join(unusable)}, or leave "
                "out --qrels to print the draft."
            )
        return qrels_frame(required_qrels(task, options["qrels"]))

    def _draft(self, task: Task, options: dict[str, Any]) -> pl.DataFrame:
        level = Level(options["level"] or Level.INSTANCES)
        if level not in LabelSource(task).levels:
            raise CommandError(
                f"The qrels of {task} have no level {level}: the task does not retrieve formulas. "
                "Leave out --level."
            )
        draft = draft_of(task)
        if not options["all_topics"]:
            for topic in draft.dropped:
                self.stderr.write(f"{topic.topic} is left out. {topic.reason}")
        frame = draft.qrels(level, complete=options["complete"], with_dropped=options["all_topics"])
        if frame.is_empty():
            self.stderr.write(
                f"{task} has no qrels to export yet. Freeze a pool and judge its items first."
            )
        return frame
