"""The tabs of labs and tasks, on every page of one of them."""

from functools import cache
from typing import NamedTuple

from django import template
from django.http import HttpRequest
from django.template import Context
from django.urls import reverse

from arqlab.core.models import Lab, Task
from arqlab.labs.selectors import LabRoles, roles_in
from arqlab.web import url_of
from arqlab.web.pages import Page, page_of
from arqlab.web.places import tabs_of

register = template.Library()


class ShownTab(NamedTuple):
    """A tab: its section, its words and its address."""

    section: str
    words: str
    address: str


@register.inclusion_tag("components/tabs.html", takes_context=True)
def lab_tabs(context: Context) -> dict[str, object]:
    """Return the tabs of the page's task, or of its lab, that the user may open."""
    lab, task, request = context.get("lab"), context.get("task"), context.get("request")
    if not isinstance(lab, Lab) or not isinstance(request, HttpRequest):
        return {"tabs": []}
    standing = context.get("standing") or roles_in(request.user, lab)
    if not (lab.is_public or standing.is_somebody):
        return {"tabs": []}  # such as the invitation to a team of a draft
    page_task = task if isinstance(task, Task) else None
    return {
        "tabs": _shown(lab, page_task, standing),
        "section": context.get("section", page_of(request).section),
        "here": request.path,
        "name": page_task.name if page_task else lab.name,
        "only_observes": standing.only_observes,
    }


@register.simple_tag(takes_context=True)
def guide_address(context: Context) -> str:
    """Return the address of the chapter of the guides about the page.

    A page that only organizers open has the section of their guide with the name of its tab.
    """
    page = page_of(context["request"]) if "request" in context else Page()
    is_theirs = getattr(page.access, "is_for_organizers", False)
    chapter = page.guide or _chapters().get(page.section, "")
    if page.section and not page.guide and (is_theirs or not chapter):
        chapter = f"organizer.html#{page.section}"
    return url_of("guide", "index.html").replace("index.html", chapter)


@cache
def _chapters() -> dict[str, str]:
    """Return the chapters of pages that not only organizers open, by section."""
    tabs = [*tabs_of("lab"), *tabs_of("task")]
    return {page.section: tab.guide for (page, _, _), tab in tabs if tab.guide}


def _shown(lab: Lab, task: Task | None, standing: LabRoles) -> list[ShownTab]:
    """Return the tabs of a lab, or of a task of it, that the user sees."""
    place = {"lab": lab.slug, "task": task.slug if task else ""}
    return [
        ShownTab(
            page.section,
            tab.words,
            reverse(view, kwargs={name: place[name] for name in placeholders}),
        )
        for (page, view, placeholders), tab in tabs_of("task" if task else "lab")
        if tab.seen(standing)
    ]
