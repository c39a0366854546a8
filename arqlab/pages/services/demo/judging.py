"""The judging in the demo: pools frozen, topics assigned, some judged with the labels of the demo's
own qrels.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from uuid import uuid4

from arqlab.core.models import Topic, User
from arqlab.ir.labels import NOT_JUDGMENTS
from arqlab.pages.demo.judging import DemoPool, SharePlan, read_pools, read_tickets
from arqlab.pages.services.demo.stage import Stage
from assessment.assignments.services import assign_topics
from assessment.judging.selectors.items import ShownInstance, TopicPath
from assessment.judging.services.items import item_payload
from assessment.judging.services.judgments import submit_judgments
from assessment.judging.services.leases import Seat, Taken, take_next
from assessment.judging.services.stored_labels import Label, Submission
from assessment.models import Qrel, Ticket
from assessment.pools.selectors.choices import PoolChoice
from assessment.pools.services.freezing import freeze_pool
from assessment.tickets.services import answer_ticket

FROZEN_DAYS = 6
BROWSER = "Mozilla/5.0 (X11; Linux x86_64; rv:146.0) Gecko/20100101 Firefox/146.0"
Labels = Mapping[tuple[str, str], int]


@dataclass(frozen=True)
class _Desk:
    """A seat at a topic, and what its assessor says: labels and comments by topic and item."""

    seat: Seat
    labels: Labels
    comments: Mapping[tuple[str, str], str]

    def label(self, taken: Taken, instance: ShownInstance) -> Label:
        """Return the label of an instance as the page sends it."""
        place = (self.seat.path.query_id, instance.doc_id)
        label, shown = self.labels[place], ""
        if label in NOT_JUDGMENTS:
            payload = item_payload(taken, lab_slug=self.seat.path.lab)
            [shown] = [
                each["html"] for each in payload["instances"] if each["doc_id"] == instance.doc_id
            ]
        comment = self.comments[place] if shown else ""
        return Label(
            instance.pk,
            label,
            uuid4(),
            comment,
            active_ms=_reading_ms(taken, instance),
            shown=shown,
        )


def play_judging(stage: Stage, people: Mapping[str, User]) -> None:
    """Freeze the pools of `judging.toml`, assign their topics, and judge as far as it says. Boards
    stay as they are.
    """
    for hours, plan in enumerate(read_pools(), start=1):
        task, at = stage.tasks[plan.task], stage.at - timedelta(days=FROZEN_DAYS)
        protocol = replace(task.protocol.pool, primary=plan.primary, alternate=plan.alternate)
        freeze_pool(task=task, choice=PoolChoice(protocol, plan.seed), by=stage.organizer, at=at)
        for share in plan.shares:
            _judge_share(
                stage, plan, share, people[share.assessor], end=stage.at - timedelta(hours=hours)
            )
    _answer_tickets(stage)


def _judge_share(
    stage: Stage, plan: DemoPool, share: SharePlan, person: User, *, end: datetime
) -> None:
    """Assign a person's topics; each that they judged had a day, the last one today."""
    task = stage.tasks[plan.task]
    topics = {topic.query_id: topic for topic in task.topics.filter(query_id__in=share.topics)}
    pairs = [(topics[name], person) for name in share.topics]
    assign_topics(
        task=task,
        pairs=pairs,
        replaces=False,
        at=stage.at - timedelta(days=FROZEN_DAYS),
        by=stage.organizer,
    )
    labels = _labels(stage, plan)
    comments = {(ticket.topic, ticket.item): ticket.comment for ticket in read_tickets()}
    last = len(share.sittings) - 1
    for number, (name, count) in enumerate(share.sittings):
        seat = Seat(person, TopicPath(stage.lab.slug, plan.task, name))
        _judge_topic(
            topics[name],
            _Desk(seat, labels, comments),
            count,
            at=end - timedelta(days=last - number),
        )


def _judge_topic(topic: Topic, desk: _Desk, count: int | None, *, at: datetime) -> None:
    """Judge so many items of a topic one after the other, or all."""
    taken = take_next(topic_id=topic.pk, seat=desk.seat, have=(), at=at)
    judged = 0
    while taken and judged != count:
        labels = tuple(desk.label(taken, instance) for instance in taken.shown.instances)
        at += timedelta(milliseconds=sum(label.active_ms or 0 for label in labels))
        submission = Submission(taken.shown.item.pk, labels)
        taken = submit_judgments(
            seat=desk.seat, submission=submission, browser=BROWSER, at=at
        ).following
        judged += 1


def _labels(stage: Stage, plan: DemoPool) -> Labels:
    found: dict[tuple[str, str], int] = {}
    for named in plan.qrels:
        task, name = named.split("/")
        rows = Qrel.objects.filter(qrel_set__task=stage.tasks[task], qrel_set__name=name)
        found |= {
            (topic, item): label
            for topic, item, label in rows.values_list("query_id", "doc_id", "relevance")
        }
    return found


def _reading_ms(taken: Taken, instance: ShownInstance) -> int:
    """Return the time that an assessor takes: a moment to think, and the text at some forty
    characters a second.
    """
    text = instance.post.body if instance.post else taken.shown.item.text
    return 9_000 + 25 * len(text)


def _answer_tickets(stage: Stage) -> None:
    for plan in read_tickets():
        if plan.answer:
            ticket = Ticket.objects.get(
                judgment__instance__doc_id=plan.item,
                judgment__instance__item__topic__query_id=plan.topic,
                judgment__instance__item__pool__task__lab=stage.lab,
            )
            at = ticket.raised_at + timedelta(hours=3)
            answer_ticket(
                ticket=ticket, answer=plan.answer, gives_back=False, at=at, by=stage.organizer
            )
