"""The run map: the ids, teams and marks of runs, which labs publish with their qrels."""

from __future__ import annotations

import polars as pl

from arqlab.core.models import Task
from submissions.models import Run

RUN_MAP = ("run_id", "team", "tag", "file", "kind", "type", "data", "standing", "withdrawn")


def run_map(task: Task) -> pl.DataFrame:
    """Return the runs that took part, including withdrawn ones: ids, teams, tags, files, marks.

    Labs publish it with their qrels, which name the answers of Task 3 by `run_id`.
    """
    runs = Run.objects.filter(task=task).exclude(identifier="").select_related("team", "upload")
    rows = [
        {
            "run_id": run.identifier,
            "team": run.team.name,
            "tag": run.tag,
            "file": run.file_name,
            "kind": _kind(run),
            "type": "manual" if run.is_manual else "automatic",
            "data": run.data_used,
            "standing": run.standing.key,
            "withdrawn": f"{run.withdrawn_at:%Y-%m-%d}" if run.withdrawn_at else "",
        }
        for run in runs.order_by("team__name", "identifier")
    ]
    return pl.DataFrame(rows, schema=dict.fromkeys(RUN_MAP, pl.String))


def _kind(run: Run) -> str:
    if run.is_post_hoc:
        return "post-hoc"
    return "baseline" if run.is_baseline else "primary" if run.is_primary else "alternate"
