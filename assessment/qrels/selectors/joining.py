"""Warnings about qrels that do not join their lab: unknown topics, and items that nothing has.

Qrels are loaded regardless, because a collection or runs may follow. The warnings are computed from
what the lab has now, so they disappear when the rest is loaded.
"""

from collections.abc import Iterator
from functools import lru_cache

import polars as pl

from arqkit.records import ItemKind
from arqlab.core.caches import cached_value, key_of
from arqlab.core.models import Lab, Task
from arqlab.labs.selectors import topic_ids
from arqlab.web import counted, name_list
from assessment.models import PoolInstance, Qrel, QrelSet
from assessment.qrels.selectors.frames import READING
from assessment.qrels.selectors.versions import qrels_frame, version_topics
from collection.selectors.collections import id_source, known_ids, scan_columns
from submissions.models import AnswerId, Run
from submissions.selectors import run_items

MUCH = 0.1
"""The part of the items above which qrels are odd if neither a complete collection nor a run has
them. A sample of a collection, or a few runs, lack most items of any qrels."""
_CHECK = (
    "Check that these are qrels of this task, that the items are {label} (items in lab.toml), "
    "and that ids are written as in the collection and the runs. Then load the corrected file "
    "under a new name."
)


def join_warnings(qrel_set: QrelSet) -> list[str]:
    """Return sentences on unknown topics, items that join nothing, and several known items."""
    items = _unjoined_answers if qrel_set.items == ItemKind.ANSWERS else _unjoined_items
    head = f"Qrels {qrel_set.name} of {qrel_set.task}: "
    return [
        head + sentence
        for sentence in (_unknown_topics(qrel_set), items(qrel_set), _not_one(qrel_set))
        if sentence
    ]


def lab_join_warnings(lab: Lab) -> list[str]:
    """Return the warnings of all versions of the qrels of a lab."""
    versions = QrelSet.objects.filter(task__lab=lab).select_related("task__lab")
    return [warning for version in versions for warning in join_warnings(version)]


def ids_judged_or_pooled(task: Task, items: ItemKind) -> Iterator[pl.Series]:
    """Yield the ids of one kind that the qrels and the pools of a task have."""
    versions = QrelSet.objects.filter(task=task, items=items).order_by("-version")
    for pk, sha256 in versions.values_list("pk", "sha256"):
        yield _qrels_items(pk, sha256)
    instances = PoolInstance.official.filter(item__pool__task=task)
    if items is ItemKind.FORMULA_IDS:
        pooled = instances.filter(item__kind=ItemKind.VISUAL_IDS).values_list("doc_id")
    else:
        pooled = instances.filter(item__kind=items).values_list("item__item")
    if ids := [item for (item,) in pooled.order_by().distinct()]:
        yield pl.Series(ids, dtype=pl.String)


@lru_cache(maxsize=16)
def _qrels_items(key: int, sha256: str) -> pl.Series:
    """Return the ids of the items of qrels: versions never change."""
    lines = Qrel.objects.filter(qrel_set=key, qrel_set__sha256=sha256)
    ids = lines.order_by().values_list("doc_id", flat=True).distinct()
    return pl.Series(list(ids), dtype=pl.String)


def _unknown_topics(qrel_set: QrelSet) -> str:
    task_topics, topics = topic_ids(qrel_set.task), version_topics(qrel_set)
    unknown = {topic.topic: topic.total for topic in topics if topic.topic not in task_topics}
    if not unknown:
        return ""
    lines = counted(sum(unknown.values()), "line")
    return (
        f"{len(unknown):,} of {qrel_set.topics:,} topics ({lines}) are not in the task, such as "
        f"{name_list(list(unknown))}. No run has items for them. Load these topics, or load the "
        "qrels without them under a new name."
    )


def _not_one(qrel_set: QrelSet) -> str:
    """Return a sentence if a topic of a known-item task has not one relevant item (003 §4)."""
    is_known_item = qrel_set.task.protocol.pool.method == "none"
    others = [one.topic for one in version_topics(qrel_set) if is_known_item and one.relevant != 1]
    if not others:
        return ""
    return (
        f"{counted(len(others), 'topic has', 'topics have')} none or several relevant items, such "
        f"as {name_list(others)}. A topic of a known-item task has one. Check the file, and load "
        "the corrected one under a new name."
    )


def _unjoined_items(qrel_set: QrelSet) -> str:
    """Return a sentence if too few items are in the collection or in runs.

    Items of a complete collection or a run are known. A sample and runs suggest that all is well
    as soon as one item joins.
    """
    task, items = qrel_set.task, ItemKind(qrel_set.items)
    source = id_source(task.lab, items)
    enough = MUCH * qrel_set.lines if source and source.is_complete else qrel_set.lines - 1
    # Those withdrawn since too, because their items were pooled.
    valid = Run.objects.submitted().filter(task=task, status=Run.Status.VALID).order_by("pk")
    runs = [run for run in valid if run_items(run, task) == items]

    def compute() -> str:
        unjoined = qrels_frame(qrel_set)
        if source:
            unjoined = unjoined.filter(
                ~pl.col("item").is_in(known_ids(source, unjoined["item"]).implode())
            )
        for run in runs:
            if unjoined.height <= enough:
                break
            unjoined = (
                unjoined.lazy()
                .join(scan_columns(run.index), on=["topic", "item"], how="anti")
                .collect()
            )
        if unjoined.height <= enough or not (source or runs):
            return ""
        has_collection = source is not None
        return _unjoined_sentence(qrel_set, unjoined, has_collection=has_collection, runs=len(runs))

    # Versions and files never change.
    indexes = [run.index.name for run in runs]
    key = key_of("unjoined", qrel_set.pk, qrel_set.sha256, qrel_set.items, source, indexes)
    return cached_value(key, compute, work=READING * qrel_set.lines)


def _unjoined_sentence(
    qrel_set: QrelSet, unjoined: pl.DataFrame, *, has_collection: bool, runs: int
) -> str:
    label = Task.Items(qrel_set.items).label
    places = ["in the collection"] * has_collection
    places += [f"in the task's {counted(runs, 'run')}"] * bool(runs)
    examples = name_list(unjoined.sort("topic", "item")["item"].to_list())
    if unjoined.height == qrel_set.lines:
        lines = counted(unjoined.height, "line")
        start = f"none of the {label} on its {lines} is {' or '.join(places)}"
        return f"{start}, such as {examples}. No run gets a label. {_CHECK.format(label=label)}"
    start = f"the {label} on {unjoined.height:,} of its {qrel_set.lines:,} lines are "
    neither = f"neither {' nor '.join(places)}" if len(places) > 1 else f"not {places[0]}"
    return f"{start}{neither}, such as {examples}. {_CHECK.format(label=label)}"


def _unjoined_answers(qrel_set: QrelSet) -> str:
    """Return a sentence on answers (Task 3) that join no run.

    They join by the ids of published answers, or as RUN_ID:TOPIC.
    """
    qrels = qrels_frame(qrel_set)
    published = AnswerId.objects.filter(task=qrel_set.task_id).values_list("query_id", "answer_id")
    runs = Run.objects.filter(task=qrel_set.task_id).exclude(identifier="")
    names = set(runs.values_list("identifier", flat=True))
    published_ids = set(published)
    unknown = [
        item
        for topic, item in qrels.select("topic", "item").iter_rows()
        if (topic, item) not in published_ids
        and not (item.endswith(f":{topic}") and item.removesuffix(f":{topic}") in names)
    ]
    if not unknown:
        return ""
    return (
        f"{len(unknown):,} of {qrels.height:,} answers join no run, such as {unknown[0]}. Runs get "
        "no labels for them. If the qrels have ids of their own, load the file that joins them to "
        "runs with answer_ids in lab.toml. If they name runs (RUN_ID:TOPIC), submit these runs "
        "with these tags."
    )
