"""The tabs of labs and tasks, on every page of one of them."""

from __future__ import annotations

from typing import Any, NamedTuple

from django import template
from django.http import HttpRequest
from django.urls import ResolverMatch, reverse

from arqlab.core.models import Lab, Task
from arqlab.core.selectors import LabRoles, roles_in

register = template.Library()

# The section of a page by the first word of its URL's name, and where that is not enough by the
# whole name.
SECTIONS = {
    "topic": "topics",
    "run": "runs",
    "pool": "pools",
    "assignment": "judging",
    "bid": "judging",
    "guideline": "judging",
    "radar": "judging",
    "judge": "judging",
    "late": "judging",
    "judging": "judging",
    "judgment": "judging",
    "item": "judging",
    "time": "judging",
    "adjudication": "rounds",
    "second": "rounds",
    "questions": "rounds",
    "round": "rounds",
    "training": "rounds",
    "sample": "rounds",
    "meeting": "rounds",
    "qrels": "qrels",
    "certificate": "qrels",
    "leaderboard": "leaderboard",
    "comparison": "leaderboard",
    "breakdown": "leaderboard",
    "first": "leaderboard",
    "correlation": "leaderboard",
    "progress": "leaderboard",
    "provisional": "leaderboard",
    "paper": "qrels",
    "look": "runs",
    "people": "people",
    "team": "people",
    "collection": "collection",
    "import": "collection",
    "visual": "collection",
    "load": "collection",
    "candidates": "collection",
    "affected": "collection",
    "post": "search",
    "formula": "search",
    "ticket": "tickets",
    "correction": "tickets",
    "message": "messages",
    "invitation": "messages",
    "text": "messages",
    "mail": "messages",
    "audit": "audit",
}
SETTINGS = frozenset(
    {
        "lab-edit",
        "lab-copy",
        "lab-delete",
        "task-create",
        "task-edit",
        "task-delete",
        "ticket-policy",
    }
)
LOADED_ON = {"topics": "topics", "qrels": "qrels", "judgments": "judging"}


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
    found = task if isinstance(task, Task) else None
    return {
        "tabs": task_tabs(lab, found, standing) if found else tabs_of_lab(lab, standing),
        "section": section_of(
            request.resolver_match,
            kind=getattr(context.get("load"), "kind", ""),
            is_task=found is not None,
        ),
        "here": request.path,
        "name": found.name if found else lab.name,
    }


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


def section_of(match: ResolverMatch | None, *, kind: str, is_task: bool) -> str:
    """Return the section of a page; `kind` is that of the page's load."""
    name = (match.url_name if match else "") or ""
    if name in SETTINGS:
        return "settings"
    if match and name in ("task-load", "load-detail"):
        kind = match.kwargs.get("kind", kind)
        return LOADED_ON.get(kind, "" if is_task else "collection")
    return SECTIONS.get(name.partition("-")[0], "overview" if name.endswith("-detail") else "")
