"""Simulated activity: failed, checked and withdrawn runs, and leaderboards in every state."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta

from django.core.files.base import ContentFile

from arqlab.core.models import Team
from arqlab.core.services.labs import change_task
from arqlab.notices.models import Kind, Notice
from assessment.models import QrelSet
from assessment.qrels.services.versions import choose_current_qrels
from desk.demo.posts import FOLDER
from desk.demo.teams import DemoBoard, read_boards
from desk.services.demo.context import DemoContext, submitter_of
from evaluation.services.releasing import release_leaderboard
from evaluation.services.scoring import score_waiting
from submissions.models import Run
from submissions.services.changing import withdraw_run
from submissions.services.run_metadata import RunMetadata
from submissions.services.uploads import check_upload, submit_upload
from submissions.services.validation import validate_uploaded_run

OPEN_TASK = "task1-progress"


def simulate_open_task(demo: DemoContext, teams: Mapping[str, Team]) -> None:
    """Submit runs to the open task: one with errors, one checked only, and one withdrawn.

    Its topics are those of a released task, so their threads are open.
    """
    change_task(
        task=demo.tasks[OPEN_TASK], changes={"threads": "open"}, protocol={}, by=demo.organizer
    )
    good, broken = ((FOLDER / f"try-{name}.tsv").read_bytes() for name in ("good", "broken"))
    _send(demo, teams["Kaleidos"], "Draft1", broken, hours=30)
    _send(demo, teams["PrimeIdeals"], "Rehearsal", good, hours=5, check_only=True)
    mistaken = _send(demo, teams["LemmaHarvest"], "Latent200", good, hours=26)
    withdraw_run(
        run=mistaken,
        reason="Submitted the run of another system by mistake.",
        by=submitter_of(demo, teams["LemmaHarvest"]),
        at=demo.at - timedelta(hours=25),
    )


def _send(
    demo: DemoContext, team: Team, tag: str, data: bytes, *, hours: int, check_only: bool = False
) -> Run:
    file = ContentFile(data, name=f"{team.name}-task1-{tag}-auto-both-A.tsv")
    at, by = demo.at - timedelta(hours=hours), submitter_of(demo, team)
    submit = check_upload if check_only else submit_upload
    metadata = {str(file.name): RunMetadata(tag=tag, data_used="both")}
    [run] = submit(
        file=file, task=demo.tasks[OPEN_TASK], team=team, by=by, at=at, metadata=metadata
    )
    validate_uploaded_run(run_id=run.pk, at=at + timedelta(seconds=1))
    return run


def choose_qrels(demo: DemoContext) -> None:
    """Make the qrels of the boards in `teams.toml` current."""
    for board in read_boards():
        choose_current_qrels(qrel_set=_qrels_of(demo, board), by=demo.organizer)


def release_boards(demo: DemoContext) -> None:
    """Score all runs and release the leaderboards of `teams.toml`.

    Teams see their own scores in tasks without a released leaderboard.
    """
    score_waiting(at=demo.at)
    for board in read_boards():
        task = demo.tasks[board.task]
        if board.released:
            release_leaderboard(
                qrel_set=_qrels_of(demo, board), by=demo.organizer, at=demo.at - timedelta(days=3)
            )
        else:
            change_task(
                task=task, changes={"shows_own_scores": True}, protocol={}, by=demo.organizer
            )
    _withdraw_after_release(demo)


def read_old_notices(demo: DemoContext) -> None:
    """Mark the notices of reports in closed tasks as read."""
    old = Notice.objects.filter(lab=demo.lab, kind=Kind.RUNS_VALIDATED, read_at=None)
    old.exclude(path__contains=f"/{OPEN_TASK}/").update(read_at=demo.at)


def _qrels_of(demo: DemoContext, board: DemoBoard) -> QrelSet:
    versions = QrelSet.objects.select_related("task__lab")
    return versions.get(task=demo.tasks[board.task], name=board.qrels)


def _withdraw_after_release(demo: DemoContext) -> None:
    """Withdraw a run that is on a released leaderboard, where it stays and is marked."""
    run = Run.objects.select_related("team", "task__lab").get(
        task=demo.tasks["task1"], tag="SlowGrowth"
    )
    reason = "The parameters were tuned on the judgments."
    withdraw_run(
        run=run, reason=reason, by=submitter_of(demo, run.team), at=demo.at - timedelta(days=1)
    )
