"""The jobs of a lab that `make_scored` made, to be measured."""

import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from arqlab.core.models import Task, User
from assessment.models import Judgment, Round
from assessment.pools.selectors.choices import choice_of
from assessment.pools.selectors.frozen import pool_numbered
from assessment.pools.services.freezing import compute_pool
from assessment.qrels.services.versions import QrelsChoice, freeze_qrels
from assessment.rounds.selectors.votes import round_agreement
from benchmarks.labs.judged import JudgedLab
from benchmarks.labs.rounds import judge_again
from contrib.operations.services.backups import make_backup
from evaluation.models import RunScore, Scoring, TopicScore
from evaluation.services.releasing import release_leaderboard
from evaluation.services.scoring import score_runs

SCORED = 20


def jobs_of() -> Iterator[tuple[str, int, Callable[[], object]]]:
    """Yield each job with its name and the number of its inputs; change nothing in the end."""
    task, by, at = Task.objects.get(), User.objects.get(username="organizer"), timezone.now()
    judgments, runs = Judgment.objects.count(), list(task.runs.order_by("pk"))
    qrels, lines = task.qrel_sets.select_related("task__lab").get(), runs[0].report["rows"]
    pooled = partial(compute_pool, task=task, choice=choice_of(pool_numbered(task)))
    yield "pool, by lines of runs", lines * len(runs), pooled
    with transaction.atomic():
        whose = {"by": by, "at": at}
        released = partial(release_leaderboard, qrel_set=qrels, apart={runs[0].pk: "Late"}, **whose)
        yield "leaderboard, by runs", len(runs), released
        frozen = partial(freeze_qrels, task=task, choice=QrelsChoice("again"), **whose)
        yield "qrels, by judgments", judgments, frozen
        for model in (Scoring, RunScore, TopicScore):
            model.objects.filter(qrel_set=qrels, run__in=runs[:SCORED]).delete()
        scored = partial(score_runs, runs=runs[:SCORED], qrel_set=qrels, at=at)
        yield f"scores of {SCORED} runs, by lines", lines * SCORED, scored
        assessors = list(User.objects.filter(username__startswith="assessor"))
        judge_again(JudgedLab(task, by, assessors, at))
        yield "agreement, by judgments", judgments, partial(_agreement, task)
        transaction.set_rollback(True)
    stored = [path.stat().st_size for path in settings.DATA_DIR.rglob("*") if path.is_file()]
    with tempfile.TemporaryDirectory() as folder:
        yield "backup, by bytes", sum(stored), partial(make_backup, folder=Path(folder), at=at)


def _agreement(task: Task) -> object:
    again = Round.objects.select_related("task").get()
    return round_agreement(again)
