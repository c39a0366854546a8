"""Applying a plan, changing the roster, and setting topics aside."""

from collections.abc import Collection, Mapping
from datetime import datetime

from django.db import transaction
from django.db.models import QuerySet

from arqlab.audit.services.recording import record_event, save_changes
from arqlab.core.errors import UserError
from arqlab.core.models import Task, Topic, User
from arqlab.notices.models import Kind
from arqlab.notices.services.notifying import notify
from arqlab.web import task_url
from assessment.assignments.selectors.grid import judging_staff
from assessment.assignments.selectors.viability import keep_forecasts
from assessment.assignments.services.assigning import (
    Pairs,
    assign_topics,
    named,
    refuse_others,
    topics_by_person,
)
from assessment.models import Assignment, RosterEntry, SecondPlan, SetAsideTopic, TopicBid
from assessment.qrels.selectors.counts import topic_tallies


@transaction.atomic
def add_assessors(
    *, task: Task, people: Collection[User], at: datetime, by: User | None
) -> list[User]:
    """Add users who may judge (code `no-assessor`) to the roster of a task; return the new ones."""
    # Lock the task: of two organizers who add the same people, one finds them on the roster.
    Task.objects.select_for_update().get(pk=task.pk)
    refuse_others(task, people)
    on_roster = set(task.roster.filter(user__in=people).values_list("user", flat=True))
    added = [person for person in people if person.pk not in on_roster]
    RosterEntry.objects.bulk_create(
        RosterEntry(task=task, user=person, added_by=by, added_at=at) for person in added
    )
    if added:
        record_event("roster.add", task, by, added=[person.get_username() for person in added])
    return added


@transaction.atomic
def remove_assessor(*, task: Task, person: User, by: User | None) -> None:
    """Remove a user without topics (`has-topics`) from the roster of a task; the bids are kept."""
    # Lock the task: `assign_topics` must not give them a topic at this moment.
    Task.objects.select_for_update().get(pk=task.pk)
    if Assignment.objects.filter(topic__task=task, assessor=person, ended_at=None).exists():
        raise UserError(
            f"{person.name} has topics of this task. Unassign them on the page of assignments, "
            "then remove the assessor.",
            code="has-topics",
        )
    removed, _ = task.roster.filter(user=person).delete()
    if removed:
        record_event("roster.remove", task, by, removed=person.get_username())


@transaction.atomic
def change_offer(
    *, task: Task, person: User, changes: Mapping[str, float | str | None], at: datetime, by: User
) -> None:
    """Change the `hours` that an assessor offers for a task, the `note`, or the `group`."""
    add_assessors(task=task, people=[person], at=at, by=by)
    entry = task.roster.get(user=person)
    changed = save_changes(entry, changes, allowed={"hours", "note", "group"})
    changed.pop("note", None)  # what assessors write to the organizers stays out of the log
    if changed:
        record_event("roster.offer", task, by, person=person.get_username(), changes=changed)


@transaction.atomic
def invite_to_bid(*, task: Task, people: Collection[User], at: datetime, by: User) -> int:
    """Notify assessors that they can mark topics of a task; return how many were notified."""
    add_assessors(task=task, people=people, at=at, by=by)
    task.roster.filter(user__in=people).update(invited_at=at)
    notices = notify(
        task,
        Kind.TOPIC_BIDS,
        people,
        path=task_url("assessment:bid-list", task),
        key=f"topic-bids {task.pk} {at.isoformat()}",
        person=by.name,
    )
    record_event("roster.invite", task, by, invited=[person.get_username() for person in people])
    return len(notices)


@transaction.atomic
def save_bids(*, task: Task, user: User, choices: Mapping[int, str], at: datetime) -> None:
    """Save a user's choices by topic; an empty one removes a bid, an unknown one is refused."""
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


@transaction.atomic
def set_topics_aside(
    *, task: Task, topics: Collection[Topic], at: datetime, by: User | None
) -> int:
    """Stop the judging of topics that may be dropped. Return how many topics changed.

    Their items stay open and keep their labels, but count as not left to judge. Raise `UserError`
    for a topic without items, and for one that has enough relevant items (code `is-kept`).
    """
    # Lock the task: of two organizers at once, the second must see the first's change.
    Task.objects.select_for_update().get(pk=task.pk)
    forecasts = keep_forecasts(task, topic_tallies(task))
    doubtful = {pk for pk, (_, probability) in forecasts.items() if probability < 1}
    if certain := [topic for topic in topics if topic.pk not in doubtful]:
        raise UserError(
            f"Cannot set aside {named(certain)}. Only a topic that may still be dropped for too "
            "few relevant items can be set aside. Nothing was changed.",
            code="is-kept",
        )
    aside = set(_set_aside(topics).values_list("topic", flat=True))
    changed = [
        SetAsideTopic(
            topic=topic,
            judged=sample.judged,
            relevant=sample.relevant,
            probability=probability,
            set_aside_at=at,
            set_aside_by=by,
        )
        for topic in topics
        if topic.pk not in aside
        for sample, probability in [forecasts[topic.pk]]
    ]
    SetAsideTopic.objects.bulk_create(changed)
    if changed:
        probabilities = {row.topic.query_id: round(row.probability, 4) for row in changed}
        record_event("topics.set-aside", task, by, kept=probabilities)
    return len(changed)


@transaction.atomic
def resume_topics(*, task: Task, topics: Collection[Topic], at: datetime, by: User | None) -> int:
    """Resume the judging of topics that were set aside. Return how many topics changed."""
    # Lock the task, as `set_topics_aside` does: the log records each change once.
    Task.objects.select_for_update().get(pk=task.pk)
    set_aside = _set_aside(topics)
    names = list(set_aside.order_by("topic__position").values_list("topic__query_id", flat=True))
    set_aside.update(ended_at=at)
    if names:
        record_event("topics.resume", task, by, topics=names)
    return len(names)


def _set_aside(topics: Collection[Topic]) -> QuerySet[SetAsideTopic]:
    return SetAsideTopic.objects.filter(topic__in=topics, ended_at=None)


@transaction.atomic
def apply_plan(
    *, task: Task, first: Pairs, second: Mapping[Topic, User], at: datetime, by: User | None
) -> tuple[int, int]:
    """Assign topics and replace the plan of second assessors of the task.

    Return the number of assignments made and of changed second assessors. Raise `UserError`, with
    nothing changed, if a topic got an assessor in the meantime (code `changed-meanwhile`), if
    somebody would judge a topic twice (code `same-person`), or if they may not judge (code
    `no-assessor`).
    """
    # Lock the task: the plan was made from assignments that must not change from here on.
    Task.objects.select_for_update().get(pk=task.pk)
    refuse_others(task, second.values())
    staff = judging_staff(task.lab).values("pk")
    open_assignments = Assignment.objects.filter(
        topic__task=task, ended_at=None, assessor__in=staff
    )
    assigned_pairs = set(open_assignments.values_list("topic", "assessor"))
    assigned = {topic for topic, _ in assigned_pairs}
    if late := [topic for topic, _ in first if topic.pk in assigned]:
        raise UserError(
            f"{named(late)} got an assessor in the meantime. Nothing was changed. Make the plan "
            "again.",
            code="changed-meanwhile",
        )
    judging = assigned_pairs | {(topic.pk, person.pk) for topic, person in first}
    if twice := [topic for topic, one in second.items() if (topic.pk, one.pk) in judging]:
        raise UserError(
            f"The first and the second assessor of {named(twice)} are the same person. Nothing was "
            "changed. Choose another second assessor.",
            code="same-person",
        )
    assigned_count = assign_topics(task=task, pairs=first, replaces=False, at=at, by=by).made
    return assigned_count, _replace_seconds(task, second, at=at, by=by)


def _replace_seconds(
    task: Task, second: Mapping[Topic, User], *, at: datetime, by: User | None
) -> int:
    """Store the planned second assessors, and return how many topics changed."""
    plans = SecondPlan.objects.filter(topic__task=task)
    had = {plan.topic: plan.assessor for plan in plans.select_related("topic", "assessor")}
    changed, gone = second.items() - had.items(), had.items() - second.items()
    plans.filter(topic__in=[topic for topic, _ in gone]).delete()
    SecondPlan.objects.bulk_create(
        SecondPlan(topic=topic, assessor=person, planned_by=by, planned_at=at)
        for topic, person in changed
    )
    if changed or gone:
        planned, removed = (
            topics_by_person(sorted(pairs, key=lambda pair: pair[0].position))
            for pairs in (changed, gone)
        )
        record_event("topics.plan-second", task, by, planned=planned, removed=removed)
    return len({topic for topic, _ in changed | gone})
