"""The pages of the organizers' own systems: their baselines, and the search with them."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone

from arqkit.records import TaskKind
from arqkit.texts.posts.text import TextFormula
from arqkit.texts.posts.typed import typed_pieces
from arqlab.core.models import Job, Lab, Task
from arqlab.core.views import refused, signed_in
from arqlab.jobs.tasks import queue_job
from arqlab.labs.permissions import (
    looked_up_lab_or_404,
    may_organize,
    organized_lab_or_404,
    organized_task_or_404,
)
from arqlab.web import LAB, ROWS, Column, Empty, Pages, SearchForm, Table, answer, cells, news
from contrib.retrieval.selectors import Sources
from contrib.retrieval.services.baselines import order_of_combination
from contrib.retrieval.services.offers import Offer, offers_of, order_baseline
from contrib.retrieval.services.searching import (
    HITS,
    IN_PANE,
    KIND,
    Found,
    Side,
    order_indexes,
    search_all,
    searched_task,
)
from contrib.retrieval.services.systems import COMBINATION, METHODS
from submissions.models import Run, RunQuerySet

pages = Pages(LAB, organized_lab_or_404, section="overview")


@pages.form("baselines/", "baseline-list", shows="baselines")
def baseline_list(request: HttpRequest, lab: Lab) -> HttpResponse:
    """Show the systems for each task, and make the baselines that are chosen."""
    by_task = offers_of(lab)
    offers = [offer for _, task_offers in by_task for offer in task_offers]
    if request.method == "POST":
        selected = [o for o in offers if o.is_open and o.name in request.POST.getlist("chosen")]
        for offer in selected:
            queue_job(order_baseline(order=offer.order, at=timezone.now(), by=signed_in(request)))
        if not selected:
            messages.error(request, "Choose the baselines to make.")
        return redirect(request.path)
    jobs, going_on = _jobs(offers), [offer for offer in offers if offer.is_going_on]
    context = {
        "tables": [
            {
                "task": task,
                "systems": _table(task, task_offers),
                "combines": TaskKind(task.kind) in COMBINATION.kinds,
            }
            for task, task_offers in by_task
        ],
        "has_open": any(offer.is_open for offer in offers),
        "jobs": going_on,
        "job": next((job for job in jobs if not job.is_over), next(iter(jobs), None)),
        "seen": ",".join(f"{job.pk}-{job.state}-{job.done}" for job in _jobs(going_on)),
    }
    return news(request, "retrieval/baseline_list.html", context)


class CombinationForm(forms.Form):
    """Two runs of a task, and the way to combine them."""

    first = forms.ModelChoiceField(Run.objects.none(), label="Run", empty_label="Choose a run")
    second = forms.ModelChoiceField(
        Run.objects.none(), label="Other run", empty_label="Choose a run"
    )
    method = forms.ChoiceField(
        label="Method", choices=[(key, method.name) for key, method in METHODS.items()]
    )

    def __init__(self, data: Mapping[str, object] | None = None, *, runs: RunQuerySet) -> None:
        """Offer the runs of the task."""
        super().__init__(data)
        for name in ("first", "second"):
            if isinstance(field := self.fields[name], forms.ModelChoiceField):
                field.queryset = runs


@pages.form(
    "tasks/<slug:task>/combination/", "run-combine", access=organized_task_or_404, section="runs"
)
def run_combine(request: HttpRequest, task: Task) -> HttpResponse:
    """Combine two runs of a task into a baseline."""
    runs = Run.objects.scorable().filter(task=task).select_related("team").order_by("tag")
    form = CombinationForm(request.POST or None, runs=runs)
    if request.method == "POST" and form.is_valid():
        pair = [form.cleaned_data["first"], form.cleaned_data["second"]]
        with refused(form):
            order = order_of_combination(task, pair, form.cleaned_data["method"])
            queue_job(order_baseline(order=order, at=timezone.now(), by=signed_in(request)))
            messages.success(request, "The runs are being combined.")
            return redirect("retrieval:baseline-list", task.lab.slug)
    return answer(request, "retrieval/run_combine.html", {"form": form})


@pages.read(
    "systems/",
    "system-search",
    shows="system-search",
    access=looked_up_lab_or_404,
    section="search",
    api=ROWS,
    query={"q": "Words and formulas, as on the page."},
)
def system_search(request: HttpRequest, lab: Lab) -> HttpResponse:
    """Show what the systems find for words and formulas, side by side.

    With `pane=1`, return only the form and the results, for the judging page; `preview=1` returns
    only what is read of the query, with its formulas typeset.
    """
    form = SearchForm(request.GET)
    text = form.text
    pieces = typed_pieces(text)
    context: dict[str, object] = {"form": form, "q": text, "pieces": pieces, "seen": ""}
    context["formulas"] = [piece.latex for piece in pieces if not isinstance(piece, str)]
    sides: list[Side] = []
    if request.GET.get("preview"):
        return answer(request, "retrieval/_preview.html", context)
    context["in_pane"] = request.GET.get("pane") == "1"
    context["may_organize"] = may_organize(request.user, lab)
    if task := searched_task(lab):
        jobs = Job.objects.filter(kind=KIND, task=task).order_by("-pk")
        context["seen"] = "building" if any(not job.is_over for job in jobs[:1]) else ""
        if request.GET.get("seen", "none") != context["seen"]:
            most = IN_PANE if context["in_pane"] else HITS
            sides = search_all(Sources(task), text, signed_in(request), most)
            context["sides"] = [side for side in sides if not side.lacks]
            context["lacking"] = [side for side in sides if side.lacks]
            context["has_missing"] = any(side.can_build for side in sides)
    name = "_systems" if context["in_pane"] else "system_search"
    return news(request, f"retrieval/{name}.html", context, *_search_tables(sides, pieces))


@pages.action("systems/indexes/", "index-build", section="search")
def index_build(request: HttpRequest, lab: Lab) -> HttpResponse:
    """Build the indexes of the search as a job."""
    if task := searched_task(lab):
        queue_job(order_indexes(task=task, at=timezone.now(), by=signed_in(request)))
        messages.success(request, "The indexes are being built.")
    return redirect("retrieval:system-search", lab.slug)


class RankedResult(NamedTuple):
    """A result at a rank of a system."""

    system: str
    rank: int
    result: Found


class ReadPiece(NamedTuple):
    """What was read of a query: words, or the LaTeX of a formula."""

    kind: str
    text: str


def _search_tables(sides: Iterable[Side], pieces: Iterable[str | TextFormula]) -> list[Table[Any]]:
    """Return the results of systems for programs, what was read, and why a system has none."""
    ranked = [
        RankedResult(side.key, rank, result)
        for side in sides
        for rank, result in enumerate(side.found, start=1)
    ]
    read = [
        ReadPiece("text", piece) if isinstance(piece, str) else ReadPiece("formula", piece.latex)
        for piece in pieces
    ]
    return [
        Table[RankedResult](
            "results",
            [
                Column("System", lambda row: row.system, cells.ID),
                Column("Rank", lambda row: row.rank, cells.COUNT),
                Column("Post", lambda row: row.result.post.post_id, cells.ID),
                Column("Type", lambda row: row.result.post.kind),
                Column("Score", lambda row: row.result.score, cells.SCORE),
                Column("Formula", lambda row: row.result.formula_id, cells.ID),
                Column("LaTeX", lambda row: row.result.latex),
            ],
            ranked,
        ),
        Table[ReadPiece](
            "query",
            [Column("Read as", lambda row: row.kind), Column("Text", lambda row: row.text)],
            read,
        ),
        Table[Side](
            "unanswered",
            [
                Column("System", lambda row: row.key, cells.ID),
                Column("Reason", lambda row: row.lacks),
            ],
            [side for side in sides if side.lacks],
        ),
    ]


def _jobs(offers: list[Offer]) -> list[Job]:
    return [offer.job for offer in offers if offer.job]


def _seconds(offer: Offer) -> float | None:
    times = offer.run.times if offer.run else None
    return times.mean if times else None


def _made_with(offer: Offer) -> str | None:
    made_by = offer.run.made_by if offer.run else None
    return made_by.recorded_text if made_by else None


def _table(task: Task, offers: list[Offer]) -> Table[Offer]:
    return Table[Offer](
        f"systems-{task.slug}",
        [
            Column("Make", template="retrieval/_choice.html", hides_heading=True),
            Column("System", lambda row: row.order.title, is_head=True),
            Column("State", template="retrieval/_state.html", css="wrap"),
            Column("Seconds per topic", _seconds, cells.decimals(3)),
            Column(
                "Made with",
                lambda row: row.run and row.run.made_by and row.run.made_by.recorded_text,
                cells.PROSE,
            ),
            Column("What it does", lambda row: row.order.system.description, css="wrap"),
        ],
        offers,
        empty=Empty("No system", "None of the systems serves this kind of task."),
    )
