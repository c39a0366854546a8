"""The tabs of labs and tasks, on every page of one of them."""

from typing import Any, NamedTuple

from django import template
from django.http import HttpRequest
from django.urls import reverse

from arqlab.core.models import Lab, Task
from arqlab.core.selectors import LabRoles, roles_in
from arqlab.web.pages import Page, page_of

register = template.Library()


# The chapters of pages that are not only for organizers, by section.
CHAPTERS = {"judging": "assessor.html", "leaderboard": "results.html", "runs": "team.html"}


class Tab(NamedTuple):
    """A tab: its section, its words and its address."""

    section: str
    words: str
    address: str


@register.inclusion_tag("components/tabs.html", takes_context=True)
def lab_tabs(context: dict[str, Any]) -> dict[str, Any]:
    """Return the tabs of the page's task, or of its lab, that the user may open."""
    lab, task, request = context.get("lab"), context.get("task"), context.get("request")
    if not isinstance(lab, Lab) or not isinstance(request, HttpRequest):
        return {"tabs": []}
    standing = context.get("standing") or roles_in(request.user, lab)
    if not (lab.is_public or standing.is_somebody):
        return {"tabs": []}  # such as the invitation to a team of a draft
    page_task = task if isinstance(task, Task) else None
    return {
        "tabs": task_tabs(lab, page_task, standing) if page_task else tabs_of_lab(lab, standing),
        "section": context.get("section", page_of(request).section),
        "here": request.path,
        "name": page_task.name if page_task else lab.name,
    }


@register.simple_tag(takes_context=True)
def guide_address(context: dict[str, Any]) -> str:
    """Return the address of the chapter of the guides about the page.

    A page that only organizers open has the section of their guide with the name of its tab.
    """
    page = page_of(context["request"]) if "request" in context else Page()
    is_theirs = page.access is not None and page.access.__name__.startswith("organized_")
    chapter = page.guide or CHAPTERS.get(page.section, "")
    if page.section and not page.guide and (is_theirs or not chapter):
        chapter = f"organizer.html#{page.section}"
    return reverse("core:guide-file", args=["index.html"]).replace("index.html", chapter)


def task_tabs(lab: Lab, task: Task, standing: LabRoles) -> list[Tab]:
    """Return the tabs of a task."""
    pages = [("overview", "Overview", "desk:task-detail"), ("topics", "Topics", "core:topic-list")]
    if standing.organizes or standing.teams:
        pages.append(("runs", "Runs", "submissions:run-list"))
    if standing.organizes:
        pages.append(("pools", "Pools", "assessment:pool-list"))
        pages.append(("judging", "Judging", "assessment:assignment-list"))
        pages.append(("rounds", "Rounds", "assessment:round-list"))
        pages.append(("qrels", "Qrels", "assessment:qrels-list"))
    pages.append(("leaderboard", "Leaderboard", "evaluation:leaderboard"))
    if standing.organizes:
        pages.append(("settings", "Settings", "core:task-edit"))
    tabs = [
        Tab(section, words, reverse(name, args=[lab.slug, task.slug]))
        for section, words, name in pages
    ]
    if standing.assesses and not standing.organizes:
        own = Tab("judging", "Judging", reverse("assessment:judging-home", args=[lab.slug]))
        tabs.insert(-1, own)
    return tabs


def tabs_of_lab(lab: Lab, standing: LabRoles) -> list[Tab]:
    """Return the tabs of a lab."""
    pages = [("overview", "Overview", "desk:lab-detail")]
    if standing.assesses or standing.organizes:
        pages.append(("judging", "Judging", "assessment:judging-home"))
        pages.append(("search", "Search", "collection:post-list"))
    if standing.organizes:
        pages.append(("collection", "Collection", "collection:collection-detail"))
        pages.append(("people", "People", "core:people-list"))
        pages.append(("messages", "Messages", "notices:message-list"))
        pages.append(("tickets", "Tickets", "assessment:ticket-list"))
        pages.append(("audit", "Audit log", "core:audit-list"))
        pages.append(("settings", "Settings", "core:lab-edit"))
    return [Tab(section, words, reverse(name, args=[lab.slug])) for section, words, name in pages]
