"""The findings of the radar in the judgments of a task, and their history."""

from collections.abc import Iterable, Mapping
from typing import TypedDict

import polars as pl
from django.db.models import OuterRef, Q, QuerySet, Subquery

from arqkit.judgments.radar import (
    DRIFTS,
    RADAR_SCHEMA,
    FindingKind,
    RadarFinding,
    contradictions,
    find_all,
)
from arqkit.labels import LabelScale, ScaleLabel
from arqlab.core.models import Task, User
from assessment.models import DismissedFinding, DuplicatePosts, Judgment, Pool, PoolInstance, Round
from assessment.models.kinds import Comparison
from assessment.qrels.selectors.drafts import task_scale
from assessment.qrels.selectors.frames import read_frame

_FIELDS = {
    "assessor": "assessor_id",
    "topic": "instance__item__topic_id",
    "pool": "instance__item__pool_id",
    "item": "instance__item_id",
    "instance": "instance_id",
    "label": "label",
    "active_ms": "active_ms",
    "is_imported": "is_imported",
}
_OF_FORMULAS = {"visual_id": "instance__item__item", "post": "instance__post_id"}
_OF_COPIES = {
    **{name: _FIELDS[name] for name in ("assessor", "topic", "instance", "label")},
    "doc_id": "instance__doc_id",
    "post": "instance__post_id",
    "original": "original",
}

KIND_WORDS = {
    FindingKind.SERVED_TWICE: "Item served twice",
    FindingKind.VISUAL_ID: "Same formula",
    FindingKind.DUPLICATES: "Duplicate posts",
    FindingKind.FAST_SERIES: "Very fast series",
    FindingKind.LABEL_DRIFT: "Drift of labels",
    FindingKind.PACE_DRIFT: "Drift of pace",
}


LIST_SCHEMA = {
    **dict.fromkeys(("key", "kind", "assessor", "topic", "summary"), pl.String),
    "judgments": pl.Int64,
}


class FindingRow(TypedDict):
    """A row of `LIST_SCHEMA`."""

    key: str
    kind: str
    assessor: str
    topic: str
    summary: str
    judgments: int


def read_judged(task: Task, scale: LabelScale) -> pl.DataFrame:
    """Return the current official labels that are judgments, with the columns of `RADAR_SCHEMA`.

    Rows are in the order in which they were stored. Takes three queries. Texts are read for
    formulas only: with 45,000 posts, they would take as long as the numbers.
    """
    fields = _FIELDS | (_OF_FORMULAS if task.kind == Task.Kind.FORMULAS else {})
    official = Judgment.official.filter(instance__item__pool__task=task)
    read = _frame(task, official, scale, fields)
    missing = [pl.lit(None, pl.String).alias(name) for name in RADAR_SCHEMA.keys() - fields.keys()]
    frame = read.with_columns(missing)
    stored = DuplicatePosts.objects.filter(task=task).values_list("groups", flat=True).first()
    # The first of the posts with the same text, by instance.
    if groups := {instance: first for first, instances in stored or () for instance in instances}:
        same = pl.col("instance").replace_strict(groups, default=None, return_dtype=pl.String)
        frame = frame.with_columns(text=same)
    return frame.select(*RADAR_SCHEMA)


def judged_twice(task: Task, scale: LabelScale, judged: pl.DataFrame) -> pl.DataFrame:
    """Return the labels of instances that an assessor judged officially and in a second round.

    `judged` are the official labels. The columns are assessor, topic, doc_id, instance, label and
    post.
    """
    repeated = Q(round__in=Round.objects.that(compares=Comparison.OFFICIAL))
    task_pools = Pool.objects.filter(Q(round=None) | repeated, task=task)
    pools = dict(task_pools.values_list("pk", "round"))
    seconds = [pk for pk, round_id in pools.items() if round_id]
    # By the keys of pools, so that databases find an item by pool, topic and id.
    originals = PoolInstance.official.filter(
        item__pool__in=pools.keys() - set(seconds),
        item__topic=OuterRef("instance__item__topic"),
        item__item=OuterRef("instance__item__item"),
        doc_id=OuterRef("instance__doc_id"),
    ).order_by()
    copies = Judgment.objects.filter(instance__item__pool__in=seconds).annotate(
        original=Subquery(originals.values("pk")[:1])
    )
    again = _frame(task, copies, scale, _OF_COPIES)
    if again.is_empty():
        return again
    again = again.join(
        judged.select("assessor", original="instance"),
        on=["assessor", "original"],
        how="semi",
        maintain_order="left",
    )
    names = again.select("assessor", "doc_id", "post", instance="original").unique()
    before = judged.drop("post").join(names, on=["assessor", "instance"], maintain_order="left")
    columns = ("assessor", "topic", "doc_id", "instance", "label", "post")
    return pl.concat([before.select(columns), again.select(columns)])


def _frame(
    task: Task, judgments: QuerySet[Judgment], scale: LabelScale, fields: Mapping[str, str]
) -> pl.DataFrame:
    """Return the current labels of people that are judgments, in the order of storing."""
    values = [label.value for label in scale.judgments]
    counting = judgments.filter(is_current=True, assessor__isnull=False, label__in=values)
    types = RADAR_SCHEMA | {"topic": pl.Int64, "doc_id": pl.String, "original": pl.Int64}
    schema = {name: types[name] for name in fields}
    frame = read_frame(counting.order_by("pk").values_list(*fields.values()), schema)
    names = dict(task.topics.values_list("pk", "query_id") if frame.height else ())
    return frame.with_columns(
        topic=pl.col("topic").replace_strict(names, default=None, return_dtype=pl.String)
    )


def judgments_of_finding(task: Task, finding: RadarFinding) -> QuerySet[Judgment]:
    """Return the current judgments of a finding with their items, in the order of judging."""
    of_assessor = Judgment.objects.filter(assessor=finding.assessor, is_current=True)
    if finding.kind in DRIFTS:  # about all their judgments
        judgments = of_assessor.filter(
            instance__item__pool__task=task, instance__item__assessor=None
        )
    else:
        judgments = of_assessor.filter(instance__in=finding.instances)
    return judgments.select_related("instance__item__topic", "instance__item__pool").defer(
        "instance__item__text", "instance__item__pool__runs", "instance__item__pool__settings"
    )


def earlier_labels(
    judgments: Iterable[Judgment], *, scale: LabelScale
) -> dict[int, list[ScaleLabel]]:
    """Return the labels that others replaced, by instance and oldest first, in one query."""
    instances = [judgment.instance_id for judgment in judgments]
    before = Judgment.objects.filter(instance__in=instances, is_current=False).order_by("pk")
    labels: dict[int, list[ScaleLabel]] = {}
    for instance, label in before.values_list("instance", "label"):
        labels.setdefault(instance, []).append(scale.of(label))
    return labels


def findings_of(task: Task) -> list[RadarFinding]:
    """Return the findings in the official judgments of a task, contradictions first."""
    scale = task_scale(task)
    judged = read_judged(task, scale)
    twice = judged_twice(task, scale, judged)
    return [
        *contradictions(twice, by="doc_id", kind=FindingKind.SERVED_TWICE),
        *find_all(judged, relevant_from=task.protocol.relevant_in(scale)),
    ]


def dismissed_findings(task: Task) -> QuerySet[DismissedFinding]:
    """Return the dismissed findings of a task with the people, newest first."""
    dismissed = DismissedFinding.objects.filter(task=task, reopened_at=None)
    return dismissed.select_related("assessor", "dismissed_by").order_by("-dismissed_at", "-pk")


def finding_rows(findings: Iterable[RadarFinding], *, scale: LabelScale) -> pl.DataFrame:
    """Return the rows of findings with the columns of `LIST_SCHEMA`, in one query."""
    listed = list(findings)
    people = User.objects.in_bulk({finding.assessor for finding in listed})
    rows = [
        {
            "key": finding.key,
            "kind": KIND_WORDS[finding.kind],
            "assessor": people[finding.assessor].name,
            "topic": finding.topic,
            "summary": summary_of(finding, scale=scale),
            "judgments": len(finding.instances),
        }
        for finding in listed
    ]
    return pl.DataFrame(rows, schema=LIST_SCHEMA)


def summary_of(finding: RadarFinding, *, scale: LabelScale) -> str:
    """Return a finding as a sentence."""
    facts = finding.facts
    if finding.kind == FindingKind.FAST_SERIES:
        usual_pace = (
            f"; the assessor usually takes {facts['own'] / 1000:.0f} s" if facts["own"] else ""
        )
        return (
            f"{facts['items']} items in a row at {facts['median'] / 1000:.1f} s per item (median)"
            f"{usual_pace}."
        )
    if finding.kind in DRIFTS:
        return _drift_summary(finding.kind, facts)
    labels = ", ".join(scale.of(label).word for label in facts["labels"])
    if finding.kind == FindingKind.SERVED_TWICE:
        return f"{facts['what']}: {labels}."
    if finding.kind == FindingKind.DUPLICATES:
        return f"Posts with the same text as {facts['what']}: {labels}."
    if facts["same_post"]:
        return f"Formula {facts['what']}: {labels}. The labels differ within one post."
    return f"Formula {facts['what']}: {labels}. The posts differ, which may explain it."


def _drift_summary(kind: FindingKind, facts: Mapping[str, float]) -> str:
    first, last = facts["first"], facts["last"]
    how = f"(r = {facts['correlation']:+.2f})"
    if kind == FindingKind.PACE_DRIFT:
        what = f"{first:.0f} s per item in the first halves of topics, {last:.0f} s"
    else:
        what = f"{first:.0%} relevant in the first halves of topics, {last:.0%}"
    return f"{what} in the second halves {how}."
