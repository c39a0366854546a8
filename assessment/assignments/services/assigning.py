"""Assigning topics to assessors, ending assignments, reviewing topics. No label changes."""

from collections.abc import Collection, Iterable
from datetime import datetime
from typing import NamedTuple

from django.db import transaction
from django.db.models import Q, QuerySet
from django.urls import reverse

from arqkit.formats.assignments import read_assignments, resolve
from arqkit.loads import NO_CHOICE, Change, Fate, LoadChanges, LoadChoice
from arqkit.records import Problem
from arqlab.audit.services.recording import record_event
from arqlab.core.errors import UserError, require_confirmed
from arqlab.core.models import Task, Topic, User
from arqlab.notices.models import Kind
from arqlab.notices.services.notifying import notify
from arqlab.web import counted, name_list
from assessment.assignments.selectors.grid import judging_staff
from assessment.assignments.selectors.leases import long_leases
from assessment.models import Assignment, PoolItem

Pairs = list[tuple[Topic, User]]


class Reassigned(NamedTuple):
    """The numbers of assignments that were created and ended."""

    made: int
    ended: int


def pairs_of_file(data: bytes, *, path: str, task: Task) -> tuple[Pairs, list[Problem]]:
    """Return the assignments in a file, and its problems by line."""
    topics = {
        topic.query_id: topic
        for topic in task.topics.only("query_id", "task_id").order_by("position")
    }
    staff = list(judging_staff(task.lab))
    people = {person.email.lower(): person for person in staff if person.email}
    people |= {person.username: person for person in staff}
    rows, problems = read_assignments(data, path=path)
    pairs, more = resolve(rows, topics=list(topics), people=people, path=path)
    return [(topics[query_id], person) for query_id, person in pairs], sorted(
        [*problems, *more], key=lambda problem: problem.line or 0
    )


def assignment_changes(
    task: Task, pairs: Collection[tuple[Topic, User]], *, replaces: bool
) -> LoadChanges:
    """Return the assignments that are created, kept and, with `replaces`, ended."""
    changes, pair_keys = (
        LoadChanges(),
        {(topic.query_id, person.username) for topic, person in pairs},
    )
    had = {
        (assignment.topic.query_id, assignment.assessor.username)
        for assignment in _open(task, {topic for topic, _ in pairs})
    }
    ended = had - pair_keys if replaces else set()
    for fate, keys in (
        (Fate.NEW, pair_keys - had),
        (Fate.UNCHANGED, pair_keys & had),
        (Fate.DELETED, ended),
    ):
        changes.add("assignments", fate, *(Change(" ".join(pair)) for pair in sorted(keys)))
    return changes


@transaction.atomic
def assign_topics(
    *,
    task: Task,
    pairs: Collection[tuple[Topic, User]],
    replaces: bool,
    at: datetime,
    by: User | None,
    choice: LoadChoice = NO_CHOICE,
) -> Reassigned:
    """Assign topics to assessors, in addition to their current assignments.

    With `replaces`, all other assignments of these topics end; the records and the labels are kept.
    Raise `UnconfirmedLoadError` if assignments would end, and `UserError` for a user who may not
    judge in the lab (code `no-assessor`).
    """
    # Lock the task: of two organizers who assign at once, the second must see the first's changes.
    Task.objects.select_for_update().get(pk=task.pk)
    pair_keys = {(topic.pk, person.pk) for topic, person in pairs}
    refuse_others(task, [person for _, person in pairs])
    require_confirmed(assignment_changes(task, pairs, replaces=replaces), choice.confirmed)
    had = {
        (assignment.topic_id, assignment.assessor_id): assignment
        for assignment in _open(task, {topic for topic, _ in pairs})
    }
    fresh = [
        (topic, person)
        for topic, person in dict.fromkeys(pairs)
        if (topic.pk, person.pk) not in had
    ]
    gone = [assignment for key, assignment in had.items() if replaces and key not in pair_keys]
    _end(gone, at)
    Assignment.objects.bulk_create(
        Assignment(topic=topic, assessor=person, assigned_by=by, assigned_at=at)
        for topic, person in fresh
    )
    if fresh or gone:
        assigned, withdrawn = topics_by_person(fresh), topics_by_person(map(_pair, gone))
        record_event("topics.assign", task, by, assigned=assigned, taken=withdrawn)
    _tell_assessors(task, fresh, at=at, by=by)
    return Reassigned(len(fresh), len(gone))


def _tell_assessors(
    task: Task, fresh: Collection[tuple[Topic, User]], *, at: datetime, by: User | None
) -> None:
    """Notify assessors of their new topics, but for those who assigned topics to themselves."""
    assigned = topics_by_person(fresh)
    for person in dict.fromkeys(person for _, person in fresh if person != by):
        ids = assigned[person.get_username()]
        notify(
            task,
            Kind.TOPICS_ASSIGNED,
            [person],
            path=reverse("assessment:judging-home", args=[task.lab.slug]),
            key=f"topics-assigned {task.pk} {at.isoformat()}",
            person=by.name if by else "An organizer",
            topics=counted(len(ids), "topic"),
            ids=", ".join(ids),
        )


@transaction.atomic
def take_topics(
    *, task: Task, topics: Collection[Topic], person: User | None, at: datetime, by: User | None
) -> int:
    """End the assignments of topics to a user, or to all. Return their number."""
    # Lock the task, as `assign_topics` does: the log records what was taken, once.
    Task.objects.select_for_update().get(pk=task.pk)
    gone = [
        assignment
        for assignment in _open(task, topics)
        if person is None or assignment.assessor_id == person.pk
    ]
    _end(gone, at)
    if gone:
        record_event("topics.take", task, by, taken=topics_by_person(map(_pair, gone)))
    return len(gone)


@transaction.atomic
def review_topics(
    *, task: Task, topics: Collection[Topic], at: datetime | None, by: User | None
) -> int:
    """Mark finished topics as in review since `at`, or end their review if `at` is None.

    Return how many topics changed. Raise `UserError` with the topics that are not finished, have no
    items or are not assigned (code `not-done`).
    """
    # Lock the task, as `assign_topics` does: an assignment may end at this moment.
    Task.objects.select_for_update().get(pk=task.pk)
    assignments = _open(task, topics)
    if at is not None:
        items = PoolItem.official.filter(topic__in=topics).order_by()
        waiting = set(items.filter(done_at=None, pool__closed_at=None).values_list("topic"))
        finished = set(items.values_list("topic")) - waiting
        finished &= {(assignment.topic_id,) for assignment in assignments}
        if open_topics := [topic for topic in topics if (topic.pk,) not in finished]:
            raise UserError(
                f"Cannot review {named(open_topics)}. Only an assigned topic whose items are all "
                "judged can be in review. Nothing was changed.",
                code="not-done",
            )
    changed = [
        assignment
        for assignment in assignments
        if (assignment.reviewed_since is None) != (at is None)
    ]
    Assignment.objects.filter(pk__in=[assignment.pk for assignment in changed]).update(
        reviewed_since=at
    )
    names = list(dict.fromkeys(assignment.topic.query_id for assignment in changed))
    if names:
        record_event("topics.review" if at else "topics.unreview", task, by, topics=names)
    return len(names)


def return_items(items: QuerySet[PoolItem]) -> None:
    """Return items to their topics to be judged again."""
    items.update(done_at=None, later_at=None, leased_to=None, leased_until=None)
    end_reviews(items)


def end_reviews(items: QuerySet[PoolItem]) -> None:
    """End the review of topics with unjudged items: only finished topics can be in review."""
    topics = items.filter(done_at=None).order_by().values("topic")
    reviewed = Assignment.objects.filter(topic__in=topics, reviewed_since__isnull=False)
    reviewed.filter(ended_at=None).update(reviewed_since=None)


def _open(task: Task, topics: Iterable[Topic]) -> list[Assignment]:
    assignments = Assignment.objects.filter(topic__task=task, topic__in=topics, ended_at=None)
    return list(assignments.select_related("topic", "assessor").order_by("topic__position", "pk"))


def end_trips(topics: Iterable[tuple[int, int]], *, at: datetime) -> int:
    """End the offline trips by topic and user, and return how many items others can take now."""
    of_trips = Q(*(Q(topic=topic, leased_to=user) for topic, user in topics), _connector=Q.OR)
    return (
        long_leases(at).filter(of_trips).update(leased_to=None, leased_until=None)
        if of_trips
        else 0
    )


@transaction.atomic
def end_trip_by_hand(topic: Topic, person: int, *, at: datetime, by: User) -> int:
    """End the offline trip of a user, and return how many items others can take now."""
    count = end_trips([(topic.pk, person)], at=at)
    if count:
        name = User.objects.get(pk=person).get_username()
        record_event("trips.end", topic.task, by, taken={name: [topic.query_id]})
    return count


def _end(gone: Collection[Assignment], at: datetime) -> None:
    # A label that returns its item locks the item and then the assignments. Another order here
    # could deadlock.
    end_trips([(assignment.topic_id, assignment.assessor_id) for assignment in gone], at=at)
    Assignment.objects.filter(pk__in=[assignment.pk for assignment in gone], ended_at=None).update(
        ended_at=at
    )


def topics_by_person(pairs: Iterable[tuple[Topic, User]]) -> dict[str, list[str]]:
    """Return the ids of the topics by user name, for the audit log."""
    topics: dict[str, list[str]] = {}
    for topic, person in pairs:
        topics.setdefault(person.get_username(), []).append(topic.query_id)
    return topics


def _pair(assignment: Assignment) -> tuple[Topic, User]:
    return assignment.topic, assignment.assessor


def refuse_others(task: Task, people: Iterable[User]) -> None:
    """Raise `UserError` for users who may not judge in the lab (code `no-assessor`)."""
    others = set(people) - set(judging_staff(task.lab))
    if others:
        names = ", ".join(sorted(person.name for person in others))
        raise UserError(
            f"{names} cannot judge in {task.lab}. Grant the assessor role on the People page "
            "first.",
            code="no-assessor",
        )


def named(topics: Iterable[Topic]) -> str:
    """Return the names of topics for a sentence."""
    return name_list([topic.query_id for topic in topics])
