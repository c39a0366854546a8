"""The roster of a task: assessors who were added or have topics, their hours and their bids."""

from collections import Counter
from dataclasses import dataclass

from django.db.models import Count, Q, QuerySet

from arqkit.judgments.assignment_plan import Preference
from arqlab.core.models import Lab, Task, Topic, User
from assessment.assignments.selectors.grid import GRID_FIELDS, judging_staff
from assessment.assignments.selectors.left_out import judged_topics_of, left_out_topics
from assessment.models import Assignment, RosterEntry, SecondPlan, TopicBid


@dataclass(frozen=True)
class RosterRow:
    """An assessor on a roster, with the numbers of topics and of those without a bid, and bids."""

    person: User
    entry: RosterEntry | None
    may_judge: bool
    topics: int
    bids: dict[str, Preference]
    unmarked: int

    @property
    def hours(self) -> float | None:
        """Return the hours offered, or None if the assessor gave no number."""
        return self.entry.hours if self.entry else None

    @property
    def counts(self) -> Counter[str]:
        """Return the number of bids by choice."""
        return Counter(self.bids.values())


def task_roster(task: Task) -> list[RosterRow]:
    """Return the roster of a task by name, in five queries."""
    staff = {person.pk for person in judging_staff(task.lab)}
    entries = {entry.user_id: entry for entry in task.roster.select_related("user")}
    people = {entry.user_id: entry.user for entry in entries.values()}
    topics = judged_topics_of(task)
    having = Q(assignments__topic__in=topics, assignments__ended_at=None)
    assigned = User.objects.filter(having).annotate(assigned=Count("assignments"))
    counts = {person.pk: person.assigned for person in assigned}
    people |= {person.pk: person for person in assigned}
    bids: dict[int, dict[str, Preference]] = {pk: {} for pk in people}
    topic_bids = TopicBid.objects.filter(topic__in=topics, user__in=people)
    for user, query_id, choice in topic_bids.values_list("user", "topic__query_id", "choice"):
        bids[user][query_id] = Preference(choice)
    total = topics.count()
    rows = [
        RosterRow(
            person,
            entries.get(pk),
            pk in staff,
            counts.get(pk, 0),
            person_bids,
            total - len(person_bids),
        )
        for (pk, person), person_bids in zip(people.items(), bids.values(), strict=True)
    ]
    return sorted(rows, key=lambda row: (row.person.name.lower(), row.person.pk))


def is_on_roster(user: User, task: Task) -> bool:
    """Return whether a user is on the roster of a task and may judge in its lab."""
    assigned = Assignment.objects.filter(topic__task=task, assessor=user, ended_at=None)
    is_listed = task.roster.filter(user=user).exists() or assigned.exists()
    return is_listed and judging_staff(task.lab).filter(pk=user.pk).exists()


def own_rosters(user: User, lab: Lab) -> QuerySet[Task]:
    """Return the tasks with a user on the roster, with `topic_count` and the number `marked`."""
    tasks = Task.objects.filter(lab=lab, archived_at=None, roster__user=user)
    is_judged = ~Q(topics__in=left_out_topics(tasks).values("pk"))
    return tasks.annotate(
        topic_count=Count("topics", filter=is_judged, distinct=True),
        marked=Count("topics__bids", filter=is_judged & Q(topics__bids__user=user), distinct=True),
    ).order_by("position", "pk")


def topics_to_bid_for(task: Task, user: User) -> list[tuple[Topic, str]]:
    """Return the judged topics of a task in order, each with the user's choice, or ""."""
    bids = TopicBid.objects.filter(topic__task=task, user=user)
    choices = dict(bids.values_list("topic", "choice"))
    topics = judged_topics_of(task).only(*GRID_FIELDS, "info_edits")
    return [(topic, choices.get(topic.pk, "")) for topic in topics]


def planned_seconds(task: Task) -> dict[int, User]:
    """Return the planned second assessor by topic, if they may judge and do not have it already."""
    assignments = Assignment.objects.filter(topic__task=task, ended_at=None)
    assigned = set(assignments.values_list("topic", "assessor"))
    staff = judging_staff(task.lab).values("pk")
    plans = SecondPlan.objects.filter(topic__task=task, assessor__in=staff)
    return {
        plan.topic_id: plan.assessor
        for plan in plans.select_related("assessor")
        if (plan.topic_id, plan.assessor_id) not in assigned
    }
