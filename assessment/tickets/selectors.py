"""Queries on tickets, which assessors open with a label that is not a judgment."""

from django.db.models import Count, F, Max, Q, QuerySet

from arqkit.labels import ScaleLabel
from arqlab.core.models import Lab, Task, User
from assessment.assignments.selectors.grid import TOPIC_TEXTS
from assessment.models import Ticket, TicketPolicy

REUSED = 10  # answers that are offered again
WITH_EXPERT = Q(answered_at=None, advised_at=None, expert__isnull=False)
TICKET_STATES = {
    "open": Q(answered_at=None) & ~WITH_EXPERT,
    "with-expert": WITH_EXPERT,
    "answered": Q(answered_at__isnull=False),
}
"""The conditions of the states of tickets (`Ticket.state`)."""
Action = TicketPolicy.Action
SENTENCES: dict[str, str] = {
    Action.WAIT: "The organizers read your comment and answer. The item stays unjudged unless they "
    "return it to be judged again.",
    Action.EXPERT: "An expert reads your comment and gives an opinion. The item stays unjudged "
    "unless it is returned to be judged again.",
    Action.ANOTHER: "Another assessor of the topic gets the item, once. If nobody else has the "
    "topic, the organizers answer.",
}
"""What happens with a reported item, for its assessor."""


def tickets_of(lab: Lab) -> QuerySet[Ticket]:
    """Return the tickets of a lab with the fields of a list, oldest first."""
    tickets = Ticket.objects.filter(judgment__instance__item__topic__task__lab=lab)
    item = "judgment__instance__item"
    people = ("judgment__assessor", "answered_by", "expert", "sent_by")
    related = (*people, f"{item}__topic__task__lab", f"{item}__pool")
    unread = ("html", f"{item}__text", f"{item}__pool__settings", f"{item}__pool__runs")
    return tickets.select_related(*related).defer(
        *unread, *(f"{item}__topic__{text}" for text in TOPIC_TEXTS)
    )


def own_answered_tickets(lab: Lab, user: User) -> QuerySet[Ticket]:
    """Return an assessor's tickets that somebody answered, newest answer first."""
    return (
        tickets_of(lab)
        .filter(judgment__assessor=user, answered_by__isnull=False)
        .order_by("-answered_at")
    )


def sent_tickets(lab: Lab, user: User) -> QuerySet[Ticket]:
    """Return the tickets with a user as their expert, those without a reply first."""
    waiting_first = F("advised_at").asc(nulls_first=True)
    return tickets_of(lab).filter(expert=user, answered_at=None).order_by(waiting_first, "pk")


def proposed_labels(task: Task) -> QuerySet[Ticket]:
    """Return the tickets whose expert proposes a label, for the adjudication of a task to take.

    A proposal counts nowhere by itself. Its instance is `judgment.instance`, its label
    `proposed_label`, its reason `opinion`, and its author `expert`.
    """
    proposed = tickets_of(task.lab).filter(proposed_label__isnull=False)
    item = "judgment__instance__item"
    return proposed.filter(**{f"{item}__topic__task": task, f"{item}__assessor": None})


def policy_of(task: Task) -> TicketPolicy:
    """Return the policy of a task; by default, tickets wait for the organizers."""
    try:
        return task.ticket_policy
    except TicketPolicy.DoesNotExist:
        return TicketPolicy(task=task)


def reused_answers(lab: Lab) -> dict[int, str]:
    """Return the answers that organizers gave most often, by the id of a ticket with the answer."""
    answered = Ticket.objects.filter(judgment__instance__item__topic__task__lab=lab)
    texts = answered.filter(answered_by__isnull=False).order_by().values("answer")
    most = texts.annotate(uses=Count("pk"), last=Max("pk")).order_by("-uses", "-last")
    return {row["last"]: row["answer"] for row in most[:REUSED]}


def open_tickets(labs: QuerySet[Lab] | list[Lab]) -> dict[int, int]:
    """Return the number of open tickets by lab, without labs that have none."""
    key = "judgment__instance__item__topic__task__lab"
    tickets = Ticket.objects.filter(**{f"{key}__in": labs}, answered_at=None).order_by()
    return dict(tickets.values_list(key).annotate(count=Count("pk")))


def policy_sentences(tasks: QuerySet[Task]) -> list[tuple[Task, list[tuple[ScaleLabel, str]]]]:
    """Return what happens with each label that is not a judgment, in words, by task in order."""
    read = tasks.select_related("lab", "ticket_policy__expert").order_by("position", "pk")
    policies = [(task, policy_of(task)) for task in read]
    return [
        (
            task,
            [
                (label, SENTENCES[policy.action_of(label.value)])
                for label in task.protocol.labels.reports
            ],
        )
        for task, policy in policies
    ]
