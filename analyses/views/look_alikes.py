"""Runs that look like copies of others, or of the qrels."""

from django.http import HttpRequest, HttpResponse

from analyses.services.look_alikes import look_alikes, replays
from arqkit.comparison.look_alikes import PURITY, PURITY_OF_HALF, SUSPICIOUS
from arqlab.core.models import Task
from arqlab.jobs.views import page_of_job, requested
from arqlab.labs.permissions import organized_task_or_404
from arqlab.web import TASK, Pages
from assessment.qrels.selectors.versions import qrels_named

pages = Pages(TASK, organized_task_or_404, section="runs")

SHOWN_TOPICS = 5
"""The topics that are listed at once; the others open with a click."""


@pages.form("runs/look-alikes/", "look-alike-list", shows="look-alikes", in_archive=True)
def look_alike_list(request: HttpRequest, task: Task) -> HttpResponse:
    """Show organizers copied runs of different teams, and runs that replay the qrels."""
    if request.method == "POST":
        return requested(request, "look-alikes", task.pk, task)
    qrel_set, pairs, replaying = qrels_named(task), look_alikes(task), replays(task)
    context = {
        "pairs": pairs,
        "qrel_set": qrel_set,
        "replays": replaying,
        "is_ready": pairs is not None and replaying is not None,
        "shown_topics": SHOWN_TOPICS,
        "percent": {
            "topics": round(100 * SUSPICIOUS),
            "relevant": round(100 * PURITY),
            "of_half": round(100 * PURITY_OF_HALF),
        },
    }
    return page_of_job(request, "analyses/look_alike_list.html", context, "look-alikes", task.pk)
