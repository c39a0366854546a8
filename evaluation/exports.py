"""The files of leaderboards that tasks hand out, and of tasks as they were at the release."""

from collections.abc import Callable, Iterable, Iterator
from operator import itemgetter, methodcaller

from django.contrib.auth.models import AnonymousUser

from arqkit.formats.labs.files import QRELS, TOPIC_INFO, TOPICS
from arqkit.formats.qrels.read import write_qrels
from arqkit.formats.tables import tsv_lines
from arqkit.standings import WITHDRAWN
from arqlab.core.exports import Audience, Document, Export, declare_documents, declare_exports
from arqlab.core.models import Task
from arqlab.labs.services.exports import topic_info_csv
from assessment.exports import qrels_details
from assessment.qrels.selectors.versions import qrels_frame
from evaluation.permissions import score_access_of
from evaluation.selectors.boards import released_board, released_leaderboard, scores_by_topic
from evaluation.selectors.records import (
    as_released,
    recorded_topic_info,
    recorded_topics,
    released_runs,
)
from submissions.exports import RUN_FOLDER
from submissions.services.run_files import run_files, runs_with_files


def _qrels(task: Task) -> Iterable[bytes]:
    if leaderboard := released_leaderboard(task):
        yield write_qrels(qrels_frame(leaderboard.qrel_set))


def _scores(task: Task) -> Iterable[bytes]:
    leaderboard = released_leaderboard(task)
    if leaderboard is None:
        return
    board = released_board(leaderboard)
    runs = leaderboard.runs.in_bulk()
    scores = scores_by_topic(board, runs=runs, qrel_set=leaderboard.qrel_set)
    columns: dict[str, Callable[[dict[str, object]], object]] = {
        name: itemgetter(name)
        for name in ("run_id", "team", "run", "standing", "withdrawn", "topic")
    }
    for measure in board.measures:
        columns[measure.label] = methodcaller("get", measure.label)

    def rows() -> Iterator[dict[str, object]]:
        for row in board.rows:
            run = runs[row.run.key]
            cells: dict[str, object] = {"run_id": run.identifier, "team": row.run.team}
            cells |= {"run": row.run.tag, "standing": row.run.standing.key}
            cells |= {"withdrawn": WITHDRAWN in row.run.standings}
            for topic, values in scores[run.pk].items():
                yield {**cells, "topic": topic, **values}

    yield from tsv_lines(columns, rows())


def _recorded_topics(task: Task) -> Iterable[bytes]:
    if leaderboard := released_leaderboard(task):
        yield recorded_topics(leaderboard)


def _recorded_topic_info(task: Task) -> Iterable[bytes]:
    if leaderboard := released_leaderboard(task):
        yield topic_info_csv(recorded_topic_info(leaderboard))


def _released_runs(task: Task, *, published: bool) -> Iterator[Document]:
    """Yield the released runs that everyone may open, for published archives."""
    access = score_access_of(AnonymousUser(), task)
    if not (published and access.leaderboard):
        return
    rows = released_board(access.leaderboard).rows
    keys = {row.run.key for row in rows if access.may_open(row.run)}
    entries = {entry.run_id: entry for entry in released_runs(access.leaderboard)}
    runs = [
        as_released(run, entries[run.pk])
        for run in runs_with_files(task)
        if run.pk in keys and run.pk in entries
    ]
    yield from RUN_FOLDER.documents(run_files(task, runs))


def _qrels_details(task: Task) -> dict[str, object]:
    leaderboard = released_leaderboard(task)
    return qrels_details(task, leaderboard.qrel_set) if leaderboard else {}


declare_exports(
    tasks=[
        Export(
            "qrels.tsv",
            "The qrels of the released leaderboard: topic, 0, item, label.",
            Audience.AFTER_RELEASE,
            _qrels,
            kind=QRELS,
            details=_qrels_details,
        ),
        Export(
            "scores.tsv",
            "Scores of the released runs by topic, in all measures of the leaderboard.",
            Audience.AFTER_RELEASE,
            _scores,
        ),
    ],
    recorded={TOPICS.name: _recorded_topics, TOPIC_INFO.name: _recorded_topic_info},
)
declare_documents(of_task=_released_runs)
