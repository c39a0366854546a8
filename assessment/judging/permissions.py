"""Permissions of judging. A topic a user may not judge is 404."""

from __future__ import annotations

from django.http import Http404

from arqlab.core.models import Topic, Visitor
from assessment.judging.selectors.progress import assigned_topics


def assigned_topic_or_404(user: Visitor, lab_slug: str, task_slug: str, query_id: str) -> Topic:
    """Return the topic with its task and lab, or 404 if the user is not its assessor."""
    wanted = {"query_id": query_id, "task__slug": task_slug, "task__lab__slug": lab_slug}
    topic = (
        assigned_topics(user).select_related("task__lab").filter(**wanted).first()
        if "\0" not in query_id
        else None
    )
    if topic is None:
        raise Http404
    return topic
