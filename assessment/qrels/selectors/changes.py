"""The judgments that changed the lines of qrels: who changed a label, when and why."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from django.db.models import Q

from arqlab.core.models import Task
from assessment.models import Judgment, QrelSet
from assessment.qrels.selectors.counting import adjudicated_judgments


def changing_judgments(
    task: Task,
    rows: Iterable[Mapping[str, Any]],
    *,
    before: QrelSet | None,
    after: QrelSet | None,
) -> dict[tuple[str, str], Judgment]:
    """Return the newest judgment between two sides with the new label of each line.

    `rows` have topic, item and after: a label, or None for a removed line, whose judgment has a
    label that is not a judgment, such as Do not know. None as a side is the draft. Lines that
    changed for another reason, such as a loaded file, another pool or a topic left out, have no
    judgment.
    """
    labels = {(row["topic"], row["item"]): row["after"] for row in rows}
    items = {item for _, item in labels}
    chosen = Q(instance__doc_id__in=items) | Q(instance__item__item__in=items)
    limits = {
        **_between(before, after),
        "instance__item__pool__task": task,
        "instance__item__topic__query_id__in": {topic for topic, _ in labels},
    }
    related = ("assessor", "supersedes__ticket", "instance__item__pool__round")
    found = [
        one
        for judgments in (Judgment.official.all(), adjudicated_judgments(task))
        for one in judgments.filter(chosen, **limits).select_related(
            *related, "instance__item__topic"
        )
    ]
    side = after or before
    accepted = side.label_scale.unjudged if side else ()
    changes = {}
    for one in sorted(found, key=lambda one: (one.judged_at, one.pk)):
        instance = one.instance
        for item in (instance.doc_id, instance.item.item):
            key = (instance.item.topic.query_id, item)
            if key not in labels:
                continue
            if one.label == labels[key] or (labels[key] is None and one.label in accepted):
                changes[key] = one
    return changes


def _between(before: QrelSet | None, after: QrelSet | None) -> dict[str, datetime]:
    sides = {"judged_at__gt": before, "judged_at__lte": after}
    return {name: side.created_at for name, side in sides.items() if side}
