"""What the judging page holds when it opens: the first items, leased, and how far the topic is."""

from __future__ import annotations

from datetime import datetime
from typing import Any, NamedTuple

from arqlab.core.models import Topic, User
from assessment.errors import JudgingError
from assessment.selectors import TopicPath, TopicWork, work_on
from assessment.services.items import item_payload
from assessment.services.leases import Seat, take_item, take_next

AT_ONCE = 2  # the item that is read and the one behind it; the page fetches more


class Sitting(NamedTuple):
    """The items that wait, the one that was asked for by its id, and why that cannot be shown."""

    items: list[dict[str, Any]]
    asked_for: dict[str, Any] | None
    refusal: str
    work: TopicWork


def open_sitting(*, topic: Topic, user: User, item_id: int | None, at: datetime) -> Sitting:
    """Lease the first items of a topic to its assessor, and give them as the page shows them; `item_id` is one to show first."""
    lab_slug = topic.task.lab.slug
    seat = Seat(user, TopicPath(lab_slug, topic.task.slug, topic.query_id))
    asked_for, refusal = None, ""
    try:
        asked_for = take_item(item_id=item_id, topic_id=topic.pk, seat=seat, at=at) if item_id else None
    except JudgingError as error:
        refusal = error.message
    items: list[dict[str, Any]] = []
    while len(items) < AT_ONCE:
        found = take_next(topic_id=topic.pk, seat=seat, have=[item["item"] for item in items], at=at)
        if found is None:
            break
        items.append(item_payload(found, lab_slug=lab_slug))
    shown = item_payload(asked_for, lab_slug=lab_slug) if asked_for else None
    return Sitting(items, shown, refusal, work_on(topic, user))
