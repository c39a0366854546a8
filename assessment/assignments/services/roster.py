"""Changes of the roster of a task, and the bids of its assessors."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime

from django.db import transaction
from django.urls import reverse

from arqlab.core.errors import UserError
from arqlab.core.models import Task, User
from arqlab.core.services.audit import record_event, save_changes
from arqlab.notices.models import Kind
from arqlab.notices.services.notifying import notify
from assessment.assignments.services.assigning import refuse_others
from assessment.models import Assignment, RosterEntry, TopicBid


@transaction.atomic
def add_assessors(
    *, task: Task, people: Collection[User], at: datetime, by: User | None
) -> list[User]:
    """Add users to the roster of a task; return those who had no entry.

    Raise `UserError` for a user who may not judge in the lab (code `no-assessor`).
    """
    Task.objects.select_for_update().get(pk=task.pk)
    refuse_others(task, people)
    known = set(task.roster.filter(user__in=people).values_list("user", flat=True))
    added = [person for person in people if person.pk not in known]
    RosterEntry.objects.bulk_create(
        RosterEntry(task=task, user=person, added_by=by, added_at=at) for person in added
    )
    if added:
        names = [person.get_username() for person in added]
        record_event(verb="roster.add", target=task, lab=task.lab, actor=by, added=names)
    return added


@transaction.atomic
def remove_assessor(*, task: Task, person: User, by: User | None) -> None:
    """Remove a user from the roster of a task; the bids are kept in case the user returns.

    Raise `UserError` if the user has topics of the task (code `has-topics`).
    """
    Task.objects.select_for_update().get(pk=task.pk)
    if Assignment.objects.filter(topic__task=task, assessor=person, ended_at=None).exists():
        raise UserError(
            f"{person.name} has topics of this task. Unassign them on the page of assignments, "
            "then remove the assessor.",
            code="has-topics",
        )
    removed, _ = task.roster.filter(user=person).delete()
    if removed:
        name = person.get_username()
        record_event(verb="roster.remove", target=task, lab=task.lab, actor=by, removed=name)


@transaction.atomic
def change_offer(
    *, task: Task, person: User, changes: Mapping[str, float | str | None], at: datetime, by: User
) -> None:
    """Change the `hours` that an assessor offers for a task, the `note`, or both."""
    add_assessors(task=task, people=[person], at=at, by=by)
    entry = task.roster.get(user=person)
    changed = save_changes(entry, changes, allowed={"hours", "note"})
    changed.pop("note", None)  # what assessors write to the organizers stays out of the log
    if changed:
        record_event(
            verb="roster.offer",
            target=task,
            lab=task.lab,
            actor=by,
            person=person.get_username(),
            changes=changed,
        )


@transaction.atomic
def invite_to_bid(*, task: Task, people: Collection[User], at: datetime, by: User) -> int:
    """Notify assessors that they can mark topics of a task; return how many were notified."""
    add_assessors(task=task, people=people, at=at, by=by)
    task.roster.filter(user__in=people).update(invited_at=at)
    notices = notify(
        lab=task.lab,
        kind=Kind.TOPIC_BIDS,
        people=people,
        path=reverse("assessment:bid-list", args=[task.lab.slug, task.slug]),
        key=f"topic-bids {task.pk} {at.isoformat()}",
        values={"task": task.name, "person": by.name},
    )
    names = [person.get_username() for person in people]
    record_event(verb="roster.invite", target=task, lab=task.lab, actor=by, invited=names)
    return len(notices)


@transaction.atomic
def save_bids(*, task: Task, user: User, choices: Mapping[int, str], at: datetime) -> None:
    """Save a user's choices by topic of a task; an empty choice removes the bid.

    Raise `UserError` for a topic or choice that does not exist (code `unknown-bid`).
    """
    topics = set(task.topics.filter(pk__in=choices).values_list("pk", flat=True))
    if topics != choices.keys() or not {*choices.values()} <= {"", *TopicBid.Choice.values}:
        raise UserError(
            "The topics have changed since you opened this page, so nothing was saved.",
            code="unknown-bid",
        )
    bids = [
        TopicBid(topic_id=topic, user=user, choice=choice, changed_at=at)
        for topic, choice in choices.items()
        if choice
    ]
    TopicBid.objects.bulk_create(
        bids,
        update_conflicts=True,
        unique_fields=["topic", "user"],
        update_fields=["choice", "changed_at"],
    )
    gone = [topic for topic, choice in choices.items() if not choice]
    TopicBid.objects.filter(user=user, topic__in=gone).delete()
