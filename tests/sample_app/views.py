"""A page with a tab of its own."""

from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from arqlab.core.models import Job, Task
from arqlab.core.views import signed_in
from arqlab.jobs.services.jobs import start_job
from arqlab.jobs.tasks import queue_job
from arqlab.labs.permissions import organized_task_or_404
from arqlab.web import TASK, Pages, Tab, organizers

pages = Pages(f"{TASK}greetings/", organized_task_or_404, section="greetings")


@pages.form("", "greeting-list", tabs=(Tab("task", "Greetings", 95, organizers),))
def greeting_list(request: HttpRequest, task: Task) -> HttpResponse:
    """Greet the topics, and start the job that counts them."""
    if request.method == "POST":
        job = Job(kind="greeting", key=str(task.pk))
        queue_job(start_job(job=job, place=task, at=timezone.now(), by=signed_in(request)))
    greetings = ", ".join(f"hello {topic.query_id}" for topic in task.topics.all())
    return HttpResponse(greetings)
