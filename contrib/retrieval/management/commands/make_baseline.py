"""`manage.py make_baseline LAB/TASK`: let the organizers' own systems make baselines."""

from pathlib import Path
from typing import TypedDict, Unpack

from django.core.management.base import CommandError
from django.utils import timezone

from arqkit.loads import cause_lines
from arqkit.records import FileRefusedError
from arqlab.core.errors import UserError
from arqlab.core.models import Task
from arqlab.labs.management.labcommand import BY, TASK, LabCommand, read_bytes
from arqlab.labs.selectors import task_named
from collection.management.reporting import ProgressLine
from contrib.retrieval.services.baselines import (
    Order,
    make_baseline,
    order_of_answers,
    order_of_combination,
    rank_for,
    usual_order,
)
from contrib.retrieval.services.systems import (
    COMBINATION,
    GENERATED,
    METHODS,
    SYSTEMS,
    system_named,
    systems_for,
)
from submissions.models import Run


class _Options(TypedDict):
    """The arguments of the command."""

    task: str
    system: str
    runs: list[str]
    method: str
    answers: Path | None
    out: Path | None
    by: str | None


class Command(LabCommand):
    """Let one of the organizers' own systems rank for the topics of a task, and submit its run as a
    baseline, which is checked like any run.

    With --out, write the run to a file.
    """

    arguments = {
        "task": TASK,
        "--system": {
            "required": True,
            "metavar": "NAME",
            "help": f"{', '.join(SYSTEMS)}, or all that serve the task",
        },
        "--runs": {
            "nargs": 2,
            "metavar": ("RUN", "RUN"),
            "default": [],
            "help": "with the system combination: the ids of two runs of the task",
        },
        "--method": {
            "choices": list(METHODS),
            "default": "min-max",
            "help": "with the system combination: how the runs are combined",
        },
        "--answers": {
            "type": Path,
            "metavar": "FILE",
            "help": "with the system generated: a file of answers instead of a language model. "
            "Each line has a topic, a tab and an answer. Put quotation marks around an answer "
            "that has tabs or line breaks, and double those in it. Of several answers to a "
            "topic, the first that is short enough counts",
        },
        "--out": {
            "type": Path,
            "metavar": "FILE",
            "help": "file for the run, which is not submitted; with all systems, a folder",
        },
        "--by": BY,
    }

    def handle(self, *args: object, **options: Unpack[_Options]) -> None:
        """Make the runs; without a named system, go on after one that cannot run, and fail then."""
        is_all, refusals = options["system"] == "all", list[str]()
        orders = self.orders(task_named(options["task"]), options)
        out = options["out"]
        for order in orders:
            try:
                self.make(order, out / f"{order.tag}.tsv" if out and is_all else out, options)
            except UserError as refused:
                if not is_all:
                    raise
                refusals.append(refused.message)
        if refusals:
            count = f"{len(refusals)} of {len(orders)} baselines were not made:"
            raise CommandError("\n".join([count, *refusals]))

    def orders(self, task: Task, options: _Options) -> list[Order]:
        """Return the baselines to make."""
        if (path := options["answers"]) and options["system"] != GENERATED.key:
            raise CommandError(f"--answers needs --system {GENERATED.key}.")
        if path:
            return [self.order_of_file(task, path)]
        if options["system"] == "all":
            return [usual_order(task, system) for system in systems_for(task)]
        if (system := system_named(options["system"])) != COMBINATION:
            return [usual_order(task, system)]
        scorable = Run.objects.scorable().filter(task=task)
        runs = [scorable.filter(identifier=name).first() for name in options["runs"]]
        if len(runs) != 2 or None in runs:
            ids = ", ".join(scorable.order_by("identifier").values_list("identifier", flat=True))
            raise UserError(f"Name two runs with --runs RUN RUN. Runs of {task}: {ids or 'none'}.")
        return [order_of_combination(task, [run for run in runs if run], options["method"])]

    def order_of_file(self, task: Task, path: Path) -> Order:
        """Return the order of the answers in a file, or raise `CommandError` with its problems."""
        try:
            return order_of_answers(task, data=read_bytes(path), name=path.name)
        except FileRefusedError as refused:
            lines = cause_lines(refused.problems)
            raise CommandError("\n".join(["No baseline was made.", *lines])) from refused

    def make(self, order: Order, out: Path | None, options: _Options) -> None:
        """Submit the run of a system, or write it to a file."""
        with ProgressLine(self.stderr, order.system.name) as line:
            if out is None:
                by = self.actor(options)
                run = make_baseline(order=order, by=by, at=timezone.now(), progress=line)
                report = f"{run} in {order.task}: {run.get_status_display().lower()}."
            else:
                ranked = rank_for(order, line)
                out.parent.mkdir(parents=True, exist_ok=True)
                out.write_bytes(ranked.data)
                report = f"Written to {out}. Check it with check_run, or submit it."
        self.stdout.write(report)
