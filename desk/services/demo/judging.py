"""Simulated judging: pools, assignments, and judgments with the labels of the demo's qrels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from uuid import uuid4

from arqkit.labels import LabelScale
from arqlab.core.models import Topic, User
from assessment.assignments.services.assigning import assign_topics
from assessment.judging.selectors.items import ShownInstance, Stack, TopicPath
from assessment.judging.services.items import item_payload
from assessment.judging.services.judgments import submit_judgments
from assessment.judging.services.leases import Seat, Taken, take_next
from assessment.judging.services.stored_labels import Label, Submission
from assessment.models import Qrel, Ticket
from assessment.pools.selectors.choices import PoolChoice
from assessment.pools.services.freezing import freeze_pool
from assessment.qrels.selectors.drafts import task_scale
from assessment.tickets.services.answers import answer_ticket
from desk.demo.judging import DemoPool, SharePlan, read_pools, read_tickets
from desk.services.demo.context import DemoContext

FROZEN_DAYS = 6
BROWSER = "Mozilla/5.0 (X11; Linux x86_64; rv:146.0) Gecko/20100101 Firefox/146.0"
Labels = Mapping[tuple[str, str], int]


@dataclass(frozen=True)
class _SimulatedAssessor:
    """An assessor's seat at a topic, with the labels and comments to give by topic and item."""

    seat: Seat
    labels: Labels
    comments: Mapping[tuple[str, str], str]
    scale: LabelScale

    def label(self, taken: Taken, instance: ShownInstance) -> Label:
        """Return the label of an instance as the judging page sends it."""
        place = (self.seat.path.query_id, instance.doc_id)
        label, html = self.labels[place], ""
        if label in self.scale.unjudged:
            payload = item_payload(taken, lab_slug=self.seat.path.lab)
            [html] = [
                part["html"] for part in payload["instances"] if part["instance"] == instance.pk
            ]
        comment = self.comments[place] if html else ""
        return Label(
            instance.pk,
            label,
            uuid4(),
            comment,
            active_ms=_reading_ms(taken, instance),
            shown=html,
        )


def simulate_judging(demo: DemoContext, people: Mapping[str, User]) -> None:
    """Freeze the pools of `judging.toml`, assign their topics and judge them as planned.

    Leaderboards do not change.
    """
    for hours, plan in enumerate(read_pools(), start=1):
        task, at = demo.tasks[plan.task], demo.at - timedelta(days=FROZEN_DAYS)
        protocol = replace(task.protocol.pool, primary=plan.primary, alternate=plan.alternate)
        freeze_pool(task=task, choice=PoolChoice(protocol, plan.seed), by=demo.organizer, at=at)
        for share in plan.shares:
            _judge_share(
                demo, plan, share, people[share.assessor], end=demo.at - timedelta(hours=hours)
            )
    _answer_tickets(demo)


def _judge_share(
    demo: DemoContext, plan: DemoPool, share: SharePlan, person: User, *, end: datetime
) -> None:
    """Assign an assessor's topics and judge one of them a day, the last one today."""
    task = demo.tasks[plan.task]
    topics = {topic.query_id: topic for topic in task.topics.filter(query_id__in=share.topics)}
    pairs = [(topics[name], person) for name in share.topics]
    assign_topics(
        task=task,
        pairs=pairs,
        replaces=False,
        at=demo.at - timedelta(days=FROZEN_DAYS),
        by=demo.organizer,
    )
    labels = _labels(demo, plan)
    comments = {(ticket.topic, ticket.item): ticket.comment for ticket in read_tickets()}
    last = len(share.sittings) - 1
    for number, (name, count) in enumerate(share.sittings):
        seat = Seat(person, TopicPath(demo.lab.slug, plan.task, name))
        _judge_topic(
            topics[name],
            _SimulatedAssessor(seat, labels, comments, task_scale(task)),
            count,
            at=end - timedelta(days=last - number),
        )


def _judge_topic(
    topic: Topic, assessor: _SimulatedAssessor, count: int | None, *, at: datetime
) -> None:
    """Judge `count` items of a topic in order, or all items."""
    taken = take_next(stack=Stack(topic.pk), seat=assessor.seat, have=(), at=at)
    judged = 0
    while taken and judged != count:
        labels = tuple(assessor.label(taken, instance) for instance in taken.shown.instances)
        leased_at = at
        at += timedelta(milliseconds=sum(label.active_ms or 0 for label in labels))
        submission = Submission(taken.shown.item.pk, labels, leased_at)
        taken = submit_judgments(
            seat=assessor.seat, submission=submission, browser=BROWSER, at=at
        ).following
        judged += 1


def _labels(demo: DemoContext, plan: DemoPool) -> Labels:
    labels: dict[tuple[str, str], int] = {}
    for named in plan.qrels:
        task, name = named.split("/")
        rows = Qrel.objects.filter(qrel_set__task=demo.tasks[task], qrel_set__name=name)
        labels |= {
            (topic, item): label
            for topic, item, label in rows.values_list("query_id", "doc_id", "relevance")
        }
    return labels


def _reading_ms(taken: Taken, instance: ShownInstance) -> int:
    """Return the judging time: nine seconds, plus the text at forty characters per second."""
    text = instance.post.body if instance.post else taken.shown.item.text
    return 9_000 + 25 * len(text)


def _answer_tickets(demo: DemoContext) -> None:
    for plan in read_tickets():
        if plan.answer:
            ticket = Ticket.objects.get(
                judgment__instance__doc_id=plan.item,
                judgment__instance__item__topic__query_id=plan.topic,
                judgment__instance__item__pool__task__lab=demo.lab,
            )
            at = ticket.raised_at + timedelta(hours=3)
            answer_ticket(
                ticket=ticket, answer=plan.answer, returns_item=False, at=at, by=demo.organizer
            )
