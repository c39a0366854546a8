"""The pool planner: the figures of a pool for given settings, and the freeze page."""

from dataclasses import dataclass
from functools import partial
from typing import Any

import polars as pl
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.utils import timezone

from arqkit.protocols.presets import PROTOCOLS
from arqlab.celery import wake_after_commit
from arqlab.core.errors import UserError
from arqlab.core.models import Task
from arqlab.core.views import signed_in
from arqlab.labs.oddities import Ceremony, is_preview, with_left_out
from arqlab.labs.permissions import organized_task_or_404
from arqlab.web import TASK, Pages, context_of
from assessment.pools.forms.planning import PlanSettings, plan_settings
from assessment.pools.forms.settings import SupplementForm
from assessment.pools.selectors.choices import PoolChoice, choice_of, pooled_together
from assessment.pools.selectors.frozen import preset_of, presets_for
from assessment.pools.selectors.plans import plan_pool
from assessment.pools.services.drafts import pool_draft
from assessment.pools.services.freezing import compute_pool, freeze_pool, supplement_pool
from assessment.pools.tasks import typeset_pools
from assessment.pools.views.charts import plan_tables

pages = Pages(f"{TASK}pools/", organized_task_or_404, section="pools")


@dataclass(frozen=True, kw_only=True)
class FreezePage:
    """The checks before a pool is frozen, why it cannot be, and the reason for a supplement."""

    ceremony: Ceremony
    refusals: list[str]
    reason_form: SupplementForm


@pages.read("plan/", "pool-plan")
def pool_plan(request: HttpRequest, task: Task) -> HttpResponse:
    """Show the planner of the pool or of a supplement; the figures follow the settings."""
    settings = plan_settings(task, request.GET)
    template = (
        "assessment/_pool_plan.html"
        if request.headers.get("HX-Request")
        else "assessment/pool_plan.html"
    )
    return render(request, template, _context(settings) | _plan(settings))


@pages.form("freeze/", "pool-freeze")
def pool_freeze(request: HttpRequest, task: Task) -> HttpResponse:
    """Show the pool to freeze, and freeze it."""
    settings = plan_settings(task, with_left_out(request.POST or request.GET), offers_all=True)
    if not settings.is_valid:
        return render(
            request, "assessment/pool_plan.html", _context(settings) | _plan(settings), status=422
        )
    reason = SupplementForm((request.POST or None) if settings.pools else None)
    draft = pool_draft(task, settings.choice, at=timezone.now(), query=settings.query)
    ceremony = Ceremony(draft.checks, settings.runs.entered | settings.topics.entered)
    refusals = draft.refusals
    is_sent = request.method == "POST" and not is_preview(request.POST)
    if is_sent and (not settings.pools or reason.is_valid()):
        try:
            ceremony.require_acknowledged(request.POST)
            return _frozen(request, settings, reason.data.get("reason", ""))
        except UserError as refused:
            refusals = draft.refusals or [refused.message]
    page = FreezePage(ceremony=ceremony, refusals=refusals, reason_form=reason)
    context = _context(settings) | _plan(settings) | context_of(draft.shown, page)
    status = 422 if is_sent or refusals else 200
    return render(request, "assessment/pool_freeze.html", context, status=status)


def planned_labels(task: Task, data: QueryDict) -> tuple[PoolChoice, pl.DataFrame | None, str]:
    """Return the settings of a plan and the labels of its pool, or the problem that prevents them.

    Without settings in the data, they are those of the last pool, which has no plan, or of the
    protocol.
    """
    settings = plan_settings(task, data)
    if settings.pools and "seed" not in data:
        return choice_of(settings.pools[-1]), None, ""
    if not settings.is_valid:
        return PoolChoice(task.protocol.pool, seed=0), None, "The settings of the plan are invalid."
    try:
        return settings.choice, compute_pool(task=task, choice=settings.choice).labels, ""
    except UserError as refused:
        return settings.choice, None, refused.message


def _frozen(request: HttpRequest, settings: PlanSettings, reason: str) -> HttpResponse:
    """Freeze the pool or the supplement, typeset its formulas in the background, and show it."""
    task = settings.task
    freeze = partial(supplement_pool, reason=reason) if settings.pools else freeze_pool
    pool = freeze(
        task=task,
        choice=settings.choice,
        by=signed_in(request),
        at=timezone.now(),
        expected=request.POST.get("expected", ""),
    )
    wake_after_commit(typeset_pools, 0.5)
    messages.success(request, "The pool is frozen. You can now assign its topics.")
    return redirect("assessment:pool-detail", task.lab.slug, task.slug, pool.number)


def _context(settings: PlanSettings) -> dict[str, Any]:
    task, form = settings.task, settings.form
    presets = presets_for(task)
    preset = preset_of(task, form.choice.protocol) if form.is_valid() else ""
    return {
        "task": task,
        "lab": task.lab,
        "form": form,
        "cost_form": settings.cost,
        "pools": settings.pools,
        "runs_form": settings.runs,
        "topics_form": settings.topics,
        "query": settings.query,
        "together": pooled_together(task),
        "presets": [(slug, PROTOCOLS[slug].name, slug == preset) for slug in presets],
    }


def _plan(settings: PlanSettings) -> dict[str, Any]:
    """Return the figures of the plan, or a message if there is no plan."""
    if not settings.is_valid:
        return {}
    try:
        plan = plan_pool(task=settings.task, choice=settings.choice)
    except UserError as refused:
        return {"plan_refusal": refused.message}
    tables = plan_tables(settings.task, plan)
    return {
        "plan": plan,
        "plan_cost": plan.cost(**settings.cost.cleaned_data),
        **{table.name.replace("-", "_"): table for table in tables},
    }
