"""The number of unread notices, on every page."""

from __future__ import annotations

from typing import Any

from django import template
from django.utils import timezone

from arqlab.notices.services.reading import mark_opened

register = template.Library()


@register.simple_tag(takes_context=True)
def unread_notices_count(context: dict[str, Any]) -> int:
    """Return how many notices the user has not opened.

    A page that notices lead to opens them, also if the user followed the link in an email.
    """
    request = context["request"]
    return mark_opened(user=request.user, path=request.path, at=timezone.now())
