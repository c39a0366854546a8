"""Which baselines a lab can have, which it has, and how far the others are."""

from dataclasses import dataclass
from datetime import datetime

from arqlab.core.models import Job, Lab, Task, User
from arqlab.jobs.services.jobs import start_job
from contrib.retrieval.models import SystemRun
from contrib.retrieval.selectors import Sources
from contrib.retrieval.services.baselines import (
    Order,
    made_run,
    order_of_job,
    order_of_run,
    usual_order,
)
from contrib.retrieval.services.systems import systems_for
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
    """Return the tasks of a lab that are not archived, each with the systems that serve it, the
    combinations that were asked for, and other baselines that a command made.
    """
    jobs: dict[str, Job] = {}
    for job in Job.objects.filter(kind=KIND, lab=lab).order_by("pk"):
        jobs[job.key] = job  # the last one of each key
    offers = []
    for task in lab.tasks.filter(archived_at=None).select_related("lab"):
        ordered = [order_of_job(job, task) for job in jobs.values() if job.task_id == task.pk]
        usual = [usual_order(task, system) for system in systems_for(task)]
        runs = SystemRun.objects.filter(run__in=Run.objects.valid().filter(task=task))
        by_command = filter(
            None, map(order_of_run, runs.select_related("run__task").order_by("pk"))
        )
        combinations = (order for order in ordered if order.system.asks)
        orders = {order.tag: order for order in (*usual, *combinations, *by_command)}.values()
        offers.append((task, [_offer(order, jobs.get(_key(order))) for order in orders]))
    return offers


def order_baseline(*, order: Order, at: datetime, by: User) -> Job:
    """Store a job that makes a baseline; the caller queues it."""
    options = {"system": order.system.key, "settings": dict(order.settings), "tag": order.tag}
    job = Job(kind=KIND, key=_key(order), options=options)
    return start_job(job=job, place=order.task, at=at, by=by)


def _key(order: Order) -> str:
    return f"{order.task.pk}/{order.tag}"


def _offer(order: Order, job: Job | None) -> Offer:
    run = made_run(order.task, order.tag)
    return Offer(order, run, job, "" if run else order.system.refusal(Sources(order.task)))
