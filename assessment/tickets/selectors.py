"""Queries on tickets, which assessors open with a label that is not a judgment."""

from __future__ import annotations

from django.db.models import Count, QuerySet

from arqlab.core.models import Lab, User
from assessment.assignments.selectors.grid import TOPIC_TEXTS
from assessment.models import Judgment, PoolInstance, Ticket


def tickets_of(lab: Lab) -> QuerySet[Ticket]:
    """Return the tickets of a lab with the fields of a list, oldest first."""
    found = Ticket.objects.filter(judgment__instance__item__topic__task__lab=lab)
    item = "judgment__instance__item"
    related = ("judgment__assessor", "answered_by", f"{item}__topic__task__lab", f"{item}__pool")
    unread = ("html", f"{item}__text", f"{item}__pool__settings", f"{item}__pool__runs")
    return found.select_related(*related).defer(
        *unread, *(f"{item}__topic__{text}" for text in TOPIC_TEXTS)
    )


def own_answered_tickets(lab: Lab, user: User) -> QuerySet[Ticket]:
    """Return an assessor's answered tickets, newest answer first.

    Tickets closed because the assessor judged the item after all have no answer and are left out.
    """
    return (
        tickets_of(lab)
        .filter(judgment__assessor=user, answered_by__isnull=False)
        .order_by("-answered_at")
    )


def own_open_tickets(lab: Lab, user: User) -> QuerySet[Ticket]:
    """Return an assessor's tickets that wait for an answer."""
    return tickets_of(lab).filter(judgment__assessor=user, answered_at=None)


def open_tickets(labs: QuerySet[Lab] | list[Lab]) -> dict[int, int]:
    """Return the number of open tickets by lab, without labs that have none."""
    key = "judgment__instance__item__topic__task__lab"
    found = Ticket.objects.filter(**{f"{key}__in": labs}, answered_at=None).order_by()
    return dict(found.values_list(key).annotate(count=Count("pk")))


def label_now(instance: PoolInstance) -> Judgment | None:
    """Return the current judgment of an instance, or None."""
    return instance.judgments.filter(is_current=True).select_related("assessor").first()
