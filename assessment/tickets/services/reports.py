"""The tickets that new labels open and close, from whichever entry point the labels come.

Whatever stores labels, or makes stored ones count, calls `update_tickets`.
"""

from collections.abc import Collection, Iterable, Mapping
from datetime import datetime
from typing import NamedTuple

from django.db.models import Q, QuerySet

from arqkit.formats.batches import in_slices
from arqkit.labels import LabelScale
from assessment.models import Judgment, PoolInstance, Ticket
from assessment.models.kinds import Comparison, kinds_that
from assessment.tickets.services.policies import apply_policies

# characters of the item's HTML kept with a ticket; the longest post has 60,000
SHOWN = 500_000
DECIDED = "The label of the item has been decided."
AT_ONCE = 500
"""Rows that one statement names by their keys; SQLite takes no more than 999."""


class Seen(NamedTuple):
    """What an assessor saw when they reported an item, if it was here."""

    html: str = ""
    browser: str = ""


def update_tickets(
    judgments: Collection[Judgment],
    *,
    scale: LabelScale,
    in_round: bool,
    answer: str,
    at: datetime,
    screens: Mapping[int, Seen] | None = None,
) -> None:
    """Open a ticket for each label that reports its item, and apply the policy of its task.

    A label that replaces one with an open ticket takes the ticket over if it is a report, and
    closes it with `answer` otherwise. A decision of the adjudication, whose labels are `in_round`,
    closes the tickets of the labels that it replaces. `screens` is by the id of the judgment. The
    caller has stored the labels, in the same transaction.
    """
    reports = {judgment.pk for judgment in judgments if judgment.label in scale.unjudged}
    # Late labels, which count only from now on, have tickets of their own.
    earlier = {ticket.judgment_id: ticket for ticket in _tickets_of(reports)}
    with_ticket = set(earlier)
    newer = {judgment.supersedes_id: judgment for judgment in judgments if judgment.supersedes_id}
    for ticket in _tickets_of(newer):
        judgment = newer[ticket.judgment_id]
        waiting = Ticket.objects.filter(pk=ticket.pk, answered_at=None)
        if judgment.pk not in reports or judgment.pk in with_ticket:
            waiting.update(answer=answer, answered_at=at)
        elif waiting.update(judgment=judgment):
            with_ticket.add(judgment.pk)
    tickets = Ticket.objects.bulk_create(
        (
            _ticket(judgment, (screens or {}).get(judgment.pk, Seen()), at)
            for judgment in judgments
            if judgment.pk in reports - with_ticket
        ),
        batch_size=AT_ONCE,
    )
    for part in in_slices([*earlier.values(), *tickets], size=AT_ONCE):
        apply_policies([ticket.pk for ticket in part], at=at)
    if in_round:
        _close_decided([judgment.pk for judgment in judgments if judgment.pk not in reports], at)


def _close_decided(judgments: Iterable[int], at: datetime) -> None:
    decides = {"instance__item__pool__round__kind__in": kinds_that(decides=True)}
    for part in in_slices(judgments, size=AT_ONCE):
        deciding = Judgment.objects.filter(pk__in=part, is_current=True, **decides)
        for judgment in deciding.select_related("instance__item"):
            waiting = _tickets_about(judgment.instance).filter(answered_at=None)
            waiting.update(answer=DECIDED, answered_at=at)


def reopen_tickets(copy: PoolInstance) -> None:
    """Open the tickets again that a decision closed, which no longer counts.

    `copy` is the instance in the adjudication. The caller has a transaction.
    """
    closed = _tickets_about(copy).filter(answer=DECIDED, answered_by=None)
    closed.filter(judgment__is_current=True).update(answer="", answered_at=None)


def _tickets_about(copy: PoolInstance) -> QuerySet[Ticket]:
    """Return the tickets of the labels that a decision about an instance replaces."""
    instance = "judgment__instance"
    replaced = kinds_that(compares=Comparison.OFFICIAL) + kinds_that(decides=True)
    tickets = Ticket.objects.filter(
        Q(**{f"{instance}__item__pool__round": None})
        | Q(**{f"{instance}__item__pool__round__kind__in": replaced})
    )
    same = {f"{instance}__item__topic": copy.item.topic_id, f"{instance}__doc_id": copy.doc_id}
    return tickets.filter(**same)


def _ticket(judgment: Judgment, screen: Seen, at: datetime) -> Ticket:
    html, browser = screen.html[:SHOWN], screen.browser[:300]
    return Ticket(judgment=judgment, html=html, browser=browser, raised_at=at)


def _tickets_of(judgments: Iterable[int]) -> list[Ticket]:
    return [
        ticket
        for part in in_slices(judgments, size=AT_ONCE)
        for ticket in Ticket.objects.filter(judgment__in=part).defer("html")
    ]
