"""The initial content of the judging page: the first items, leased, and the progress."""

from datetime import datetime
from functools import partial
from typing import NamedTuple

from arqlab.core.models import Topic, User
from arqlab.labs.selectors import corrections_of
from arqlab.labs.services.topic_pages import question_with_links
from assessment.errors import JudgingError
from assessment.judging.selectors.places import Place, asked_questions
from assessment.judging.selectors.topic_work import TopicWork, work_on
from assessment.judging.services.items import shown_payload
from assessment.judging.services.leases import Seat, Taken, take_item, take_next
from collection.selectors.collections import collection_of
from collection.services.addresses import local_pages

AT_ONCE = 2  # the shown item and the next one; the page fetches more


class Sitting(NamedTuple):
    """The question, the first items, the requested item, and the reason if it cannot be shown."""

    question_html: str
    items: list[dict[str, object]]
    asked_for: dict[str, object] | None
    refusal: str
    work: TopicWork


def open_sitting(
    *, place: Place, user: User, item_id: int | None, at: datetime, count: int = AT_ONCE
) -> Sitting:
    """Lease the first items of a topic, and perhaps `item_id`, and return the page's content."""
    seat, leased, refusal = Seat(user, place.path), None, ""
    try:
        if item_id:
            leased = take_item(item_id=item_id, stack=place.stack, seat=seat, at=at)
    except JudgingError as error:
        refusal = error.message
    items, have = list[dict[str, object]](), list[int]()
    while len(items) < count:
        following = take_next(stack=place.stack, seat=seat, have=have, at=at)
        if following is None:
            break
        items.append(taken_payload(following, seat=seat))
        have.append(following.shown.item.pk)
    asked_for = taken_payload(leased, seat=seat) if leased else None
    return Sitting(_question_html(place.topic), items, asked_for, refusal, work_on(place, user))


def taken_payload(leased: Taken, *, seat: Seat) -> dict[str, object]:
    """Return an item that an assessor has as the judging page shows it."""
    path = seat.path
    questions = asked_questions(leased.shown.item.pk, path=path, user_id=seat.user.pk)
    payload = shown_payload(
        leased.shown, lab_slug=path.lab, opens_lab=path.opens_lab, questions=questions
    )
    return {**payload, **leased.lease._asdict()}


def _question_html(topic: Topic) -> str:
    """Return the typeset question, with links to posts that were imported after the topic."""
    collection = collection_of(topic.task.lab) if "dead-link" in topic.body_html else None
    if collection is None:
        return topic.body_html
    return question_with_links(
        topic.record,
        partial(local_pages, collection=collection, lab_slug=topic.task.lab.slug),
        corrections_of(topic.task.lab).formulas,
    )
