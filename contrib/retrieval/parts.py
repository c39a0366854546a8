"""What the pages of other apps show of the organizers' own systems."""

from django.http import HttpRequest

from arqlab.web.parts import declare_part
from contrib.retrieval.models import SystemRun
from submissions.models import Run


def made_by(request: HttpRequest, run: Run) -> dict[str, object]:
    """Return the system that made a baseline, on the page of a run."""
    system_run = SystemRun.objects.filter(run=run).first() if run.is_baseline else None
    return {"made_by": system_run} if system_run else {}


declare_part("run", "retrieval/_made_by.html", made_by)
