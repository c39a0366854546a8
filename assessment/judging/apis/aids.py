"""The API of reading aids: what the page loads after an item is shown, or on demand."""

from __future__ import annotations

from typing import Any

from django.http import Http404
from django.urls import reverse
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from assessment.judging.apis import responses
from assessment.judging.apis.requests import LARGEST_ID
from assessment.judging.apis.views import JudgingApi
from assessment.judging.permissions import assigned_topic_or_404
from assessment.judging.selectors.related import recent_comments, related_labels
from assessment.models import Judgment


@extend_schema(tags=["judging"])
class RelatedLabelsApi(JudgingApi):
    """The assessor's own labels of items with the same thread or formula."""

    @extend_schema(responses={200: responses.RelatedLabelsSerializer, **responses.REFUSALS})
    def get(self, request: Request, lab: str, task: str, query_id: str, item: int) -> Response:
        """List the assessor's own current labels of related items.

        `threads` are other items of the topic in the thread of an instance, `formula` is the
        formula of the item in other topics.
        """
        topic = assigned_topic_or_404(self.person, lab, task, query_id)
        known = item <= LARGEST_ID
        found = related_labels(item, topic=topic, user=self.person) if known else None
        if found is None:
            raise Http404
        place = (lab, task)
        threads = [
            {"instance": instance, "labels": [_label(one, query_id, place) for one in labels]}
            for instance, labels in found.threads.items()
        ]
        formula = [_label(one, one.instance.item.topic.query_id, place) for one in found.formula]
        return Response({"threads": threads, "formula": formula})


@extend_schema(tags=["judging"])
class RecentCommentsApi(JudgingApi):
    """The assessor's own recent comments."""

    @extend_schema(responses={200: responses.RecentCommentsSerializer, **responses.REFUSALS})
    def get(self, request: Request, lab: str, task: str, query_id: str) -> Response:
        """List the assessor's last different comments in the task, newest first."""
        topic = assigned_topic_or_404(self.person, lab, task, query_id)
        return Response({"comments": recent_comments(topic.task_id, self.person.pk)})


def _label(judgment: Judgment, query_id: str, place: tuple[str, str]) -> dict[str, Any]:
    item = judgment.instance.item
    address = reverse("assessment:judge", args=[*place, query_id])
    return {
        "item": item.pk,
        "topic": query_id,
        "position": item.position,
        "label": judgment.label,
        "url": f"{address}?item={item.pk}",
    }
