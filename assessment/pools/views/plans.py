"""The pool planner: the figures of a pool for given settings, and the freeze page."""

from dataclasses import dataclass, replace
from functools import partial
from typing import Any
from urllib.parse import urlencode

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
from arqlab.labs.forms.topics import LeftOutTopicsForm
from arqlab.labs.oddities import Ceremony, is_preview, with_left_out
from arqlab.labs.permissions import organized_task_or_404
from arqlab.web import TASK, Pages
from assessment.models import PayRule, Pool
from assessment.pools.forms import CostForm, PoolForm, SupplementForm, choice_data
from assessment.pools.selectors.choices import (
    PoolChoice,
    candidate_runs,
    choice_of,
    pooled_together,
    runs_to_choose,
)
from assessment.pools.selectors.frozen import preset_of, presets_for
from assessment.pools.selectors.oddities import pool_oddities
from assessment.pools.selectors.plans import plan_pool
from assessment.pools.services.freezing import compute_pool, freeze_pool, supplement_pool
from assessment.pools.tasks import typeset_pools
from assessment.pools.views.charts import plan_tables
from assessment.pools.views.frozen import settings_summary
from submissions.forms import LeftOutRunsForm

pages = Pages(f"{TASK}pools/", organized_task_or_404, section="pools")

WAGE = 15


@dataclass(frozen=True)
class _Settings:
    """The submitted or preset settings, and the pools of the task."""

    task: Task
    pools: list[Pool]
    form: PoolForm
    cost: CostForm
    runs: LeftOutRunsForm
    topics: LeftOutTopicsForm

    @property
    def is_valid(self) -> bool:
        """Return whether all settings are valid."""
        return all(form.is_valid() for form in (self.form, self.cost, self.runs, self.topics))

    @property
    def choice(self) -> PoolChoice:
        """Return the chosen settings, with what is left out by hand."""
        return replace(
            self.form.choice, without_runs=self.runs.run_reasons, without_topics=self.topics.reasons
        )


@pages.read("plan/", "pool-plan")
def pool_plan(request: HttpRequest, task: Task) -> HttpResponse:
    """Show the planner of the pool or of a supplement; the figures follow the settings."""
    settings = _settings(task, request.GET)
    template = (
        "assessment/_pool_plan.html"
        if request.headers.get("HX-Request")
        else "assessment/pool_plan.html"
    )
    return render(request, template, _context(settings) | _plan(settings))


@pages.form("freeze/", "pool-freeze")
def pool_freeze(request: HttpRequest, task: Task) -> HttpResponse:
    """Show the pool to freeze, and freeze it."""
    settings = _settings(task, with_left_out(request.POST or request.GET), offers_all=True)
    if not settings.is_valid:
        return render(
            request, "assessment/pool_plan.html", _context(settings) | _plan(settings), status=422
        )
    reason = SupplementForm((request.POST or None) if settings.pools else None)
    computed, refusals = _computed(settings), []
    is_sent = request.method == "POST" and not is_preview(request.POST)
    if is_sent and (not settings.pools or reason.is_valid()):
        try:
            computed["ceremony"].require_acknowledged(request.POST)
            return _frozen(request, settings, reason.data.get("reason", ""))
        except UserError as refused:
            refusals = [refused.message]
    context = _context(settings) | _plan(settings) | {"reason_form": reason}
    context |= computed | {"refusals": computed["refusals"] or refusals}
    status = 422 if is_sent or context["refusals"] else 200
    return render(request, "assessment/pool_freeze.html", context, status=status)


def planned_labels(task: Task, data: QueryDict) -> tuple[PoolChoice, pl.DataFrame | None, str]:
    """Return the settings of a plan and the labels of its pool, or the problem that prevents them.

    Without settings in the data, they are those of the last pool, which has no plan, or of the
    protocol.
    """
    settings = _settings(task, data)
    if settings.pools and "seed" not in data:
        return choice_of(settings.pools[-1]), None, ""
    if not settings.is_valid:
        return PoolChoice(task.protocol.pool, seed=0), None, "The settings of the plan are invalid."
    try:
        return settings.choice, compute_pool(task=task, choice=settings.choice).labels, ""
    except UserError as refused:
        return settings.choice, None, refused.message


def _computed(settings: _Settings) -> dict[str, Any]:
    """Return the pool to freeze with its checks, or why nothing can be frozen."""
    task, choice, refusals = settings.task, settings.choice, []
    computed = None
    try:
        computed = compute_pool(task=task, choice=choice)
    except UserError as refused:
        refusals = [refused.message]
    checks = pool_oddities(
        task,
        choice,
        labels=computed.labels if computed else None,
        texts=computed.texts if computed else {},
        at=timezone.now(),
        query=_query(settings),
    )
    return {
        "depths": settings_summary(choice.protocol),
        "computed": computed,
        "refusals": refusals,
        "ceremony": Ceremony(checks, settings.runs.entered | settings.topics.entered),
    }


def _frozen(request: HttpRequest, settings: _Settings, reason: str) -> HttpResponse:
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


def _settings(task: Task, data: QueryDict, *, offers_all: bool = False) -> _Settings:
    """Read the settings from a query or a form, or take those of the last pool or the protocol.

    A preset sets everything except the seed and the cost of judging. Only with `offers_all`, the
    forms have runs and topics that are not left out: a thousand fields take a tenth of a second.
    """
    pools = list(Pool.official.filter(task=task).order_by("number"))
    preset = presets_for(task).get(data.get("preset", ""))
    if pools and not preset:
        choice = choice_of(pools[-1])
    else:
        choice = PoolChoice(preset or task.protocol.pool, seed=0)
    runs = runs_to_choose(task)
    seed = data.get("seed", f"{timezone.now():%Y%m%d}")
    filled = (
        data if "seed" in data and "preset" not in data else choice_data(choice, runs, seed=seed)
    )
    form = PoolForm(filled, task=task, runs=runs, protocol=choice.protocol)
    candidates, topics = candidate_runs(task), task.topics.all()
    if not offers_all:
        names = [name.partition("-")[::2] for name in filled]
        left_out = {key for kind, key in names if kind == "runs" and key.isdecimal()}
        candidates = candidates.filter(pk__in=left_out)
        topics = topics.filter(query_id__in=[key for kind, key in names if kind == "topics"])
    costs = {
        "seconds": data.get("seconds", task.protocol.seconds),
        "wage": data.get("wage", PayRule.of(task.lab).hourly_rate or WAGE),
    }
    return _Settings(
        task,
        pools,
        form,
        CostForm(costs),
        LeftOutRunsForm(filled, runs=candidates),
        LeftOutTopicsForm(filled, topics=topics),
    )


def _query(settings: _Settings) -> str:
    """Return the settings as a query string, which opens the plan again, without empty fields."""
    fields = [*settings.form, *settings.cost]
    values = {field.html_name: field.value() for field in fields}
    filled = {
        name: value for name, value in values.items() if value is not None and value is not False
    }
    reasons = {field.html_name: field.value() for field in [*settings.runs, *settings.topics]}
    return urlencode(filled | {name: reason for name, reason in reasons.items() if reason})


def _context(settings: _Settings) -> dict[str, Any]:
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
        "query": _query(settings),
        "together": pooled_together(task),
        "presets": [(slug, PROTOCOLS[slug].name, slug == preset) for slug in presets],
    }


def _plan(settings: _Settings) -> dict[str, Any]:
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
