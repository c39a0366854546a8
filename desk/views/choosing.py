"""The pages that list topic candidates and make topics of the chosen ones."""

from typing import NamedTuple

import polars as pl
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils import timezone

from arqkit.formats.tables import zip_chunks
from arqkit.formats.topics.chosen_questions import ChosenQuestion, read_chosen
from arqkit.records import FileRefusedError
from arqlab.core.models import Job, Lab, Visitor
from arqlab.core.views import signed_in
from arqlab.jobs.tasks import queue_job
from arqlab.web import Pages, file_response, problem_table, table_response
from collection.selectors.threads import posts_of
from collection.services.rendering import typeset_titles
from collection.services.topic_making import make_topic_files
from desk.forms.loads import ChosenForm
from desk.permissions import job_or_404
from desk.services.loaders import (
    candidates_file,
    collection_to_choose_from,
    load_topic_files,
    read_candidates,
)

SHOWN = 500
"""The candidates in the table; the CSV list has all of them."""


class Candidates(NamedTuple):
    """A finished load that listed topic candidates, and its lab."""

    load: Job
    lab: Lab


def candidates_or_404(user: Visitor, load_id: int) -> Candidates:
    """Return the candidates of a load that the user may see, or raise `Http404`."""
    load = job_or_404(user, load_id)
    is_listed = load.kind == "candidates" and load.state == Job.State.DONE
    if load.lab is None or not is_listed:
        raise Http404
    return Candidates(load, load.lab)


pages = Pages("loads/<number:load>/", candidates_or_404, section="topics")


@pages.form("topics/", "topic-choose")
def topic_choose(request: HttpRequest, candidates: Candidates) -> HttpResponseBase:
    """Show the candidates of a load, and make topics of the chosen ones."""
    load, lab = candidates
    rows = read_candidates(load)
    form = ChosenForm(
        request.POST or None,
        request.FILES or None,
        lab=lab,
        candidates=[row["post_id"] for row in rows],
    )
    first = rows[:SHOWN]
    titles = typeset_titles(posts_of(lab, [row["post_id"] for row in first]).values())
    for row in first:
        row["title_html"] = titles.get(row["post_id"], "")
    context = {"load": load, "lab": lab, "form": form, "rows": first, "total": len(rows)}
    if request.method == "POST" and form.is_valid():
        try:
            return _make_topics(request, lab, form)
        except FileRefusedError as refused:
            context["problems"] = refused.problems
            context["problem_table"] = problem_table(refused.problems)
    return render(request, "desk/topic_choose.html", context)


@pages.read("candidates.csv", "candidate-list", section="")
def candidate_list(request: HttpRequest, candidates: Candidates) -> HttpResponse:
    """Return the list of candidates as CSV."""
    table = pl.read_csv(candidates_file(candidates.load), infer_schema=False)
    return table_response(table, "candidates.csv")


def _make_topics(request: HttpRequest, lab: Lab, form: ChosenForm) -> HttpResponseBase:
    """Make the topics and download them, or load them into the chosen tasks."""
    cleaned = form.cleaned_data
    file = cleaned["file"]
    path = file.name if file else "the chosen questions"
    if file:
        sources = read_chosen(file.read(), path=path)
    else:
        posts = enumerate(cleaned["posts"], start=2)
        sources = [ChosenQuestion(line, post, "", "", {}) for line, post in posts]
    collection, first = collection_to_choose_from(lab), cleaned["first"]
    topic_files = make_topic_files(collection=collection, sources=sources, first=first, path=path)
    if "download" in request.POST:
        return file_response(zip_chunks(topic_files.files.items()), "topics.zip")
    for topic in topic_files.without_formula:
        messages.warning(request, f"{topic} has no formula, so it has no topic in formula tasks.")
    by, at = signed_in(request), timezone.now()
    tasks = filter(None, (cleaned["questions"], cleaned["formulas"]))
    loads = [load_topic_files(topic_files=topic_files, task=task, at=at, by=by) for task in tasks]
    for load in loads:
        queue_job(load)
    return redirect(loads[0])
