"""The pages of a board by groups of topics, and by instances of formulas."""

from collections.abc import Callable, Mapping, Sequence
from statistics import fmean
from typing import Any, NamedTuple
from urllib.parse import urlencode

import numpy as np
from django.http import Http404, HttpRequest, HttpResponse

from analyses.services.comparison import ComparedRuns, group_correlations
from analyses.views.comparison import compared_board
from arqkit.comparison.correlation import GroupPair, TopicGroup, topic_group, topic_groups
from arqkit.leaderboard import BoardRun
from arqkit.measures.names import Measure
from arqkit.records import ItemKind, TaskKind
from arqkit.topics import heading, info_fields
from arqlab.core.models import Task
from arqlab.labs.permissions import may_organize, organized_task_or_404, task_or_404
from arqlab.web import (
    TASK,
    Column,
    Pages,
    Row,
    Table,
    answer,
    cells,
    counted,
    run_columns,
    task_url,
)
from assessment.models import QrelSet
from assessment.qrels.selectors.versions import qrels_named, version_topics
from assessment.qrels.views.labels import label_columns
from evaluation.permissions import VisibleBoard
from evaluation.selectors.boards import live_board, number_or_none, topic_matrix
from evaluation.selectors.records import topic_attributes
from evaluation.views.tables import board_file_name, scores_page

pages = Pages(f"{TASK}leaderboard/", task_or_404, section="leaderboard")

SIDES = {ItemKind.FORMULA_IDS: "all instances", ItemKind.VISUAL_IDS: "visually distinct"}
"""The kinds of items that qrels of formulas have, and what they score."""
GROUPS = Column[GroupPair](
    "Groups", lambda pair: f"{pair.first.capitalize()} and {pair.second}", is_head=True
)
MOST_BARS = 39
"""The most runs that are drawn as bars for each group; of more, the table says it better."""


class MeasureSides(NamedTuple):
    """The means of runs in a measure on both sides, and Kendall's tau of the two rankings."""

    measure: Measure
    sides: list[TopicGroup]
    pair: GroupPair


class InstanceScores(NamedTuple):
    """The runs of a board with their means by both versions, over the topics that both have."""

    versions: list[QrelSet]
    runs: list[BoardRun]
    measures: list[MeasureSides]
    topics: int


class PlacedRun(NamedTuple):
    """A run with its place among the means of each group."""

    place: int
    run: BoardRun


class GroupLabels(NamedTuple):
    """A group of topics, how many of them have labels, and the mean number of each label."""

    group: str
    topics: int
    means: dict[int, float]


def other_version(qrel_set: QrelSet) -> QrelSet | None:
    """Return the version with the other kind of formula items, the newest one, or None."""
    others = set(SIDES) - {ItemKind(qrel_set.items)}
    versions = QrelSet.objects.filter(task=qrel_set.task, items__in=others)
    return versions.order_by("-version").first() if len(others) == 1 else None


def instance_scores(qrel_set: QrelSet, other: QrelSet) -> InstanceScores:
    """Return the runs of the live board of qrels with their scores by these and other qrels.

    The measures are the first ones of the board that rate runs.
    """
    board = live_board(qrel_set)
    runs = sorted((row.run for row in board.rows), key=lambda run: not run.counts)
    ranked = sum(run.counts for run in runs)
    versions = sorted(
        (qrel_set, other), key=lambda version: list(SIDES).index(ItemKind(version.items))
    )
    measures, topics = [], 0
    for measure in board.main_measures:
        matrices = [
            topic_matrix(
                board, runs=[run.key for run in runs], qrel_set=version, measure=measure.name
            )
            for version in versions
        ]
        common = set(matrices[0].topics) & set(matrices[1].topics)
        sides = [
            topic_group(
                SIDES[ItemKind(version.items)],
                matrix.scores[:, np.isin(matrix.topics, list(common))],
                ranked=ranked,
            )
            for version, matrix in zip(versions, matrices, strict=True)
        ]
        measures.append(MeasureSides(measure, sides, group_correlations(sides)[0]))
        topics = max(topics, len(common))
    return InstanceScores(versions, runs, measures, topics)


@pages.read("instances/", "breakdown-instances", access=organized_task_or_404)
def instances(request: HttpRequest, task: Task) -> HttpResponse:
    """Show organizers the runs scored by both kinds of formula qrels, or return them as a file."""
    qrel_set = qrels_named(task, request.GET.get("qrels", ""))
    if qrel_set is None:
        raise Http404
    other = other_version(qrel_set)
    scores = instance_scores(qrel_set, other) if other else None
    context = {"scores": scores, "chosen": qrel_set}
    tables: list[Table[Any]] = []
    if scores:
        first = Column[MeasureSides]("Measure", lambda row: row.measure.heading, is_head=True)
        sides = "by all instances and by visually distinct formulas"
        taus = _taus_table(first, scores.measures, lambda row: row.pair, sides)
        tables = [_instances_table(task, qrel_set, scores), taus]
    return answer(request, "analyses/instances.html", context, *tables)


def _instances_table(task: Task, qrel_set: QrelSet, scores: InstanceScores) -> Table[PlacedRun]:
    query = urlencode({"qrels": qrel_set.name})
    all_, distinct = (version.name for version in scores.versions)
    runs: tuple[Column[PlacedRun], ...] = run_columns(
        lambda row: row.run,
        url=lambda row: f"{task_url('evaluation:run-scores', task, row.run.key)}?{query}",
    )
    return Table[PlacedRun](
        "instances",
        [
            *runs,
            *(
                Column(
                    f"{rated.measure.heading}, {('all', 'distinct')[side]}",
                    _mean(rated.sides[side]),
                    cells.SCORE,
                    name=f"{rated.measure.label}, {rated.sides[side].name}",
                )
                for side in (0, 1)
                for rated in scores.measures
            ),
        ],
        [PlacedRun(*run) for run in enumerate(scores.runs)],
        caption=f"Means over the {counted(scores.topics, 'topic')} that the qrels {all_} (all "
        f"instances) and {distinct} (visually distinct) have in common.",
        file=f"{task.lab.slug}-{task.slug}-instances",
    )


def _mean(group: TopicGroup) -> Callable[[PlacedRun], float | None]:
    """Return what reads the mean of a run in a group; None without a score."""
    return lambda row: number_or_none(group.means[row.place])


def _taus_table(
    first: Column[Row], rows: Sequence[Row], pair: Callable[[Row], GroupPair], sides: str
) -> Table[Row]:
    """Return the correlations of pairs of rankings, each the `pair` of a row."""
    return Table[Row](
        "taus",
        [
            first,
            Column("Runs", lambda row: pair(row).runs, cells.COUNT),
            Column("Kendall’s tau", lambda row: pair(row).tau, cells.TAU),
            Column("Swaps", lambda row: pair(row).swaps, cells.COUNT),
        ],
        rows,
        caption=f"Kendall’s tau-b between the rankings {sides}: 1 for the same ranking, −1 for the "
        "reverse. Swaps are the pairs of runs whose order differs.",
    )


def _pairs_table(groups: Sequence[TopicGroup]) -> Table[GroupPair]:
    pairs = group_correlations(groups)
    return _taus_table(GROUPS, pairs, lambda pair: pair, "of the runs by two groups")


@pages.read("breakdown/", "breakdown")
def breakdown(request: HttpRequest, task: Task) -> HttpResponse:
    """Show the board that the user sees by groups of topics, or return it as a file."""
    _, compared, context = compared_board(request, task)
    attributes = topic_attributes(task, context["visible"].board.release)
    attribute = request.GET.get("by", next(iter(attributes), ""))
    if attribute and attribute not in attributes:
        raise Http404
    topics, scores = compared.matrix
    values, ranked = attributes.get(attribute, {}), len(compared.competing.runs)
    groups = topic_groups(scores, topics, values, _usual_values(attribute), ranked=ranked)
    columns = [topic_group("all", scores, ranked=ranked), *groups]
    context |= {
        "shows_instances": task.kind == Task.Kind.FORMULAS and may_organize(request.user, task.lab),
        "attributes": {name: heading(name) for name in attributes},
        "by": attribute,
        "by_heading": heading(attribute),
        "columns": columns,
        "ungrouped": sum(topic not in values for topic in topics),
        "chart": _chart(columns, compared, task),
    }
    tables = (
        _groups_table(attribute, columns, compared, context["visible"]),
        _pairs_table(groups),
        _labels_table(context["visible"].qrel_set, values, [group.name for group in groups]),
    )
    return answer(request, "analyses/breakdown.html", context, *tables if groups else ())


def _usual_values(attribute: str) -> tuple[str, ...]:
    fields = [info_fields(TaskKind(kind)) for kind in Task.Kind.values]
    return next((usual[attribute] for usual in fields if attribute in usual), ())


def _groups_table(
    by: str, columns: list[TopicGroup], compared: ComparedRuns, visible: VisibleBoard
) -> Table[PlacedRun]:
    """Return the runs with their means by group; as on the leaderboard, only some are the best."""
    page = scores_page(visible, compared.measure)
    runs: tuple[Column[PlacedRun], ...] = run_columns(
        lambda row: row.run, url=lambda row: page(row.run)
    )
    return Table[PlacedRun](
        "groups",
        [
            Column("No.", lambda row: row.place + 1, cells.COUNT, name=None),
            *runs,
            *(
                Column(
                    f"{group.name.capitalize()} ({group.topics})",
                    _mean(group),
                    cells.SCORE,
                    name=f"{group.name} ({group.topics} topics)",
                    best=_is_best(group, compared),
                )
                for group in columns
            ),
        ],
        [PlacedRun(*run) for run in enumerate(compared.runs)],
        caption=f"{compared.measure.heading} by {heading(by).lower()}, best mean over all topics "
        "first and runs that do not count last, with the number of topics in parentheses. The best "
        "value of each column is bold. The mean gap is the mean difference between neighbours in "
        "the ranking of the runs that count.",
        foot=[["", "Mean gap", "", *(group.gap for group in columns)]],
        css="group-table",
        file=board_file_name(visible.board, visible.board.qrels, "by", by),
    )


def _labels_table(
    qrel_set: QrelSet, values: Mapping[str, str], groups: Sequence[str]
) -> Table[GroupLabels]:
    """Return the mean number of items with each label by group of topics (003 figure 2)."""
    topics = version_topics(qrel_set)
    labels = qrel_set.label_scale.judgments
    rows = []
    for name in groups:
        of_group = [topic for topic in topics if values.get(topic.topic) == name]
        means = {
            label.value: fmean(topic.labels[label.value] for topic in of_group)
            for label in labels
            if of_group
        }
        rows.append(GroupLabels(name, len(of_group), means))
    columns: list[Column[GroupLabels]] = label_columns(labels, lambda row: row.means, cells.TENTHS)
    return Table[GroupLabels](
        "labels",
        [
            Column("Group", lambda row: row.group.capitalize(), is_head=True),
            Column("Topics", lambda row: row.topics, cells.COUNT),
            *columns,
        ],
        rows,
        caption="The mean number of items with each label in the topics of a group.",
        file=f"{qrel_set.task.lab.slug}-{qrel_set.task.slug}-{qrel_set.name}-labels-by-group",
    )


def _is_best(group: TopicGroup, compared: ComparedRuns) -> Callable[[PlacedRun], bool]:
    counts = np.array([run.counts for run in compared.runs], dtype=bool)
    most = np.nanmax(group.means, initial=0.0, where=counts)
    return lambda row: bool(row.run.counts and group.means[row.place] >= most > 0)


def _chart(columns: list[TopicGroup], compared: ComparedRuns, task: Task) -> dict[str, Any] | None:
    """Return the data of the charts, as `js/charts.js` reads them; None of too many runs."""
    if len(compared.runs) > MOST_BARS:
        return None
    return {
        "measure": compared.measure.heading,
        "groups": [group.name for group in columns],
        "runs": [
            {
                "run": run.label,
                "team": run.team,
                "values": [number_or_none(group.means[place]) for group in columns],
                "url": task_url("evaluation:run-scores", task, run.key),
            }
            for place, run in enumerate(compared.runs)
        ],
    }
