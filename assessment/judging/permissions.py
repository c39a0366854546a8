"""Permissions of judging. A topic a user may not judge is 404."""

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


def official_place_or_404(user: Visitor, lab_slug: str, task_slug: str, query_id: str) -> Place:
    """Return where a user judges a topic of the official round, or 404."""
    return place_or_404(user, TopicPath(lab_slug, task_slug, query_id))


def round_place_or_404(
    user: Visitor, lab_slug: str, task_slug: str, round_key: str, query_id: str
) -> Place:
    """Return where a user judges a topic of another round, or 404."""
    return place_or_404(user, TopicPath(lab_slug, task_slug, query_id, round_key))
