"""The draft of a task's next qrels version, computed from the current judgments."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from typing import NamedTuple

import polars as pl
from django.db.models import Count, Exists, FilteredRelation, Max, OuterRef, Q, QuerySet, Sum

from arqkit.formulas.visual_ids import as_formulas
from arqkit.judgments.qrels import (
    JUDGED_SCHEMA,
    JudgedTopic,
    Level,
    judged_topics,
    make_qrels,
    qrels_item_kind,
)
from arqkit.labels import LabelScale, scale_of_rows
from arqkit.records import ItemKind, TaskKind
from arqlab.core.caches import Recent, Value, key_of, recent_value
from arqlab.core.errors import UserError
from arqlab.core.models import Task
from assessment.models import Pool, PoolInstance, PoolItem
from assessment.qrels.selectors.counts import judging_version
from assessment.qrels.selectors.frames import (
    READING,
    added_labels,
    adjudicated_judgments,
    counting_labels,
    group_members,
    read_frame,
    second_judgments,
    two_labels,
)
from collection.selectors.collections import collection_of, formula_files, visual_ids_among
from collection.selectors.visual_maps import newest_map

# A tuple of any strings: the type checker does not know `current`, which `with_current` adds.
_FIELDS: tuple[str, ...] = ("item__topic__query_id", "item__item", "doc_id", "current__label")


class DraftTopics(NamedTuple):
    """The scale and the topics of a draft, and a digest that changes with its lines.

    `as_of` is the time of the judgments if others have followed (`LabelSource.kept`).
    """

    scale: LabelScale
    topics: list[JudgedTopic]
    digest: int
    as_of: datetime | None = None

    @property
    def dropped(self) -> list[JudgedTopic]:
        """Return the topics the draft leaves out."""
        return [topic for topic in self.topics if topic.reason]


@dataclass(frozen=True, eq=False)
class Draft:
    """The instances in a task's pools with their current labels, their scale, and the topics.

    The columns are those of `arqkit.judgments.qrels`; labels are relevant from `relevant_from`.
    """

    task: Task
    scale: LabelScale
    relevant_from: int
    judged: pl.DataFrame
    topics: list[JudgedTopic]

    @property
    def dropped(self) -> list[JudgedTopic]:
        """Return the topics the draft leaves out."""
        return [topic for topic in self.topics if topic.reason]

    def without(self, reasons: Mapping[str, str]) -> Draft:
        """Return the draft with these topics left out, each with its reason.

        Raises `UserError` for a topic that is not in a pool.
        """
        if unknown := reasons.keys() - {topic.topic for topic in self.topics}:
            raise UserError(
                f"No pool of {self.task} has the topic {', '.join(sorted(unknown))}. Check the "
                "topics that you leave out.",
                code="unknown-topic",
            )
        topics = [
            replace(topic, reason=reasons.get(topic.topic, topic.reason)) for topic in self.topics
        ]
        return replace(self, topics=topics)

    def qrels(self, level: Level, *, complete: bool, with_dropped: bool = False) -> pl.DataFrame:
        """Return the draft (topic, item, label); `with_dropped` leaves no topic out."""
        dropped = () if with_dropped else [topic.topic for topic in self.dropped]
        return make_qrels(
            self.judged, scale=self.scale, level=level, complete=complete, dropped=dropped
        )

    def qrels_by(self, items: str, *, complete: bool) -> pl.DataFrame:
        """Return the draft with items of a kind, for comparison with a version."""
        level = Level.VISUAL if items == ItemKind.VISUAL_IDS else Level.INSTANCES
        return self.qrels(level, complete=complete)


class LabelSource:
    """Where the labels of a task's qrels come from. What it asks the database is asked once.

    Generated answers mixed into the pools of the lab's answer retrieval task, the `host`, have
    their labels there.
    """

    def __init__(self, task: Task) -> None:
        self.task = task

    @cached_property
    def host(self) -> Task | None:
        """Return the task whose pools contain this task's Task 3 answers, or None."""
        if self.task.kind != Task.Kind.GENERATED_ANSWERS:
            return None
        mixed = PoolItem.official.filter(pool__task=OuterRef("pk"), kind=PoolItem.Kind.ANSWERS)
        tasks = Task.objects.select_related("lab").filter(
            lab=self.task.lab_id, kind=Task.Kind.ANSWERS
        )
        return tasks.filter(Exists(mixed)).order_by("position", "pk").first()

    @property
    def judged_in(self) -> Task:
        """Return the task in whose pools the items are judged."""
        return self.host or self.task

    @cached_property
    def scale(self) -> LabelScale:
        """Return the labels of assessors: those of the pools, or before them of the protocol."""
        pools = Pool.official.filter(task=self.judged_in).order_by("number")
        rows = pools.values_list("scale", flat=True).first()
        rules = self.task.protocol
        return (rules.grades or rules.labels) if rows is None else scale_of_rows(rows)

    @property
    def adds(self) -> bool:
        """Return whether the labels of two assessors of each item are added in the qrels."""
        # Few labs add labels: the others' pages do not ask for the scale.
        rules = self.judged_in.protocol
        return rules.grades is not None and rules.adds(self.scale)

    @property
    def groups(self) -> list[str]:
        """Return the groups of assessors whose labels can be qrels of their own, without sums."""
        return list(group_members(self.judged_in)) if self.adds else []

    @property
    def levels(self) -> tuple[Level, ...]:
        """Return the levels of the qrels: two for formulas, one for other items."""
        return tuple(Level) if self.task.kind == Task.Kind.FORMULAS else (Level.INSTANCES,)

    @property
    def mixed(self) -> int:
        """Return the number of Task 3 answers in the pools of Task 1, which its qrels leave out."""
        if self.task.kind != Task.Kind.ANSWERS:
            return 0
        return PoolItem.official.filter(pool__task=self.task, kind=PoolItem.Kind.ANSWERS).count()

    def pooled(self) -> QuerySet[PoolInstance]:
        """Return the instances of the task that get labels, wherever they are pooled."""
        instances = PoolInstance.official.filter(item__pool__task=self.judged_in)
        if self.host is None:
            return instances
        topic_names = self.task.topics.values("query_id")
        return instances.filter(
            item__kind=PoolItem.Kind.ANSWERS, item__topic__query_id__in=topic_names
        )

    def instances(self) -> QuerySet[PoolInstance]:
        """Return those whose labels make the task's own qrels: posts without Task 3 answers."""
        if self.task.kind == Task.Kind.ANSWERS:
            return self.pooled().exclude(item__kind=PoolItem.Kind.ANSWERS)
        return self.pooled()

    def draft(self, *, adds: bool = True, group: str = "") -> Draft:
        """Return the draft of the qrels, in at most ten queries (`draft_of`)."""
        draft = self._draft(adds=adds and not group)
        return _of_group(draft, self.judged_in, group) if group else draft

    def _draft(self, *, adds: bool) -> Draft:
        task, scale = self.task, self.scale
        rows = with_current(self.instances()).values_list(*_FIELDS)
        judged = read_frame(rows, JUDGED_SCHEMA)
        labels, relevant_from = scale, task.protocol.relevant_in(scale)
        if adds and self.adds:
            totals = added_labels(two_labels(self.judged_in), scale)
            judged = judged.drop("label").join(totals, on=["topic", "doc_id"], how="left")
            labels, relevant_from = self.judged_in.protocol.labels, task.protocol.relevant_from
        else:
            judged = counting_labels(judged, self.judged_in, by="doc_id")
        if task.kind == Task.Kind.FORMULAS and not judged.is_empty():
            judged = _by_newest_ids(task, judged)
        least = task.protocol.min_relevant
        topics = judged_topics(
            judged, scale=labels, relevant_from=relevant_from, min_relevant=least
        )
        if self.host:
            source = LabelSource(self.host)
            source.scale = scale  # of the same pools
            reasons = {topic.topic: topic.reason for topic in source._draft(adds=adds).topics}
            topics = [
                replace(topic, reason=_hosts_reason(self.host, reasons.get(topic.topic, "")))
                for topic in topics
            ]
        return Draft(task, labels, relevant_from, judged, topics)

    def topics(self) -> DraftTopics:
        """Return the topics of the draft, which pages show without reading every label."""

        def compute() -> DraftTopics:
            draft = self.draft()
            return DraftTopics(draft.scale, draft.topics, int(draft.judged.hash_rows().sum() or 0))

        result = self.kept("draft-topics", compute)
        return result.value._replace(as_of=result.as_of)

    def kept(self, name: str, compute: Callable[[], Value], *facts: object) -> Recent[Value]:
        """Return what is computed from the draft, again only after judging has gone on.

        With more than some 100,000 labels, it may be a minute old (`recent_value`).
        """
        version, labels = judging_version(self.judged_in)
        decided, again = (
            judgments.aggregate(Count("pk"), Max("pk"), Sum("pk"))
            for judgments in (
                adjudicated_judgments(self.judged_in),
                second_judgments(self.judged_in),
            )
        )
        rules = [(one.kind, repr(one.protocol)) for one in (self.task, self.judged_in)]
        state = version, decided, again, rules, formula_files(self.task.lab)
        key = key_of(name, self.task.pk, *facts)
        return recent_value(key, state, compute, work=READING * (1 + labels))


def draft_of(task: Task, *, adds: bool = True, group: str = "") -> Draft:
    """Return the draft of a task's qrels, in at most ten queries.

    Where the labels of two assessors are added, only items with both have a label; the draft of a
    `group` has the label of one of its assessors, and without `adds` it has the first labels.

    The newest visual ids determine the formula of an instance, as for the runs that are scored
    against the qrels, because the pool's ids may have been merged or split since. Without a
    collection, the pool's ids are used.

    Generated answers mixed into the pools of the lab's answer retrieval task come from there. Their
    topics are then dropped with the topics of that task, whatever the labels of the answers,
    because Task 3 has the topics of Task 1 (004 §6).
    """
    return LabelSource(task).draft(adds=adds, group=group)


def draft_topics(task: Task) -> DraftTopics:
    """Return the topics of a task's draft, which pages show without reading every label."""
    return LabelSource(task).topics()


def task_scale(task: Task) -> LabelScale:
    """Return the labels of assessors: those of a task's pools, or before them of its protocol."""
    return LabelSource(task).scale


def host_of(task: Task) -> Task | None:
    """Return the task whose pools contain this task's Task 3 answers, or None."""
    return LabelSource(task).host


def items_at(task: Task, level: Level) -> ItemKind:
    """Return the kind of the items of a task's qrels at a level."""
    return qrels_item_kind(TaskKind(task.kind), level)


def _of_group(draft: Draft, judged_in: Task, group: str) -> Draft:
    """Return a draft with the labels of a group of assessors in place of the first ones."""
    people = list(group_members(judged_in).get(group, ()))
    mine = two_labels(judged_in).filter(pl.col("assessor").is_in(people))
    group_labels = mine.unique(["topic", "doc_id"], keep="first", maintain_order=True).drop(
        "assessor"
    )
    judged = draft.judged.drop("label").join(group_labels, on=["topic", "doc_id"], how="left")
    topics = judged_topics(
        judged,
        scale=draft.scale,
        relevant_from=draft.relevant_from,
        min_relevant=draft.task.protocol.min_relevant,
    )
    return replace(draft, judged=judged, topics=topics)


def with_current(instances: QuerySet[PoolInstance]) -> QuerySet[PoolInstance]:
    """Return instances with their current judgment as `current`, or null."""
    current = FilteredRelation("judgments", condition=Q(judgments__is_current=True))
    return instances.annotate(current=current).order_by()


def _by_newest_ids(task: Task, judged: pl.DataFrame) -> pl.DataFrame:
    """Return the judged instances with their formulas by the newest visual ids.

    An instance without one is its own formula.
    """
    collection = collection_of(task.lab)
    if collection is None:
        return judged
    newest = newest_map(collection)
    others = Pool.official.filter(task=task).exclude(
        visual_map=newest, settings__visually_distinct=True
    )
    if newest and not others.exists():
        return judged  # the pools already have the ids; do not read millions of formulas
    ids = visual_ids_among(task.lab, judged["doc_id"])
    return judged if ids is None else as_formulas(judged, ids)


def own_pools_task(task: Task) -> Task | None:
    """Return the lab's task whose generated answers have their own pool, or None.

    Task 1's pool must not include them too.
    """
    written = Task.objects.filter(
        lab=task.lab_id, kind=Task.Kind.GENERATED_ANSWERS, pools__isnull=False, pools__round=None
    )
    return written.order_by("position", "pk").first()


def _hosts_reason(host: Task, reason: str) -> str:
    return f"Left out with {host.name}: {reason[0].lower()}{reason[1:]}" if reason else ""
