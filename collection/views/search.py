"""The page on which organizers and assessors search posts and formulas."""

from __future__ import annotations

import time
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.cache import patch_vary_headers
from django.views.decorators.http import require_safe

from arqlab.core.models import Lab
from arqlab.core.permissions import looked_up_lab_or_404
from collection.forms import LookUpForm
from collection.selectors.collections import collection_of
from collection.services.lookup import IdMatch, SearchResults, look_up


@require_safe
def post_list(request: HttpRequest, lab: str) -> HttpResponse:
    """Show the search of the lab's collection.

    With `pane=1`, or for htmx, return only the form and the results.
    """
    found = looked_up_lab_or_404(request.user, lab)
    form = LookUpForm(request.GET or None)
    context: dict[str, Any] = {"lab": found, "form": form, "collection": collection_of(found)}
    context["in_pane"] = request.GET.get("pane") == "1"
    if context["collection"] and request.GET:
        started = time.perf_counter()
        query = form.query()
        context |= {"query": query, "asked": not query.is_empty}
        context["found"] = look_up(
            collection=context["collection"], query=query, page=request.GET.get("page")
        )
        context["milliseconds"] = max(1, round(1000 * (time.perf_counter() - started)))
        if (
            only := _only_known(found, context["found"], is_named=len(query.ids) == 1)
        ) and not context["in_pane"]:
            return redirect(only)
    is_part = context["in_pane"] or _wants_part(request)
    response = render(
        request, "collection/_lookup.html" if is_part else "collection/post_list.html", context
    )
    # A browser must not mix up the page and the fragment, which share a URL.
    patch_vary_headers(response, ["HX-Request", "HX-History-Restore-Request"])
    return response


def _wants_part(request: HttpRequest) -> bool:
    """Return whether htmx requests a fragment; for history navigation, it requests the page."""
    asks = request.headers.get("HX-Request") == "true"
    return asks and request.headers.get("HX-History-Restore-Request") != "true"


def _only_known(lab: Lab, found: SearchResults, *, is_named: bool) -> str | None:
    """Return the URL of the only result of an id query such as `post:12345`, or None."""
    if not is_named or len(found.known) != 1 or found.results:
        return None
    return address_of(lab, found.known[0])


def address_of(lab: Lab, known: IdMatch) -> str:
    """Return the URL of a post or a formula."""
    if known.kind == "post":
        return (
            reverse("collection:post-detail", args=[lab.slug, known.number])
            + f"#post-{known.number}"
        )
    return reverse("collection:formula-detail", args=[lab.slug, known.visual_id])
