"""The tags that join apps, in every template: links to pages of other apps, and their parts."""

from django import template
from django.template import Context
from django.template.loader import render_to_string
from django.utils.safestring import SafeString, mark_safe

from arqlab.web import url_of
from arqlab.web.parts import PARTS

register = template.Library()
register.simple_tag(url_of)


@register.simple_tag(takes_context=True)
def parts(context: Context, place: str, subject: object) -> SafeString:
    """Return what the installed apps add at a place of a page about a subject."""
    request = context["request"]
    shown = [(part.template, part.context(request, subject)) for part in PARTS.get(place, ())]
    texts = [render_to_string(name, dict(facts), request) for name, facts in shown if facts]
    return mark_safe("".join(texts))  # noqa: S308  # rendered templates
