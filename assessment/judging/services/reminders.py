"""Reminders of assessors before a judging deadline."""

from datetime import datetime, timedelta

from django.db import transaction
from django.urls import reverse

from arqlab.core.models import Task, User
from arqlab.notices.models import Kind
from arqlab.notices.services.notifying import notify
from arqlab.web import counted
from assessment.judging.selectors.own_work import own_work
from submissions.services.reminders import hours_in_words, moment_in_words

REMINDER = timedelta(hours=48)


def remind_assessors(*, at: datetime) -> None:
    """Remind each assessor with items left once, 48 hours before each judging deadline."""
    soon = Task.objects.filter(judging_deadline__gt=at, judging_deadline__lte=at + REMINDER)
    for pk in soon.filter(archived_at=None, lab__archived_at=None).values_list("pk", flat=True):
        _remind_of_judging(pk, at)


@transaction.atomic
def _remind_of_judging(task_pk: int, at: datetime) -> None:
    # Lock the task: two workers at once must not both find that a person was not reminded.
    task = Task.objects.select_for_update(of=("self",)).select_related("lab").get(pk=task_pk)
    if task.judging_deadline is None or task.judging_deadline <= at:
        return
    key = f"{Kind.JUDGING_DEADLINE} {task.pk} {task.judging_deadline.isoformat()}"
    unfinished = User.objects.filter(
        assignments__topic__task=task, assignments__ended_at=None
    ).exclude(notices__key=key)
    for person in unfinished.distinct():
        work = own_work(person, [task.lab]).get(task.lab_id)
        due = next((due for due in work.due if due.task == task), None) if work else None
        if due is None:
            continue
        notify(
            task,
            Kind.JUDGING_DEADLINE,
            [person],
            path=reverse("assessment:judging-home", args=[task.lab.slug]),
            key=key,
            items=counted(due.left, "item"),
            topics=counted(due.topics, "topic"),
            time=hours_in_words(timedelta(seconds=due.seconds_left)),
            deadline=moment_in_words(task.judging_deadline),
            remaining=hours_in_words(task.judging_deadline - at),
        )
