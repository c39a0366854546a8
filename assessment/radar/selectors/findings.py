"""The findings of the radar in the judgments of a task."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import polars as pl
from django.db.models import QuerySet

from arqkit.judgments.findings import DRIFTS, FindingKind, RadarFinding
from arqkit.judgments.radar import contradictions, find_all
from arqkit.labels import LabelScale
from arqlab.core.models import Task, User
from assessment.models import DismissedFinding
from assessment.qrels.selectors.drafts import task_scale
from assessment.radar.selectors.judged import judged_twice, read_judged

KIND_WORDS = {
    FindingKind.SERVED_TWICE: "Item served twice",
    FindingKind.VISUAL_ID: "Same formula",
    FindingKind.DUPLICATES: "Duplicate posts",
    FindingKind.FAST_SERIES: "Very fast series",
    FindingKind.LABEL_DRIFT: "Drift of labels",
    FindingKind.PACE_DRIFT: "Drift of pace",
}
LIST_SCHEMA = {
    "key": pl.String,
    "kind": pl.String,
    "assessor": pl.String,
    "topic": pl.String,
    "summary": pl.String,
    "judgments": pl.Int64,
}


def findings_of(task: Task) -> list[RadarFinding]:
    """Return the findings in the official judgments of a task, contradictions first.

    Items that were served twice are in a round of second judgments.
    """
    scale = task_scale(task)
    judged = read_judged(task, scale)
    twice = judged_twice(task, scale, judged)
    return [
        *contradictions(twice, by="doc_id", kind=FindingKind.SERVED_TWICE),
        *find_all(judged, relevant_from=task.protocol.relevant_from),
    ]


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
