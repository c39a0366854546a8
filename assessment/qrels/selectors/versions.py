"""Frozen versions of qrels."""

import hashlib
from typing import NamedTuple

import polars as pl
from django.db.models import Count, Max, Model, Q, QuerySet

from arqkit.judgments.qrels import JudgedTopic, judged_topics
from arqlab.core.caches import cached_value, key_of
from arqlab.core.errors import UserError
from arqlab.core.models import Lab, Task, Topic
from assessment.models import Assignment, Guideline, Judgment, Qrel, QrelSet, TicketPolicy
from assessment.qrels.selectors.frames import READING, read_frame
from collection.models import VisualMap
from submissions.models import AnswerId, Run

QRELS_COLUMNS = {"topic": pl.String, "item": pl.String, "label": pl.Int8}


class TopicJudgments(NamedTuple):
    """The number of judged and of relevant items of a topic."""

    judged: int
    relevant: int


class TaskSummary(NamedTuple):
    """A task: its number of topics, and a version of its qrels with topics and judged items."""

    task: str
    topics: int
    qrels: str | None
    judged_topics: int
    judged: int


def qrels_frame(qrel_set: QrelSet, *, query_id: str = "") -> pl.DataFrame:
    """Return the qrels of a version, or of one of its topics: topic, item, label."""
    qrels = Qrel.objects.filter(qrel_set=qrel_set).values_list("query_id", "doc_id", "relevance")
    if query_id:
        return read_frame(qrels.filter(query_id=query_id), QRELS_COLUMNS)
    key = key_of("qrels-frame", qrel_set.pk, qrel_set.sha256)
    return cached_value(key, lambda: read_frame(qrels, QRELS_COLUMNS), work=0)


def judged_frame(qrel_set: QrelSet) -> pl.DataFrame:
    """Return qrels as runs are scored against them: labels that are not judgments are null."""
    return qrel_set.label_scale.only_judged(qrels_frame(qrel_set))


def topic_frame(qrel_set: QrelSet, query_id: str) -> pl.DataFrame:
    """Return `judged_frame` for one topic."""
    return qrel_set.label_scale.only_judged(qrels_frame(qrel_set, query_id=query_id))


def judgments_of(qrel_sets: QuerySet[QrelSet]) -> QuerySet[Qrel]:
    """Return the lines of versions whose labels are judgments, each by its version's scale."""
    by_unjudged: dict[tuple[int, ...], list[int]] = {}
    for qrel_set in qrel_sets.distinct().only("pk", "scale"):
        by_unjudged.setdefault(qrel_set.label_scale.unjudged, []).append(qrel_set.pk)
    is_judgment = Q(pk__in=[])
    for unjudged, keys in by_unjudged.items():
        is_judgment |= Q(qrel_set__in=keys) & ~Q(relevance__in=unjudged)
    return Qrel.objects.filter(is_judgment)


def qrels_named(task: Task, name: str = "") -> QrelSet | None:
    """Return the named version of a task's qrels with task and lab, or None.

    Without a name, return the current version.
    """
    versions = QrelSet.objects.filter(task=task).select_related("task__lab")
    return (versions.filter(name=name) if name else versions.filter(is_current=True)).first()


def required_qrels(task: Task, name: str = "") -> QrelSet:
    """Return the named or the current version, or raise `UserError` with a list of the versions."""
    qrel_set = qrels_named(task, name)
    if qrel_set is None:
        missing = f"no qrels {name!r}" if name else "no current qrels"
        names = ", ".join(task.qrel_sets.values_list("name", flat=True))
        choices = names or "none yet. Load qrels with load_lab, or freeze them with freeze_qrels"
        raise UserError(
            f"The task {task} has {missing}. Its qrels: {choices}.", code="unknown-qrels"
        )
    return qrel_set


def topic_judgments(qrel_set: QrelSet) -> dict[str, TopicJudgments]:
    """Count the judged and the relevant items of every topic of the qrels."""
    judged = ~Q(relevance__in=qrel_set.label_scale.unjudged)
    rows = Qrel.objects.filter(qrel_set=qrel_set).values("query_id").order_by()
    counted = rows.annotate(
        judged=Count("pk", filter=judged),
        relevant=Count("pk", filter=judged & Q(relevance__gte=qrel_set.relevant_from)),
    )
    return {row["query_id"]: TopicJudgments(row["judged"], row["relevant"]) for row in counted}


def lab_fingerprint(lab: Lab) -> str:
    """Return a digest of everything that `load_lab` loads.

    It is unchanged after loading the same folder again.
    """
    digest = hashlib.sha256()
    parts: tuple[QuerySet[Model], ...] = (
        Lab.objects.filter(pk=lab.pk),
        Task.objects.filter(lab=lab).order_by("pk"),
        Topic.objects.filter(task__lab=lab).order_by("pk"),
        QrelSet.objects.filter(task__lab=lab).order_by("pk"),
        AnswerId.objects.filter(task__lab=lab).order_by("pk"),
        Guideline.objects.filter(task__lab=lab).order_by("pk"),
        TicketPolicy.objects.filter(task__lab=lab).order_by("pk"),
        lab.collections.order_by("pk"),
        VisualMap.objects.filter(collection__labs=lab).order_by("pk"),
    )
    for rows in parts:
        for row in rows.values_list():
            digest.update(repr(row).encode())
    keys: tuple[QuerySet[Model], ...] = (
        Run.objects.filter(task__lab=lab),
        Assignment.objects.filter(topic__task__lab=lab),
        Judgment.official.filter(instance__item__pool__task__lab=lab),
    )
    for rows in keys:  # new rows only: a load changes none of them
        numbers = rows.aggregate(count=Count("pk"), newest=Max("pk"))
        digest.update(repr(numbers).encode())
    return digest.hexdigest()


def lab_summary(lab: Lab) -> list[TaskSummary]:
    """Return a summary of a lab, with a row for each qrels version or task without qrels."""
    lines = []
    tasks = Task.objects.filter(lab=lab).annotate(topic_count=Count("topics"))
    for task in tasks.order_by("position", "pk"):
        for qrel_set in QrelSet.objects.filter(task=task).order_by("version") or [None]:
            counted = topic_judgments(qrel_set) if qrel_set else {}
            judged = sum(topic.judged for topic in counted.values())
            name = qrel_set.name if qrel_set else None
            lines.append(TaskSummary(task.slug, task.topic_count, name, len(counted), judged))
    return lines


def qrel_versions(task: Task) -> QuerySet[QrelSet]:
    """Return the versions of a task's qrels with their makers, newest first."""
    return QrelSet.objects.filter(task=task).select_related("made_by").order_by("-version")


def version_topics(qrel_set: QrelSet, *, query_id: str = "") -> list[JudgedTopic]:
    """Count the labels of a version by topic, or those of one topic."""

    def compute() -> list[JudgedTopic]:
        frame = qrels_frame(qrel_set, query_id=query_id).with_columns(doc_id="item")
        return judged_topics(
            frame, scale=qrel_set.label_scale, relevant_from=qrel_set.relevant_from, min_relevant=0
        )

    if query_id:
        return compute()
    key = key_of("qrels-topics", qrel_set.pk, qrel_set.sha256, qrel_set.relevant_from)
    return cached_value(key, compute, work=READING * qrel_set.lines)
