"""The groups of a task's topics by their public information."""

from __future__ import annotations

from arqkit.records import TaskKind
from arqkit.topics import info_fields
from arqlab.core.models import Task, Topic
from arqlab.core.selectors import PUBLIC_INFO

FREE_TEXT = ("elements",)
"""Information that makes no groups."""


def topic_attributes(task: Task) -> dict[str, dict[str, str]]:
    """Return the attributes by which topics can be grouped: values by topic, for each attribute.

    Attributes that no topic has are left out.
    """
    topics = Topic.objects.filter(task=task).only("query_id", "info", "info_edits")
    facts = {topic.query_id: topic.facts for topic in topics}
    found = {
        name: {topic: values[name] for topic, values in facts.items() if values.get(name)}
        for name in PUBLIC_INFO
        if name not in FREE_TEXT
    }
    return {name: values for name, values in found.items() if values}


def usual_values(attribute: str) -> tuple[str, ...]:
    """Return the usual values of an attribute in their order, such as easy, medium and hard."""
    kinds = [info_fields(TaskKind(kind)) for kind in Task.Kind.values]
    return next((fields[attribute] for fields in kinds if attribute in fields), ())
