"""`manage.py release_board LAB/TASK`: release the leaderboard of a task, or hide it again."""

from typing import TypedDict, Unpack

from django.utils import timezone

from arqlab.labs.management.labcommand import CeremonyCommand, switch
from arqlab.labs.selectors import task_named
from arqlab.web import counted
from assessment.qrels.selectors.versions import required_qrels
from evaluation.selectors.oddities import release_oddities
from evaluation.services.releasing import hide_leaderboard, release_leaderboard
from submissions.models import Run
from submissions.services.left_out import reasons_by_run


class _Options(TypedDict):
    task: str
    qrels: str | None
    out_of_competition: list[list[str]] | None
    hide: bool


class Command(CeremonyCommand):
    """List what is odd about the leaderboard of a task, and release it as a numbered version.

    With --hide, hide the released leaderboard.
    """

    arguments = {
        **CeremonyCommand.arguments,
        "--qrels": {
            "metavar": "NAME",
            "help": "version of the qrels (default: the current version)",
        },
        "--out-of-competition": {
            "nargs": 2,
            "action": "append",
            "metavar": ("RUN", "REASON"),
            "help": "list the run (team and run tag) apart; can be repeated (default: the runs "
            "that already are)",
        },
        "--hide": switch("hide the released leaderboard"),
    }

    def handle(self, *args: object, **options: Unpack[_Options]) -> None:
        """Release or hide the leaderboard."""
        task, by, at = task_named(options["task"]), self.actor(options), timezone.now()
        if options["hide"]:
            hide_leaderboard(task=task, by=by, at=at)
            self.stdout.write(f"The leaderboard of {task} is hidden.")
            return
        qrel_set = required_qrels(task, options["qrels"] or "")
        oddities = release_oddities(qrel_set, at=at)
        self.confirm(oddities, options)
        pairs = options["out_of_competition"]
        apart = reasons_by_run(Run.objects.valid().filter(task=task), pairs) if pairs else None
        board = release_leaderboard(qrel_set=qrel_set, by=by, at=at, apart=apart)
        runs = counted(len(board.scores), "run")
        self.stdout.write(
            f"Version {board.version} of the leaderboard of {task} is released, with {runs} and "
            f"the qrels {qrel_set.name}."
        )
