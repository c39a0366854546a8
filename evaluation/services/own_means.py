"""The means of a team's own runs before the release, which lead nowhere.

Every page, API and file that shows a score before the release asks `own_means`.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from django.db.models import Min

from arqkit.leaderboard import MAIN_MEASURES, Board, BoardRow, with_runs
from arqkit.measures.disclosure import (
    Items,
    first_with_items,
    has_enough_topics,
    item_numbers,
    shown_mean,
    shown_means,
    step_of,
)
from arqlab.core.caches import cached_value, key_of
from arqlab.labs.selectors import organizers_of
from assessment.models import QrelSet
from assessment.qrels.selectors.versions import judged_frame, qrels_named
from evaluation.models import RunScore
from evaluation.permissions import ScoreAccess
from evaluation.selectors.boards import live_board, live_scores
from evaluation.selectors.pending_scores import item_facts, qrels_rules
from evaluation.services.scoring import comparable_indexes, scoring_work
from submissions.models import Run, RunQuerySet

RELEASED_STEP = 0.001
"""The step of means by qrels that are released, whose labels everyone knows."""


class OwnMeans(NamedTuple):
    """The means that a team sees, as a board without any fact of the qrels, and their step."""

    board: Board
    step: float


def own_means(access: ScoreAccess) -> OwnMeans | None:
    """Return the means of the user's own runs by the current qrels, or None if they see none.

    The board has the main measures only, in steps, and no number of topics and no ceilings. Its
    runs are those of `counted_runs` with items in nearly all topics. A run with the items of an
    earlier one has the means of that one (`arqkit.measures.disclosure`).
    """
    current = qrels_named(access.task) if access.sees_means else None
    if current is None:
        return None
    most = access.task.protocol.scored_submissions
    board = live_board(current, Run.objects.scorable().filter(pk__in=counted_runs(access)))
    measures = tuple(shown_means(board.measures)[:MAIN_MEASURES])
    sources: Mapping[int, int] = {row.run.key: row.run.key for row in board.rows}
    step: float | None = RELEASED_STEP
    if access.leaderboard is None or access.leaderboard.qrel_set_id != current.pk:
        judgments = judged_frame(current).drop_nulls("label")
        topics, labels = judgments["topic"].n_unique(), judgments.height
        step = step_of(topics=topics, labels=labels, means=most * len(measures))
        sources = _sources(current)
    if step is None or not measures:
        return None
    highest = max(label.value for label in current.label_scale.judgments)
    scores = live_scores(current, Run.objects.filter(pk__in=set(sources.values())))
    runs = [
        replace(
            row.run,
            values={
                measure.name: shown_mean(value, measure, step=step, highest=highest)
                for measure in measures
                if (value := scores.get(sources[row.run.key], {}).get(measure.name)) is not None
            },
        )
        for row in board.rows
        if row.run.key in sources
    ]
    return OwnMeans(with_runs(Board(board.task, "", 0, measures), runs), step)


def own_row(access: ScoreAccess, run: Run) -> BoardRow | None:
    """Return the means of one of the user's own runs, or None if they may not see them."""
    team_means = own_means(access)
    rows = team_means.board.rows if team_means else ()
    return next((row for row in rows if row.run.key == run.pk), None)


def counted_runs(access: ScoreAccess) -> list[int]:
    """Return the user's own runs whose means they may see, by key.

    These are the first scored submissions, as many as the task says: of the team, of the person who
    submitted them in whatever teams, and of all teams of the user. A withdrawn run keeps its place,
    and the order in which runs were first scored never changes, so that no other run takes it.
    What an organizer submits counts for the team only.
    """
    most, task = access.task.protocol.scored_submissions, access.task
    organizers = set(organizers_of(task.lab).values_list("pk", flat=True))
    columns = ("pk", "team", "submitted_by", "submitted_by__is_superuser")
    submissions: Counter[object] = Counter()
    counted = []
    for run, team, sender, is_superuser in _submissions(access.task.pk).values_list(*columns):
        holders: list[object] = [("team", team)]
        if sender and not (is_superuser or sender in organizers):
            holders.append(("person", sender))
        if team in access.own_teams or sender == access.user.pk:
            holders.append("user")
        submissions.update(holders)
        if team in access.own_teams and all(submissions[holder] <= most for holder in holders):
            counted.append(run)
    return counted


def _submissions(task: int) -> RunQuerySet:
    """Return the scored submissions of a task (key), in the order in which they were scored."""
    scored = Run.objects.submitted().filter(task=task, scorings__isnull=False)
    return scored.annotate(first=Min("scorings__pk")).order_by("first")


def _sources(qrel_set: QrelSet) -> Mapping[int, int]:
    """Return whose means each run (key) shows: its own, or those of the first with its items.

    Runs without items in nearly all topics are left out. They are all submissions, of all teams.
    """
    scored = RunScore.objects.filter(qrel_set=qrel_set).values("run")
    submissions = _submissions(qrel_set.task_id).filter(pk__in=scored)
    runs = list(submissions.select_related("team", "upload", "task__lab"))
    facts = item_facts(runs, qrel_set)
    key = key_of("means-sources", qrels_rules(qrel_set), facts)

    def compute() -> dict[int, int]:
        items = {run.pk: _items(run, fact, qrel_set) for run, fact in zip(runs, facts, strict=True)}
        enough = [(run, run_items) for run, run_items in items.items() if run_items is not None]
        firsts = first_with_items([run_items for _, run_items in enough])
        return {run: enough[first][0] for (run, _), first in zip(enough, firsts, strict=True)}

    return cached_value(key, compute, work=0.0)


def _items(run: Run, fact: Sequence[object], qrel_set: QrelSet) -> Items | None:
    """Return the judged items of a run; None without items in nearly all topics."""

    def compute() -> Items | None:
        judged = judged_frame(qrel_set).drop_nulls("label")
        for _, index in comparable_indexes([run], qrel_set, judged):
            if has_enough_topics(index, judged):
                return item_numbers(index, judged)
        return None

    key = key_of("means-items", qrels_rules(qrel_set), fact)
    return cached_value(key, compute, work=min(scoring_work([run]), 0.1))
