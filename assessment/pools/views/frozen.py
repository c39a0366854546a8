"""The pages of frozen pools: the list, a pool with its settings, and its file."""

from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils import timezone

from arqlab.core.models import Task, Visitor
from arqlab.core.views import signed_in, told
from arqlab.labs.permissions import organized_task_or_404
from arqlab.web import (
    ROWS,
    TASK,
    Pages,
    Tab,
    answer,
    context_of,
    exact_response,
    for_organizers,
    organizers,
)
from assessment.models import Pool
from assessment.pools.forms.settings import planner_data
from assessment.pools.selectors.frozen import pool_file
from assessment.pools.selectors.pool_pages import pool_page, task_pools
from assessment.pools.services.changing import close_pool, discard_pool, open_pool
from assessment.pools.views.tables import pool_tables, pools_table


@for_organizers
def organized_pool_or_404(user: Visitor, lab_slug: str, task_slug: str, number: int) -> Pool:
    """Return a pool of a task for its organizers; raise 404 for anyone else."""
    task = organized_task_or_404(user, lab_slug, task_slug)
    pools = Pool.official.select_related("task__lab", "frozen_by", "visual_map__collection")
    return get_object_or_404(pools, task=task, number=number)


pages = Pages(f"{TASK}pools/", organized_pool_or_404, section="pools")


@pages.read(
    "",
    "pool-list",
    tabs=(Tab("task", "Pools", 40, organizers),),
    api=ROWS,
    access=organized_task_or_404,
)
def pool_list(request: HttpRequest, task: Task) -> HttpResponse:
    """Show the pool of a task and its supplements, and what has changed since the freeze."""
    pools = task_pools(task)
    table = pools_table(task, pools.frozen)
    return answer(request, "assessment/pool_list.html", context_of(pools), table)


@pages.read("<number:number>/", "pool-detail", api=ROWS)
def pool_detail(request: HttpRequest, pool: Pool) -> HttpResponse:
    """Show a pool: its settings, its size per topic and its state; or return its file."""
    if request.GET.get("format") == "tsv":
        name = f"{pool.task.lab.slug}-{pool.task.slug}-pool-{pool.number}.tsv"
        return exact_response(pool_file(pool), name)
    page = pool_page(pool)
    return answer(request, "assessment/pool_detail.html", context_of(page), *pool_tables(page))


@pages.action("<number:number>/close/", "pool-close")
def pool_close(request: HttpRequest, pool: Pool) -> HttpResponse:
    """Close a pool for judging."""
    with told(request):
        close_pool(pool=pool, by=signed_in(request), at=timezone.now())
        messages.success(
            request, "Judging is closed. ArqLab no longer accepts judgments for this pool."
        )
    return _to(pool.task, pool.number)


@pages.action("<number:number>/open/", "pool-open")
def pool_open(request: HttpRequest, pool: Pool) -> HttpResponse:
    """Reopen a pool for judging."""
    with told(request):
        open_pool(pool=pool, by=signed_in(request))
        messages.success(request, "Judging is open again.")
    return _to(pool.task, pool.number)


@pages.action("<number:number>/discard/", "pool-discard")
def pool_discard(request: HttpRequest, pool: Pool) -> HttpResponse:
    """Unfreeze a pool without judgments: delete it, and show the planner with its settings."""
    task, number, settings = pool.task, pool.number, planner_data(pool)
    with told(request):
        discard_pool(pool=pool, by=signed_in(request))
        messages.success(
            request,
            f"Pool {number} was unfrozen. Its settings are filled in here, and the audit log keeps"
            " its number and hash.",
        )
        address = reverse("assessment:pool-plan", args=[task.lab.slug, task.slug])
        return redirect(f"{address}?{urlencode(settings)}")
    return _to(task, number)


def _to(task: Task, number: int) -> HttpResponse:
    return redirect("assessment:pool-detail", task.lab.slug, task.slug, number)
