"""The findings of the radar in the judgments of a task."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import polars as pl
from django.db.models import QuerySet

from arqlab.core.models import Task, User
from arqlab.ir.judgments.findings import RADAR_SCHEMA, FindingKind, RadarFinding
from arqlab.ir.judgments.radar import find_all
from arqlab.ir.labels import LabelScale, ScaleLabel
from assessment.models import DismissedFinding, DuplicatePosts, Judgment, PoolItem
from assessment.qrels.selectors.drafts import task_scale

KIND_WORDS = {
    FindingKind.SERVED_TWICE: "Item served twice",
    FindingKind.VISUAL_ID: "Same formula",
    FindingKind.DUPLICATES: "Duplicate posts",
    FindingKind.FAST_SERIES: "Very fast series",
    FindingKind.LABEL_DRIFT: "Drift of labels",
    FindingKind.PACE_DRIFT: "Drift of pace",
}
DRIFTS = (FindingKind.LABEL_DRIFT, FindingKind.PACE_DRIFT)
LIST_SCHEMA = {
    "key": pl.String,
    "kind": pl.String,
    "assessor": pl.String,
    "topic": pl.String,
    "summary": pl.String,
    "judgments": pl.Int64,
}
_FIELDS = {
    "assessor": "assessor_id",
    "topic": "instance__item__topic_id",
    "pool": "instance__item__pool_id",
    "item": "instance__item_id",
    "instance": "instance_id",
    "visual_id": "instance__item__item",
    "doc_id": "instance__doc_id",
    "post": "instance__post_id",
    "label": "label",
    "active_ms": "active_ms",
    "is_imported": "is_imported",
    "kind": "instance__item__kind",
}


def findings_of(task: Task) -> list[RadarFinding]:
    """Return the findings of a task, contradictions first, in four queries."""
    stored = DuplicatePosts.objects.filter(task=task).values_list("groups", flat=True).first()
    posts = {post: group[0] for group in stored or () for post in group}
    judged = _judged(task, task_scale(task))
    return find_all(judged, relevant_from=task.protocol.relevant_from, posts=posts)


def dismissed_keys(task: Task) -> set[str]:
    """Return the keys of the dismissed findings of a task."""
    return set(dismissed_findings(task).values_list("key", flat=True))


def dismissed_findings(task: Task) -> QuerySet[DismissedFinding]:
    """Return the dismissed findings of a task with the people, newest first."""
    found = DismissedFinding.objects.filter(task=task, reopened_at=None)
    return found.select_related("assessor", "dismissed_by").order_by("-dismissed_at", "-pk")


def finding_rows(findings: Iterable[RadarFinding], *, scale: LabelScale) -> pl.DataFrame:
    """Return the rows of findings with the columns of `LIST_SCHEMA`, in one query."""
    known = list(findings)
    people = User.objects.in_bulk({one.assessor for one in known})
    rows = [
        {
            "key": one.key,
            "kind": KIND_WORDS[one.kind],
            "assessor": people[one.assessor].name,
            "topic": one.topic,
            "summary": summary_of(one, scale=scale),
            "judgments": len(one.instances),
        }
        for one in known
    ]
    return pl.DataFrame(rows, schema=LIST_SCHEMA)


def summary_of(finding: RadarFinding, *, scale: LabelScale) -> str:
    """Return a finding as a sentence."""
    facts = finding.facts
    if finding.kind == FindingKind.FAST_SERIES:
        own = f"; the assessor usually takes {facts['own'] / 1000:.0f} s" if facts["own"] else ""
        return (
            f"{facts['items']} items in a row at {facts['median'] / 1000:.1f} s per item (median)"
            f"{own}."
        )
    if finding.kind in DRIFTS:
        return _drift_summary(finding.kind, facts)
    labels = ", ".join(scale.of(label).word for label in facts["labels"])
    if finding.kind == FindingKind.SERVED_TWICE:
        return f"{facts['what']}: {labels}."
    if finding.kind == FindingKind.DUPLICATES:
        return f"Posts with the same text as {facts['what']}: {labels}."
    where = "in one post" if facts["same_post"] else "in different posts, which may explain it"
    return f"Formula {facts['what']}: {labels}, {where}."


def judgments_of_finding(task: Task, finding: RadarFinding) -> QuerySet[Judgment]:
    """Return the current judgments of a finding with their items, in the order of judging."""
    found = Judgment.official.filter(
        assessor=finding.assessor, is_current=True, instance__item__pool__task=task
    )
    if finding.kind not in DRIFTS:  # a drift is about all of them
        found = found.filter(instance__in=finding.instances)
    return found.select_related("instance__item__topic", "instance__item__pool").defer(
        "instance__item__text", "instance__item__pool__runs", "instance__item__pool__settings"
    )


def earlier_labels(
    judgments: Iterable[Judgment], *, scale: LabelScale
) -> dict[int, list[ScaleLabel]]:
    """Return the labels that others replaced, by instance and oldest first, in one query."""
    instances = [one.instance_id for one in judgments]
    before = Judgment.official.filter(instance__in=instances, is_current=False).order_by("pk")
    found: dict[int, list[ScaleLabel]] = {}
    for instance, label in before.values_list("instance", "label"):
        found.setdefault(instance, []).append(scale.of(label))
    return found


def _judged(task: Task, scale: LabelScale) -> pl.DataFrame:
    """Return the current labels that are judgments, in the order in which they were stored."""
    values = [label.value for label in scale.judgments]
    known = Judgment.official.filter(
        instance__item__pool__task=task, is_current=True, assessor__isnull=False, label__in=values
    )
    rows = known.order_by("pk").values_list(*_FIELDS.values())
    # By columns: polars infers nothing.
    columns = zip(*rows, strict=True) if rows else ((),) * len(_FIELDS)
    read = pl.DataFrame(
        dict(zip(_FIELDS, columns, strict=True)),
        schema=RADAR_SCHEMA | {"topic": pl.Int64, "kind": pl.String},
    )
    names = dict(task.topics.values_list("pk", "query_id"))
    return read.with_columns(
        topic=pl.col("topic").replace_strict(names, return_dtype=pl.String),
        visual_id=pl.when(pl.col("kind") == PoolItem.Kind.VISUAL_IDS.value).then("visual_id"),
        post=pl.when(pl.col("post") == "").then("doc_id").otherwise("post"),
    ).drop("kind")


def _drift_summary(kind: FindingKind, facts: Mapping[str, float]) -> str:
    first, last = facts["first"], facts["last"]
    how = f"(r = {facts['correlation']:+.2f})"
    if kind == FindingKind.PACE_DRIFT:
        what = f"{first:.0f} s per item in the first halves of topics, {last:.0f} s"
    else:
        what = f"{first:.0%} relevant in the first halves of topics, {last:.0%}"
    return f"{what} in the second halves {how}."
