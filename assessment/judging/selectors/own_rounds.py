"""A user's own topics in rounds, with their progress."""

from __future__ import annotations

from typing import NamedTuple

from django.db.models import Count, Exists, OuterRef

from arqlab.core.models import Lab, Membership, Topic, User
from assessment.assignments.selectors.grid import JUDGING_ROLES
from assessment.judging.selectors.items import TopicPath
from assessment.judging.selectors.places import judging_address
from assessment.models import PoolItem, Round

_NOT_REVEALED = (Round.Kind.SECOND, Round.Kind.ADJUDICATION)


class RoundTopic(NamedTuple):
    """A topic that a user judges in a round, its number of items, and how many are judged."""

    round: Round
    topic: Topic
    items: int
    done: int
    address: str

    @property
    def state(self) -> str:
        """Return the state of judging: `done`, `closed`, `in-progress` or `not-started`."""
        if self.done == self.items:
            return "done"
        if self.round.pool.closed_at:
            return "closed"
        return "in-progress" if self.done else "not-started"

    @property
    def is_earlier(self) -> bool:
        """Return whether nothing is left to judge or to wait for."""
        is_judged = self.done == self.items and self.round.kind in _NOT_REVEALED
        return is_judged or self.round.pool.closed_at is not None


def own_round_topics(
    user: User, *, lab: Lab | None = None, round_id: int | None = None
) -> list[RoundTopic]:
    """Return a user's topics in the rounds of a lab or in one round, newest round first.

    Without a role in the lab, only sample tasks are listed. Archived tasks are left out.
    """
    within = {"pool__round": round_id} if round_id else {"pool__round__task__lab": lab}
    roles = Membership.objects.filter(
        lab=OuterRef("pool__round__task__lab"), role__in=JUDGING_ROLES, user=user
    )
    own = PoolItem.objects.filter(assessor=user, pool__round__task__archived_at=None, **within)
    is_sample = {"pool__round__kind": Round.Kind.SAMPLE}
    own = own.filter(Exists(roles)) | own.filter(**is_sample)
    counted = (
        own.order_by()
        .values("pool__round", "topic")
        .annotate(items=Count("pk"), done=Count("done_at"))
        .values_list("pool__round", "topic", "items", "done")
    )
    rows = list(counted)
    rounds = Round.objects.select_related("pool", "task__lab").in_bulk({row[0] for row in rows})
    topics = Topic.objects.in_bulk({row[1] for row in rows})
    found = [_row(rounds[one], topics[topic], items, done) for one, topic, items, done in rows]
    return sorted(found, key=lambda row: (-row.round.pk, row.topic.position))


def _row(found: Round, topic: Topic, items: int, done: int) -> RoundTopic:
    path = TopicPath(found.task.lab.slug, found.task.slug, topic.query_id, found.key)
    return RoundTopic(found, topic, items, done, judging_address(path))
