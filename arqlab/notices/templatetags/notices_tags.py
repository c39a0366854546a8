"""The number of unread notices, on every page."""

from functools import partial

from django import template
from django.template import Context
from django.urls import reverse
from django.utils import timezone

from arqlab.core.visits import Visit, after_visit
from arqlab.notices.services.notifying import mark_read

register = template.Library()


@register.simple_tag(takes_context=True)
def unread_notices_count(context: Context) -> int:
    """Return how many notices the user has not opened.

    The page of a notice and the page that it leads to open it, also if the user followed the link
    in an email.
    """
    request = context["request"]
    unread = list(request.user.notices.unread().values_list("pk", "path"))
    opened = [
        pk
        for pk, link in unread
        if request.path in (link.partition("#")[0], reverse("notices:notice-detail", args=[pk]))
    ]
    if opened:
        write = partial(mark_read, notices=opened, at=timezone.now())
        after_visit(request, Visit.NOTICES, write)
    return len(unread) - len(opened)
