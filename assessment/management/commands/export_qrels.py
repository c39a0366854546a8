"""`manage.py export_qrels LAB/TASK`: print a frozen version of the qrels, or the draft."""

from pathlib import Path
from typing import Literal, TypedDict, Unpack

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

OF_DRAFTS: tuple[Literal["level", "complete", "all_topics"], ...] = (
    "level",
    "complete",
    "all_topics",
)


class _Options(TypedDict):
    task: str
    qrels: str | None
    level: str | None
    complete: bool
    all_topics: bool
    run_map: Path | None


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

    def handle(self, *args: object, **options: Unpack[_Options]) -> None:
        """Print the lines."""
        task = task_named(options["task"])
        if options["run_map"]:
            Path(options["run_map"]).write_text(
                frame_text(run_map(task), delimiter=","), encoding="utf-8"
            )
        name = options["qrels"]
        frame = self._version(task, name, options) if name else self._draft(task, options)
        self.stdout.write(write_qrels(frame).decode(), ending="")

    def _version(self, task: Task, name: str, options: _Options) -> pl.DataFrame:
        if unusable := [f"--{one.replace('_', '-')}" for one in OF_DRAFTS if options[one]]:
            raise CommandError(
                f"A frozen version cannot be changed. Leave out {', '.join(unusable)}, or leave "
                "out --qrels to print the draft."
            )
        return qrels_frame(required_qrels(task, name))

    def _draft(self, task: Task, options: _Options) -> pl.DataFrame:
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
