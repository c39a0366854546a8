"""Which baselines a lab can have, which it has, and how far the others are."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from arqkit.records import TaskKind
from arqlab.core.models import Job, Lab, Task, User
from arqlab.core.services.jobs import start_job
from retrieval.selectors import Sources
from retrieval.services.baselines import Order, made_run
from retrieval.services.systems import SYSTEMS, System
from submissions.models import Run

KIND = "baseline"


@dataclass(frozen=True)
class Offer:
    """A system for a task: its run, else its last job, else why it cannot run."""

    order: Order
    run: Run | None
    job: Job | None
    refusal: str

    @property
    def name(self) -> str:
        """Return the name of the offer in forms."""
        return f"{self.order.task.slug}/{self.order.tag}"

    @property
    def is_going_on(self) -> bool:
        """Return whether a job makes the baseline, or waits."""
        return self.job is not None and not self.job.is_over

    @property
    def is_open(self) -> bool:
        """Return whether the baseline can be made now."""
        return not (self.run or self.refusal or self.is_going_on)


def offers_of(lab: Lab) -> list[tuple[Task, list[Offer]]]:
    """Return the tasks of a lab that are not archived, each with the systems that serve it."""
    jobs: dict[str, Job] = {}
    for job in Job.objects.filter(kind=KIND, lab=lab).order_by("pk"):
        jobs[job.key] = job  # the last one of each key
    return [
        (task, [_offer(task, system, jobs) for system in systems_for(task)])
        for task in lab.tasks.filter(archived_at=None).select_related("lab")
    ]


def systems_for(task: Task) -> list[System]:
    """Return the systems that serve a kind of task, whether they can run or not."""
    return [system for system in SYSTEMS.values() if TaskKind(task.kind) in system.kinds]


def order_baseline(*, order: Order, at: datetime, by: User) -> Job:
    """Store a job that makes a baseline; the caller queues it."""
    options = {"system": order.system.key, "settings": dict(order.settings)}
    job = Job(kind=KIND, key=_key(order), options=options)
    return start_job(job=job, place=order.task, at=at, by=by)


def _key(order: Order) -> str:
    return f"{order.task.pk}/{order.tag}"


def _offer(task: Task, system: System, jobs: dict[str, Job]) -> Offer:
    order = Order(task, system, system.settings)
    run, job = made_run(task, order.tag), jobs.get(_key(order))
    return Offer(order, run, job, "" if run else system.refusal(Sources(task)))
