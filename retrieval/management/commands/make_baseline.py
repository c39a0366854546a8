"""`manage.py make_baseline LAB/TASK`: let the organizers' own systems make baselines."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.utils import timezone

from arqlab.core.errors import UserError
from arqlab.core.management.labcommand import BY, TASK, LabCommand
from arqlab.core.selectors import task_named
from collection.management.reporting import ProgressLine
from retrieval.services.baselines import Order, make_baseline, rank_for
from retrieval.services.systems import SYSTEMS, system_named


class Command(LabCommand):
    """Make the run of a system, and submit it as a baseline or write it to a file."""

    help = (
        "Let one of the organizers' own systems rank for the topics of a task, and submit its run "
        "as a baseline, which is checked like any run. With --out, write the run to a file."
    )

    arguments = {
        "task": TASK,
        "--system": {
            "required": True,
            "metavar": "NAME",
            "help": f"{', '.join(SYSTEMS)}, or all that serve the task",
        },
        "--out": {
            "type": Path,
            "metavar": "FILE",
            "help": "file for the run, which is not submitted; with all systems, a folder",
        },
        "--by": BY,
    }

    def handle(self, *args: Any, **options: Any) -> None:
        """Make the runs; without a named system, go on after one that cannot run."""
        task, out = task_named(options["task"]), options["out"]
        is_all = options["system"] == "all"
        for system in SYSTEMS.values() if is_all else [system_named(options["system"])]:
            order = Order(task, system, system.settings)
            try:
                self.make(order, out / f"{system.key}.tsv" if out and is_all else out, options)
            except UserError as refused:
                if not is_all:
                    raise
                self.stderr.write(refused.message, style_func=str)

    def make(self, order: Order, out: Path | None, options: dict[str, Any]) -> None:
        """Submit the run of a system, or write it to a file."""
        line = ProgressLine(self.stderr, order.system.name)
        try:
            if out:
                _, data = rank_for(order, line)
                out.parent.mkdir(parents=True, exist_ok=True)
                out.write_bytes(data)
                self.stdout.write(f"Written to {out}. Check it with check_run, or submit it.")
                return
            by = self.actor(options)
            run = make_baseline(order=order, by=by, at=timezone.now(), progress=line)
        finally:
            line.close()
        self.stdout.write(f"{run} in {order.task}: {run.get_status_display().lower()}.")
