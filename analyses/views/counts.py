"""The page of a test collection in numbers: its topics, qrels, teams and runs."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from operator import methodcaller

from django.http import HttpRequest, HttpResponse

from analyses.views.breakdown import topic_attributes
from arqkit.judgments.qrels import LabelledTopics, Range
from arqkit.topics import heading
from arqlab.core.models import Lab, Task
from arqlab.labs.permissions import lab_or_404, tasks_visible_to
from arqlab.web.cells import COUNT, TENTHS
from arqlab.web.pages import LAB, Pages
from arqlab.web.tables import Column, Empty, Table, answer, to
from assessment.models import QrelSet
from assessment.qrels.selectors.versions import version_topics
from collection.selectors.collections import collection_of
from evaluation.permissions import ScoreAccess, released_versions, score_access_of

pages = Pages(LAB, lab_or_404, section="overview")
ALL = "all"
"""The row of all topics of qrels whose topics have a split."""


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


def _task_column(lab: Lab) -> Column:
    return Column("Task", "task.name", is_head=True, link=to("task", lab.slug, of="task.slug"))


def _judged_table(lab: Lab, rows: Sequence[dict[str, object]]) -> Table:
    return Table(
        "judged",
        [
            _task_column(lab),
            Column("Qrels", "qrels.name"),
            Column("Items", "qrels.get_items_display"),
            Column("Topics", "part"),
            Column("Number", "topics", COUNT, name="number"),
            Column("Min", "judged.least", COUNT, over="Judged", name="judged least"),
            Column("Max", "judged.most", COUNT, over="Judged", name="judged most"),
            Column("Mean", "judged.mean", TENTHS, over="Judged", name="judged mean"),
            Column("Min", "positive.least", COUNT, over="Relevant", name="relevant least"),
            Column("Max", "positive.most", COUNT, over="Relevant", name="relevant most"),
            Column("Mean", "positive.mean", TENTHS, over="Relevant", name="relevant mean"),
        ],
        rows,
        caption="Judged items per topic, and those with a label above the lowest.",
        empty=Empty("No qrels yet", "The numbers of judged items appear with released qrels."),
        file=f"{lab.slug}-judged",
    )


def _attributes_table(lab: Lab, rows: Sequence[dict[str, object]]) -> Table:
    return Table(
        "attributes",
        [
            _task_column(lab),
            Column("Information", "field"),
            Column("Value", "value.capitalize"),
            Column("Topics", "topics", COUNT),
            *_split_columns(rows),
        ],
        rows,
        caption="Topics by their information.",
        empty=Empty("No topic information yet", "Organizers enter it with the topics of a task."),
        file=f"{lab.slug}-topics",
    )


def _submissions_table(lab: Lab, rows: Sequence[dict[str, object]]) -> Table:
    collection = collection_of(lab)
    return Table(
        "submissions",
        [
            _task_column(lab),
            Column("Collection", lambda row: collection.slug if collection else None),
            Column("Topics", "topics", COUNT),
            Column("Teams", "teams", COUNT),
            Column("Runs", "runs", COUNT),
            Column("Baselines", "baselines", COUNT),
        ],
        rows,
        caption="Teams with a valid run, and the valid runs, without those out of competition.",
        empty=Empty("No runs to count yet", "The numbers of teams and runs appear with a release."),
        file=f"{lab.slug}-runs",
    )


def _qrels_rows(sight: ScoreAccess) -> Iterator[dict[str, object]]:
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
                yield _qrels_row(qrel_set, part, labelled, topics)


def _qrels_row(
    qrel_set: QrelSet, part: str, labelled: LabelledTopics, topics: set[str]
) -> dict[str, object]:
    judged, positive = (Range.of([side[topic] for topic in topics]) for side in labelled)
    row = {"task": qrel_set.task, "qrels": qrel_set, "part": part, "topics": len(topics)}
    return row | {"judged": judged, "positive": positive}


def _topic_rows(task: Task) -> Iterator[dict[str, object]]:
    attributes = topic_attributes(task)
    splits = attributes.pop("split", {})
    for name, values in attributes.items():
        of_split = {
            part: Counter(value for topic, value in values.items() if splits.get(topic) == part)
            for part in ("test", "train")
        }
        for value, topics in sorted(Counter(values.values()).items()):
            parts = {part: numbers[value] for part, numbers in of_split.items() if splits}
            yield {"task": task, "field": heading(name), "value": value, "topics": topics} | parts


def _run_row(sight: ScoreAccess) -> dict[str, object]:
    runs = sight.task.runs.competing()
    teams = runs.filter(is_baseline=False).values("team").distinct().count()
    baselines = runs.filter(is_baseline=True).count()
    return {
        "task": sight.task,
        "teams": teams,
        "runs": runs.count() - baselines,
        "baselines": baselines,
        "topics": sight.task.topics.count(),
    }


def _split_columns(topics: Iterable[dict[str, object]]) -> Iterator[Column]:
    """Yield the columns of the splits that any topics have."""
    for part in ("test", "train"):
        if any(row.get(part) for row in topics):
            yield Column(part.capitalize(), methodcaller("get", part), COUNT)
