"""A test collection in numbers: its topics, qrels, teams and runs, as a user may see them."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from arqkit.judgments.qrels import LabelledTopics, Range
from arqkit.topics import heading
from arqlab.core.models import Lab, Task, Visitor
from arqlab.labs.permissions import tasks_visible_to
from assessment.models import QrelSet
from assessment.qrels.selectors.versions import version_topics
from collection.selectors.collections import collection_of
from evaluation.permissions import ScoreAccess, released_versions, score_access_of
from evaluation.selectors.records import topic_attributes

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


@dataclass(frozen=True, kw_only=True)
class LabCounts:
    """The numbers of the tasks of a lab; `collection` is the slug of its collection, or blank."""

    qrels: list[QrelsCount]
    topics: list[ValueCount]
    runs: list[RunCount]
    collection: str


def lab_numbers(user: Visitor, lab: Lab) -> LabCounts:
    """Return the numbers of the tasks that a user sees, and of runs only where they see scores."""
    tasks = tasks_visible_to(user).filter(lab=lab).select_related("lab")
    sights = [score_access_of(user, task) for task in tasks]
    collection = collection_of(lab)
    return LabCounts(
        qrels=[row for sight in sights for row in _qrels_rows(sight)],
        topics=[row for sight in sights for row in _topic_rows(sight.task)],
        runs=[_run_row(sight) for sight in sights if sight.sees_everything],
        collection=collection.slug if collection else "",
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
