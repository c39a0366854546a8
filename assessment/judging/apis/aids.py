"""The API of reading aids: what the page loads after an item is shown, or on demand."""

from __future__ import annotations

from typing import Any

from django.http import Http404
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from assessment.judging.apis import responses
from assessment.judging.apis.requests import LARGEST_ID
from assessment.judging.apis.views import JudgingApi
from assessment.judging.selectors.items import TopicPath
from assessment.judging.selectors.places import judging_address
from assessment.judging.selectors.related import recent_comments, related_labels
from assessment.models import Judgment


@extend_schema(tags=["judging"])
class RelatedLabelsApi(JudgingApi):
    """The assessor's own labels of items with the same thread or formula."""

    @extend_schema(responses={200: responses.RelatedLabelsSerializer, **responses.REFUSALS})
    def get(self, request: Request, item: int, **path: str) -> Response:
        """List the assessor's own current labels of related items.

        `threads` are other items of the topic in the thread of an instance, `formula` is the
        formula of the item in other topics.
        """
        place = self.require_place()
        known = item <= LARGEST_ID
        found = related_labels(item, place=place, user=self.person) if known else None
        if found is None:
            raise Http404
        threads = [
            {"instance": instance, "labels": [_label(one, place.path) for one in labels]}
            for instance, labels in found.threads.items()
        ]
        formula = [
            _label(one, place.path._replace(query_id=one.instance.item.topic.query_id))
            for one in found.formula
        ]
        return Response({"threads": threads, "formula": formula})


@extend_schema(tags=["judging"])
class RecentCommentsApi(JudgingApi):
    """The assessor's own recent comments."""

    @extend_schema(responses={200: responses.RecentCommentsSerializer, **responses.REFUSALS})
    def get(self, request: Request, **path: str) -> Response:
        """List the assessor's last different comments in the task, newest first."""
        task = self.require_place().task
        return Response({"comments": recent_comments(task.pk, self.person.pk)})


def _label(judgment: Judgment, path: TopicPath) -> dict[str, Any]:
    item = judgment.instance.item
    return {
        "item": item.pk,
        "topic": path.query_id,
        "position": item.position,
        "label": judgment.label,
        "url": f"{judging_address(path)}?item={item.pk}",
    }
