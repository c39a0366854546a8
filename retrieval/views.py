"""The page on which organizers let their own systems make baselines."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone

from arqlab.core.models import Lab, Task
from arqlab.core.permissions import organized_lab_or_404, signed_in
from arqlab.core.tasks import queue_job
from arqlab.web.jobs import news
from arqlab.web.pages import LAB, Pages
from arqlab.web.tables import Column, Empty, Table
from retrieval.services.offers import Offer, offers_of, order_baseline

pages = Pages(LAB, organized_lab_or_404, section="overview")


@pages.form("baselines/", "baseline-list")
def baseline_list(request: HttpRequest, lab: Lab) -> HttpResponse:
    """Show the systems for each task, and make the baselines that are chosen."""
    by_task = offers_of(lab)
    offers = [offer for _, own in by_task for offer in own]
    if request.method == "POST":
        chosen = [o for o in offers if o.is_open and o.name in request.POST.getlist("chosen")]
        for offer in chosen:
            queue_job(order_baseline(order=offer.order, at=timezone.now(), by=signed_in(request)))
        if not chosen:
            messages.error(request, "Choose the baselines to make.")
        return redirect(request.path)
    jobs = [offer.job for offer in offers if offer.job]
    going_on = [job for job in jobs if not job.is_over]
    context = {
        "tables": [{"task": task, "systems": _table(task, own)} for task, own in by_task],
        "has_open": any(offer.is_open for offer in offers),
        "jobs": going_on,
        "job": next(iter([*going_on, *jobs]), None),
        "seen": ",".join(f"{job.pk}-{job.state}-{job.done}" for job in going_on),
    }
    return news(request, "retrieval/baseline_list.html", context)


def _table(task: Task, offers: list[Offer]) -> Table:
    return Table(
        f"systems-{task.slug}",
        [
            Column("Make", template="retrieval/_choice.html", hides_heading=True),
            Column("System", "order.system.name", is_head=True),
            Column("State", template="retrieval/_state.html", css="wrap"),
            Column("What it does", "order.system.description", css="wrap"),
        ],
        offers,
        empty=Empty("No system", "None of the systems serves this kind of task."),
    )
