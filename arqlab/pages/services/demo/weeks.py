"""What makes the demo look lived in: runs that went wrong, second thoughts, and boards in every
state.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta

from django.core.files.base import ContentFile

from arqlab.core.models import Team
from arqlab.core.services.labs import change_task
from arqlab.pages.demo.posts import FOLDER
from arqlab.pages.demo.teams import read_boards
from arqlab.pages.services.demo.stage import Stage, sender_of
from assessment.models import QrelSet
from evaluation.services.releasing import release_leaderboard
from evaluation.services.scoring import score_waiting
from submissions.models import Run
from submissions.services.changing import withdraw_run
from submissions.services.run_metadata import RunMetadata
from submissions.services.uploads import check_upload, submit_upload
from submissions.services.validation import validate_uploaded_run

OPEN_TASK = "task1-progress"


def play_open_task(stage: Stage, teams: Mapping[str, Team]) -> None:
    """Have teams at work on the open task: a run with errors, one that was only checked, one that
    was withdrawn.
    """
    good, broken = ((FOLDER / f"try-{name}.tsv").read_bytes() for name in ("good", "broken"))
    _send(stage, teams["Kaleidos"], "Draft1", broken, hours=30)
    _send(stage, teams["PrimeIdeals"], "Rehearsal", good, hours=5, check_only=True)
    mistaken = _send(stage, teams["LemmaHarvest"], "Latent200", good, hours=26)
    withdraw_run(
        run=mistaken,
        reason="Sent the run of another system by mistake.",
        by=sender_of(stage, teams["LemmaHarvest"]),
        at=stage.at - timedelta(hours=25),
    )


def _send(
    stage: Stage, team: Team, tag: str, data: bytes, *, hours: int, check_only: bool = False
) -> Run:
    file = ContentFile(data, name=f"{team.name}-task1-{tag}-auto-both-A.tsv")
    at, by = stage.at - timedelta(hours=hours), sender_of(stage, team)
    take_in = check_upload if check_only else submit_upload
    metadata = {str(file.name): RunMetadata(tag=tag, data_used="both")}
    [run] = take_in(
        file=file, task=stage.tasks[OPEN_TASK], team=team, by=by, at=at, metadata=metadata
    )
    validate_uploaded_run(run_id=run.pk, at=at + timedelta(seconds=1))
    return run


def release_boards(stage: Stage) -> None:
    """Score all runs and release what `teams.toml` says; where nothing is released, teams see their
    own scores.
    """
    score_waiting(at=stage.at)
    for board in read_boards():
        task = stage.tasks[board.task]
        if board.released:
            qrel_set = QrelSet.objects.select_related("task__lab").get(task=task, name=board.qrels)
            release_leaderboard(
                qrel_set=qrel_set, by=stage.organizer, at=stage.at - timedelta(days=3)
            )
        else:
            change_task(
                task=task, changes={"shows_own_scores": True}, protocol={}, by=stage.organizer
            )
    _withdraw_after_release(stage)


def _withdraw_after_release(stage: Stage) -> None:
    """Have a team withdraw a run that is on a released board: it stays there, and is marked."""
    run = Run.objects.select_related("team", "task__lab").get(
        task=stage.tasks["task1"], tag="SlowGrowth"
    )
    reason = "The parameters were chosen with a look at the judgments."
    withdraw_run(
        run=run, reason=reason, by=sender_of(stage, run.team), at=stage.at - timedelta(days=1)
    )
