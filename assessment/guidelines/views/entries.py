"""The pages on which organizers collect examples and cases, and publish them together."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from arqkit.records import TaskKind
from arqkit.texts.posts.queries import parse_query
from arqlab.core.errors import UserError
from arqlab.core.models import Task, User
from arqlab.core.permissions import organized_task_or_404, signed_in
from assessment.guidelines.forms import EntryForm
from assessment.guidelines.selectors.entries import entries_of, version_of, waiting_entries
from assessment.guidelines.selectors.versions import current_guideline, guideline_text
from assessment.guidelines.services.entries import keep_entry, remove_entry
from assessment.guidelines.services.entry_items import find_entry_item, formulas_of_post
from assessment.guidelines.services.rendering import shown_entries
from assessment.guidelines.services.versions import write_guideline
from assessment.models import GuidelineEntry
from assessment.qrels.selectors.drafts import task_scale
from collection.selectors.collections import collection_of
from collection.services.lookup import look_up

KINDS = (GuidelineEntry.Kind.EXAMPLE, GuidelineEntry.Kind.CASE)


@require_http_methods(["GET", "HEAD", "POST"])
def guideline_entry_list(request: HttpRequest, lab: str, task: str) -> HttpResponse:
    """Show the examples and cases of the next and the current version, and publish or change them.

    A POST request has the key of an entry to `remove` or `keep`, or publishes the next version.
    """
    found = organized_task_or_404(request.user, lab, task)
    if request.method == "POST":
        try:
            messages.success(request, _change(found, request, by=signed_in(request)))
        except UserError as error:
            messages.error(request, error.message)
        return redirect("assessment:guideline-entry-list", lab=lab, task=task)
    waiting, version = waiting_entries(found), version_of(current_guideline(found))
    scale = task_scale(found)
    current = entries_of(found, version).filter(until=None) if version else ()
    context = {
        "task": found,
        "lab": found.lab,
        "version": version,
        "added": shown_entries(waiting.added, scale=scale),
        "removed": shown_entries(waiting.removed, scale=scale),
        "current": shown_entries(current, scale=scale),
        "organizes": True,
    }
    return render(request, "assessment/guideline_entry_list.html", context)


def _change(task: Task, request: HttpRequest, *, by: User) -> str:
    """Do what a request asks for, and return the message about it."""
    for name, change in (("remove", remove_entry), ("keep", keep_entry)):
        key = request.POST.get(name, "")
        if key.isascii() and key.isdigit() and len(key) < 19:
            change(entry=get_object_or_404(task.guideline_entries, pk=key), by=by)
            return "Saved for the next version."
    newest = current_guideline(task)
    text, after = guideline_text(task, newest), version_of(newest)
    made = write_guideline(task=task, text=text, at=timezone.now(), by=by, after=after)
    return f"Assessors now follow version {made.version}."


@require_http_methods(["GET", "HEAD", "POST"])
def guideline_entry_add(request: HttpRequest, lab: str, task: str) -> HttpResponse:
    """Search an item, and add an example of a label, or with `kind=case` a decided case."""
    found = organized_task_or_404(request.user, lab, task)
    kind = KINDS[request.GET.get("kind") == GuidelineEntry.Kind.CASE]
    initial = {name: request.GET.get(name, "") for name in ("topic", "item")}
    form = EntryForm(request.POST or None, task=found, kind=kind, initial=initial)
    if request.method == "POST" and form.is_valid():
        try:
            form.save(at=timezone.now(), by=signed_in(request))
        except UserError as error:
            form.add_error("item" if error.code == "unknown-item" else None, error.message)
        else:
            messages.success(request, "Collected for the next version. Publish it when ready.")
            return redirect("assessment:guideline-entry-list", lab=lab, task=task)
    context = {"task": found, "lab": found.lab, "form": form, "kind": kind, "organizes": True}
    context |= _found_items(found, request.GET.get("q", ""), request.GET.get("page"))
    context |= _chosen_item(found, initial["item"], request.GET.get("post", ""))
    return render(request, "assessment/guideline_entry_add.html", context)


def _found_items(task: Task, words: str, page: str | None) -> dict[str, Any]:
    """Return the posts of the lab's collection that match a search."""
    collection = collection_of(task.lab)
    query = parse_query(words)
    if collection is None or query.is_empty:
        return {"q": words, "collection": collection}
    found = look_up(collection=collection, query=query, page=page)
    return {"q": words, "collection": collection, "found": found}


def _chosen_item(task: Task, item: str, post_id: str) -> dict[str, Any]:
    """Return the chosen item as in an entry, or the formulas of the chosen post to choose from."""
    is_formula = task.kind == TaskKind.FORMULAS
    chosen: dict[str, Any] = {"is_formula": is_formula}
    if is_formula and post_id:
        chosen["formulas"] = formulas_of_post(task, post_id)
    if item:
        try:
            fields = find_entry_item(task, topic=None, item=item)._asdict()
        except UserError as error:
            return chosen | {"refusal": error.message}
        entry = GuidelineEntry(task=task, kind=GuidelineEntry.Kind.EXAMPLE, since=1, **fields)
        [chosen["shown"]] = shown_entries([entry], scale=task_scale(task))
    return chosen
