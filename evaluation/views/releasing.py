"""The pages that release and hide a leaderboard, and of look-alike runs."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from hashlib import sha256
from typing import NamedTuple, TypeVar

import polars as pl
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone

from arqkit.comparison.look_alikes import (
    PURITY,
    SUSPICIOUS,
    Likeness,
    Purity,
    is_replay,
    likenesses,
    purity_of,
)
from arqkit.polars_errors import EngineFailedError, panics_as_errors
from arqkit.ranking import OrderBy
from arqkit.records import ItemKind, TaskKind
from arqlab.core.caches import computed_values
from arqlab.core.models import Task
from arqlab.core.oddities import Ceremony, is_preview, with_left_out
from arqlab.core.permissions import organized_task_or_404, signed_in
from arqlab.core.views.answers import refused, told
from arqlab.web.pages import TASK, Pages
from assessment.models import QrelSet
from assessment.qrels.selectors.versions import judged_frame, qrels_named
from evaluation.forms import ReleaseForm
from evaluation.selectors.boards import live_scores, released_leaderboard
from evaluation.selectors.oddities import release_oddities
from evaluation.selectors.pending_scores import formulas_index_of
from evaluation.services.effects import comparable_indexes
from evaluation.services.releasing import hide_leaderboard, hide_version, release_leaderboard
from submissions.forms import LeftOutRunsForm
from submissions.models import Run
from submissions.selectors import ordered_index, run_items
from submissions.services.left_out import out_of_competition

pages = Pages(TASK, organized_task_or_404, section="leaderboard")

log = logging.getLogger(__name__)


KEPT = 7 * 24 * 60 * 60  # seconds


_RULES = 2
"""The version of the computation. Increase it with every change, so that nothing old is read."""


Found = TypeVar("Found")


class LookAlike(NamedTuple):
    """Two runs of different teams, the earlier one first, and the topics that are alike."""

    first: Run
    second: Run
    likeness: Likeness


class Replay(NamedTuple):
    """A run and the topics in which it replays the qrels."""

    run: Run
    purity: Purity


def look_alikes(task: Task) -> list[LookAlike]:
    """Return the pairs of runs of different teams that are copies in many topics, most first.

    Runs with different types of items are not compared, nor are the answers of Task 3, which have
    no ids in common.
    """
    if task.kind == TaskKind.GENERATED_ANSWERS:
        return []
    by_items: dict[ItemKind, list[Run]] = {}
    for run in _runs(task):
        by_items.setdefault(run_items(run, task), []).append(run)
    pairs = [
        LookAlike(runs[likeness.first], runs[likeness.second], likeness)
        for runs in by_items.values()
        for likeness in _likenesses(runs, task.protocol.order)
        if runs[likeness.first].team_id != runs[likeness.second].team_id
    ]
    return sorted(pairs, key=lambda pair: -len(pair.likeness.copied))


def replays(task: Task) -> list[Replay]:
    """Return the runs that in many topics list the relevant items of the current qrels first.

    No system has come near it. Such a run was probably made from the qrels.
    """
    qrel_set = qrels_named(task)
    if qrel_set is None:
        return []
    runs, order = _runs(task), task.protocol.order
    facts = (order, qrel_set.sha256, qrel_set.relevant_from, formulas_index_of(qrel_set))
    names = [(run.pk, run.index.name) for run in runs]
    purities = _kept("replays", (facts, names), lambda: _purities(runs, qrel_set))
    replaying = [Replay(run, purities[run.pk]) for run in runs if run.pk in purities]
    return sorted(replaying, key=lambda replay: -len(replay.purity.pure))


def _runs(task: Task) -> list[Run]:
    runs = Run.objects.scorable().filter(task=task).select_related("team", "upload", "task__lab")
    return list(runs.order_by("submitted_at", "pk"))


def _kept(name: str, facts: object, compute: Callable[[], Found]) -> Found:
    """Return what is computed from these facts, from the cache if possible."""
    key = f"{name}:{sha256(repr((_RULES, facts)).encode()).hexdigest()}"
    value: Found | None = computed_values.get(key)
    if value is None:
        value = compute()
        computed_values.set(key, value, timeout=KEPT)
    return value


def _likenesses(runs: Sequence[Run], order: OrderBy) -> list[Likeness]:
    names = [(run.index.name, run.report.get("order")) for run in runs]
    return _kept(
        "look-alikes", (order, names), lambda: likenesses([_ranking(run, order) for run in runs])
    )


def _ranking(run: Run, order: OrderBy) -> pl.DataFrame:
    """Return the ranking of a run, without rows if its index cannot be read."""
    try:
        with panics_as_errors():
            return ordered_index(run, order=order).select("topic", "item", "order").collect()
    except (OSError, pl.exceptions.PolarsError, EngineFailedError):
        log.exception("The index of run %s (%s) cannot be read.", run.pk, run.tag)
        return pl.DataFrame(schema={"topic": pl.String, "item": pl.String, "order": pl.Int32})


def _purities(runs: Sequence[Run], qrel_set: QrelSet) -> dict[int, Purity]:
    """Return the topics in which runs replay the qrels, of the runs that do."""
    judged = judged_frame(qrel_set).drop_nulls("label")
    purities = {}
    for run, index in comparable_indexes(runs, qrel_set, judged):
        ranking = index.with_columns(order=pl.int_range(pl.len()).over("topic"))
        purity = purity_of(ranking, judged, relevant_from=qrel_set.relevant_from)
        if is_replay(purity):
            purities[run.pk] = purity
    return purities


SHOWN_TOPICS = 5
"""The topics that are listed at once; the others open with a click."""


@pages.read("runs/look-alikes/", "look-alike-list", section="runs")
def look_alike_list(request: HttpRequest, task: Task) -> HttpResponse:
    """Show organizers copied runs of different teams, and runs that replay the qrels."""
    qrel_set = qrels_named(task)
    context = {
        "task": task,
        "lab": task.lab,
        "pairs": look_alikes(task),
        "qrel_set": qrel_set,
        "replays": replays(task),
        "shown_topics": SHOWN_TOPICS,
        "percent": {"topics": round(100 * SUSPICIOUS), "relevant": round(100 * PURITY)},
    }
    return render(request, "evaluation/look_alike_list.html", context)


@pages.form("leaderboard/release/", "leaderboard-release")
def leaderboard_release(request: HttpRequest, task: Task) -> HttpResponse:
    """List what is odd about the board of the chosen qrels, and release it."""
    qrel_set = qrels_named(task, (request.POST or request.GET).get("qrels", ""))
    if qrel_set is None:
        raise Http404
    data = with_left_out(request.POST) if request.POST else None
    runs = Run.objects.valid().filter(task=task)
    form = LeftOutRunsForm(data, runs=runs, recorded=out_of_competition(runs))
    release = ReleaseForm(data)
    ceremony = Ceremony(release_oddities(qrel_set, at=timezone.now()), form.entered)
    is_sent = request.method == "POST" and not is_preview(request.POST)
    if is_sent and form.is_valid() and release.is_valid():
        with refused(form):
            ceremony.require_acknowledged(request.POST)
            return _released(request, qrel_set, form.run_reasons, release.cleaned_data["reason"])
    context = {
        "task": task,
        "lab": task.lab,
        "qrel_set": qrel_set,
        "ceremony": ceremony,
        "runs": len(live_scores(qrel_set)),
        "released": released_leaderboard(task),
        "form": form,
        "release": release,
    }
    status = 422 if is_sent else 200
    return render(request, "evaluation/leaderboard_release.html", context, status=status)


def _released(
    request: HttpRequest, qrel_set: QrelSet, apart: dict[int, str], reason: str
) -> HttpResponse:
    by, at = signed_in(request), timezone.now()
    with told(request):
        board = release_leaderboard(qrel_set=qrel_set, by=by, at=at, apart=apart, reason=reason)
        messages.success(
            request,
            f"Version {board.version} is released. Everyone who can see the lab can now see it.",
        )
        return _back_to_board(qrel_set.task)
    return _back_to_board(qrel_set.task, live=qrel_set)


@pages.action("leaderboard/hide/", "leaderboard-hide")
def leaderboard_hide(request: HttpRequest, task: Task) -> HttpResponse:
    """Hide the released leaderboard with all versions, or only an earlier `version`."""
    if version := request.POST.get("version", ""):
        return _hide_version(request, task, version)
    with told(request):
        hide_leaderboard(task=task, by=signed_in(request), at=timezone.now())
        text = "The leaderboard is hidden. Only organizers can see it until it is released again."
        if task.threads == Task.Threads.OPEN:
            text += " The threads of the topics stay open, because people may have read them."
        messages.success(request, text)
        return _back_to_board(task)
    return _back_to_board(task)


def _hide_version(request: HttpRequest, task: Task, version: str) -> HttpResponse:
    number = int(version) if version.isdecimal() else 0
    with told(request):
        hide_version(task=task, version=number, by=signed_in(request), at=timezone.now())
        messages.success(request, f"Version {number} is hidden.")
    return _back_to_board(task)


def _back_to_board(task: Task, *, live: QrelSet | None = None) -> HttpResponse:
    address = reverse("evaluation:leaderboard", args=[task.lab.slug, task.slug])
    return redirect(f"{address}?live=1&qrels={live.name}" if live else address)
