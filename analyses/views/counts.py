"""The page of a test collection in numbers: its topics, qrels, teams and runs."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from django.http import HttpRequest, HttpResponse

from analyses.views.breakdown import topic_attributes
from arqkit.judgments.qrels import LabelledTopics, Range
from arqkit.topics import heading
from arqlab.core.models import Lab, Task
from arqlab.labs.permissions import lab_or_404, tasks_visible_to
from arqlab.web import LAB, Column, Empty, Pages, Table, answer, cells, to
from assessment.models import QrelSet
from assessment.qrels.selectors.versions import version_topics
from collection.selectors.collections import collection_of
from evaluation.permissions import ScoreAccess, released_versions, score_access_of

pages = Pages(LAB, lab_or_404, section="overview")
ALL = "all"
"""The row of all topics of qrels whose topics have a split."""


class QrelsCount(NamedTuple):
    """The judged items of a part of the topics of qrels."""

    task: Task
    qrels: QrelSet
    part: str
    topics: int
    judged: Range
    positive: Range


class ValueCount(NamedTuple):
    """The topics with a value of an attribute, and those of each split."""

    task: Task
    field: str
    value: str
    topics: int
    test: int | None
    train: int | None


class RunCount(NamedTuple):
    """The topics, teams, runs and baselines of a task."""

    task: Task
    topics: int
    teams: int
    runs: int
    baselines: int


@pages.read("counts/", "lab-counts")
def lab_counts(request: HttpRequest, lab: Lab) -> HttpResponse:
    """Show the topics, judged items, teams and runs of the tasks of a lab, as 003 (Tables 1, 2, 5).

    Before a release, only organizers see the qrels, teams and runs of a task.
    """
    tasks = tasks_visible_to(request.user).filter(lab=lab).select_related("lab")
    sights = [score_access_of(request.user, task) for task in tasks]
    qrels = [row for sight in sights for row in _qrels_rows(sight)]
    topics = [row for sight in sights for row in _topic_rows(sight.task)]
    runs = [_run_row(sight) for sight in sights if sight.sees_everything]
    tables = (
        _judged_table(lab, qrels),
        _attributes_table(lab, topics),
        _submissions_table(lab, runs),
    )
    return answer(request, "analyses/lab_counts.html", {}, *tables)


def _task_column(lab: Lab) -> Column[QrelsCount | ValueCount | RunCount]:
    return Column(
        "Task",
        lambda row: row.task.name,
        is_head=True,
        link=to("task", lab.slug, of=lambda row: row.task.slug),
    )


def _judged_table(lab: Lab, rows: Sequence[QrelsCount]) -> Table[QrelsCount]:
    return Table[QrelsCount](
        "judged",
        [
            _task_column(lab),
            Column("Qrels", lambda row: row.qrels.name),
            Column("Items", lambda row: row.qrels.get_items_display()),
            Column("Topics", lambda row: row.part),
            Column("Number", lambda row: row.topics, cells.COUNT, name="number"),
            Column(
                "Min", lambda row: row.judged.least, cells.COUNT, over="Judged", name="judged least"
            ),
            Column(
                "Max", lambda row: row.judged.most, cells.COUNT, over="Judged", name="judged most"
            ),
            Column(
                "Mean", lambda row: row.judged.mean, cells.TENTHS, over="Judged", name="judged mean"
            ),
            Column(
                "Min",
                lambda row: row.positive.least,
                cells.COUNT,
                over="Relevant",
                name="relevant least",
            ),
            Column(
                "Max",
                lambda row: row.positive.most,
                cells.COUNT,
                over="Relevant",
                name="relevant most",
            ),
            Column(
                "Mean",
                lambda row: row.positive.mean,
                cells.TENTHS,
                over="Relevant",
                name="relevant mean",
            ),
        ],
        rows,
        caption="Judged items per topic, and those with a label above the lowest.",
        empty=Empty("No qrels yet", "The numbers of judged items appear with released qrels."),
        file=f"{lab.slug}-judged",
    )


def _attributes_table(lab: Lab, rows: Sequence[ValueCount]) -> Table[ValueCount]:
    return Table[ValueCount](
        "attributes",
        [
            _task_column(lab),
            Column("Information", lambda row: row.field),
            Column("Value", lambda row: row.value.capitalize()),
            Column("Topics", lambda row: row.topics, cells.COUNT),
            *_split_columns(rows),
        ],
        rows,
        caption="Topics by their information.",
        empty=Empty("No topic information yet", "Organizers enter it with the topics of a task."),
        file=f"{lab.slug}-topics",
    )


def _submissions_table(lab: Lab, rows: Sequence[RunCount]) -> Table[RunCount]:
    collection = collection_of(lab)
    return Table[RunCount](
        "submissions",
        [
            _task_column(lab),
            Column("Collection", lambda row: collection.slug if collection else None),
            Column("Topics", lambda row: row.topics, cells.COUNT),
            Column("Teams", lambda row: row.teams, cells.COUNT),
            Column("Runs", lambda row: row.runs, cells.COUNT),
            Column("Baselines", lambda row: row.baselines, cells.COUNT),
        ],
        rows,
        caption="Teams with a valid run, and the valid runs, without those out of competition.",
        empty=Empty("No runs to count yet", "The numbers of teams and runs appear with a release."),
        file=f"{lab.slug}-runs",
    )


def _qrels_rows(sight: ScoreAccess) -> Iterator[QrelsCount]:
    versions = sight.task.qrel_sets.select_related("task").order_by("version")
    if not sight.organizes:
        versions = versions.filter(pk__in=released_versions(sight).values("qrel_set"))
    splits = topic_attributes(sight.task).get("split", {})
    for qrel_set in versions:
        labelled = LabelledTopics.of(version_topics(qrel_set), qrel_set.label_scale)
        parts = {ALL: set(labelled.judged)}
        for topic in labelled.judged.keys() & splits.keys():
            parts.setdefault(splits[topic], set()).add(topic)
        for part, topics in sorted(parts.items()):
            if topics:
                judged, positive = (
                    Range.of([side[topic] for topic in topics]) for side in labelled
                )
                yield QrelsCount(qrel_set.task, qrel_set, part, len(topics), judged, positive)


def _topic_rows(task: Task) -> Iterator[ValueCount]:
    attributes = topic_attributes(task)
    splits = attributes.pop("split", {})
    for name, values in attributes.items():
        of_split = {
            part: Counter(value for topic, value in values.items() if splits.get(topic) == part)
            for part in ("test", "train")
        }
        for value, topics in sorted(Counter(values.values()).items()):
            parts = {part: numbers[value] if splits else None for part, numbers in of_split.items()}
            yield ValueCount(task, heading(name), value, topics, **parts)


def _run_row(sight: ScoreAccess) -> RunCount:
    runs = sight.task.runs.competing()
    teams = runs.filter(is_baseline=False).values("team").distinct().count()
    baselines = runs.filter(is_baseline=True).count()
    topics = sight.task.topics.count()
    return RunCount(sight.task, topics, teams, runs.count() - baselines, baselines)


def _split_columns(topics: Sequence[ValueCount]) -> Iterator[Column[ValueCount]]:
    """Yield the columns of the splits that any topics have."""
    if any(row.test for row in topics):
        yield Column("Test", lambda row: row.test, cells.COUNT)
    if any(row.train for row in topics):
        yield Column("Train", lambda row: row.train, cells.COUNT)
