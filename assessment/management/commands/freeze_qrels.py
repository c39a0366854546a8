"""`manage.py freeze_qrels LAB/TASK NAME`: freeze a version of the qrels, or delete it."""

from typing import TypedDict, Unpack

from django.utils import timezone

from arqkit.judgments.qrels import Level
from arqlab.core.models import Task
from arqlab.labs.management.labcommand import CeremonyCommand, reasons, switch
from arqlab.labs.selectors import task_named
from assessment.qrels.selectors.oddities import freeze_oddities
from assessment.qrels.selectors.versions import required_qrels
from assessment.qrels.services.versions import (
    QrelsChoice,
    choose_current_qrels,
    delete_qrels,
    freeze_qrels,
)
from submissions.models import Run
from submissions.services.left_out import reasons_by_run, require_reasons


class _Options(TypedDict):
    task: str
    name: str
    level: str
    complete: bool
    group: str
    split: str
    without_topic: list[list[str]]
    out_of_competition: list[list[str]]
    current: bool
    delete: bool


class Command(CeremonyCommand):
    """List what is odd about the draft of the qrels, and freeze it as a version.

    With --delete, delete a version that nothing uses.
    """

    arguments = {
        **CeremonyCommand.arguments,
        "name": {"metavar": "NAME", "help": "name of the version"},
        "--level": {
            "choices": [level.value for level in Level],
            "default": Level.INSTANCES,
            "help": "items of formula retrieval (default: instances)",
        },
        "--complete": switch("include labels that are not judgments"),
        "--group": {
            "metavar": "GROUP",
            "default": "",
            "help": "labels of a group on the roster, not the sums of two assessors",
        },
        "--split": {"default": "", "help": "only topics with this split, such as test"},
        "--without-topic": reasons("TOPIC", "leave out this topic"),
        "--out-of-competition": reasons("RUN", 'list this run, named "TEAM TAG", apart'),
        "--current": switch("make the version current"),
        "--delete": switch("delete the version"),
    }

    def handle(self, *args: object, **options: Unpack[_Options]) -> None:
        """Freeze or delete the version."""
        task, by, at = task_named(options["task"]), self.actor(options), timezone.now()
        if options["delete"]:
            delete_qrels(qrel_set=required_qrels(task, options["name"]), by=by)
            self.stdout.write(f"{options['name']} was deleted.")
            return
        choice = _choice(task, options)
        reasons = {f"topics-{topic}": reason for topic, reason in choice.topics.items()}
        self.confirm(freeze_oddities(task, at=at), options, reasons)
        qrel_set = freeze_qrels(task=task, choice=choice, by=by, at=at)
        if options["current"]:
            choose_current_qrels(qrel_set=qrel_set, by=by)
        self.stdout.write(f"{qrel_set.name} is frozen as version {qrel_set.version} of {task}.")
        self.stdout.write(f"sha256 {qrel_set.sha256}")


def _choice(task: Task, options: _Options) -> QrelsChoice:
    topics = dict(options["without_topic"])
    require_reasons(topics)
    runs, pairs = Run.objects.valid().filter(task=task), options["out_of_competition"]
    return QrelsChoice(
        name=options["name"],
        level=Level(options["level"]),
        complete=options["complete"],
        group=options["group"],
        topics=topics,
        runs=reasons_by_run(runs, pairs) if pairs else None,
        split=options["split"],
    )
