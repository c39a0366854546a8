"""The search of a collection."""

import time
from typing import Any

from django import forms
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.cache import patch_vary_headers

from arqkit.texts.posts.queries import PostQuery, parse_query, with_filters
from arqkit.texts.posts.typed import typed_pieces
from arqlab.core.models import Lab
from arqlab.labs.permissions import looked_up_lab_or_404
from arqlab.web import LAB, Pages, SearchForm, Tab, judges
from collection.selectors.collections import collection_of
from collection.services.addresses import post_url
from collection.services.lookup import IdMatch, look_up

pages = Pages(LAB, section="search")
HTMX = ("HX-Request", "HX-History-Restore-Request")


class LookUpForm(SearchForm):
    """A search box for words, ids, filters and formulas, plus the filters as separate fields."""

    kind = forms.ChoiceField(
        label="Post type",
        required=False,
        choices=[("", "All"), ("question", "Questions"), ("answer", "Answers")],
    )
    tags = forms.CharField(label="Tags", required=False, max_length=200)
    score = forms.IntegerField(
        label="Minimum score", required=False, min_value=-100_000, max_value=1_000_000
    )

    def query(self) -> PostQuery:
        """Return the query. Invalid fields are ignored; the page shows their errors."""
        query, read = parse_query(self.text), self.cleaned_data
        return with_filters(
            query, kind=read.get("kind", ""), tags=read.get("tags", ""), least=read.get("score")
        )


@pages.read(
    "posts/", "post-list", tabs=(Tab("lab", "Search", 30, judges),), access=looked_up_lab_or_404
)
def post_list(request: HttpRequest, lab: Lab) -> HttpResponse:
    """Show the search of the lab's collection; with `pane=1`, or for htmx, its form and results."""
    form = LookUpForm(request.GET or None)
    context: dict[str, Any] = {"form": form, "collection": collection_of(lab)}
    context["in_pane"] = request.GET.get("pane") == "1"
    if context["collection"] and request.GET:
        started = time.perf_counter()
        query = form.query()
        context |= {"query": query, "asked": not query.is_empty}
        context["pieces"] = typed_pieces(form.text)
        context["found"] = look_up(
            collection=context["collection"], query=query, page=request.GET.get("page")
        )
        context["milliseconds"] = max(1, round(1000 * (time.perf_counter() - started)))
        matches, results = context["found"].known, context["found"].results
        is_only = len(query.ids) == len(matches) == 1 and not results  # as of `post:12345`
        if is_only and not context["in_pane"]:
            return redirect(_address_of(lab, matches[0]))
    # For history navigation, htmx asks for the page.
    asks, history = (request.headers.get(name) == "true" for name in HTMX)
    is_part = context["in_pane"] or (asks and not history)
    template = "collection/_lookup.html" if is_part else "collection/post_list.html"
    response = render(request, template, context)
    # A browser must not mix up the page and the fragment, which share a URL.
    patch_vary_headers(response, HTMX)
    return response


def _address_of(lab: Lab, match: IdMatch) -> str:
    """Return the URL of a post or a formula."""
    if match.kind == "post":
        return post_url(lab.slug, match.number)
    return reverse("collection:formula-detail", args=[lab.slug, match.visual_id])
