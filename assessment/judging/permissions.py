"""Permissions of judging. A topic a user may not judge is 404."""

from __future__ import annotations

from django.http import Http404

from arqlab.core.models import Visitor
from assessment.judging.selectors.items import TopicPath
from assessment.judging.selectors.places import Place, place_of


def place_or_404(user: Visitor, path: TopicPath) -> Place:
    """Return where a user judges, or 404 if they do not judge the topic there."""
    place = place_of(user, path)
    if place is None:
        raise Http404
    return place
