"""The judgments that the radar shows, with their history."""

from __future__ import annotations

from collections.abc import Iterable

from django.db.models import QuerySet

from arqkit.judgments.findings import DRIFTS, RadarFinding
from arqkit.labels import LabelScale, ScaleLabel
from arqlab.core.models import Task
from assessment.models import Judgment


def judgments_of_finding(task: Task, finding: RadarFinding) -> QuerySet[Judgment]:
    """Return the current judgments of a finding with their items, in the order of judging."""
    known = Judgment.objects.filter(assessor=finding.assessor, is_current=True)
    if finding.kind in DRIFTS:  # about all their judgments
        found = known.filter(instance__item__pool__task=task, instance__item__assessor=None)
    else:
        found = known.filter(instance__in=finding.instances)
    return found.select_related("instance__item__topic", "instance__item__pool").defer(
        "instance__item__text", "instance__item__pool__runs", "instance__item__pool__settings"
    )


def earlier_labels(
    judgments: Iterable[Judgment], *, scale: LabelScale
) -> dict[int, list[ScaleLabel]]:
    """Return the labels that others replaced, by instance and oldest first, in one query."""
    instances = [one.instance_id for one in judgments]
    before = Judgment.objects.filter(instance__in=instances, is_current=False).order_by("pk")
    found: dict[int, list[ScaleLabel]] = {}
    for instance, label in before.values_list("instance", "label"):
        found.setdefault(instance, []).append(scale.of(label))
    return found
