"""The judging page of a topic: its guidelines, the first items, leased, and the progress."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import NamedTuple

from arqkit.labels import LabelScale
from arqlab.core.models import Topic, User
from arqlab.labs.permissions import may_see_thread
from arqlab.labs.selectors import corrections_of
from arqlab.labs.services.topic_pages import question_with_links
from assessment.errors import JudgingError
from assessment.guidelines.selectors.versions import (
    current_guideline,
    followed_version,
    guideline_source,
)
from assessment.guidelines.services.rendering import ShownGuideline, guideline_html, show_guideline
from assessment.judging.selectors.places import Place, asked_questions, judging_address
from assessment.judging.selectors.progress import open_items
from assessment.judging.selectors.topic_work import TopicWork, next_topic, work_on
from assessment.judging.services.items import shown_payload
from assessment.judging.services.leases import (
    DEFAULT_HOURS,
    TRIP_HOURS,
    Seat,
    Taken,
    take_item,
    take_next,
)
from assessment.models import Guideline
from assessment.pools.selectors.choices import hides_threads
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


@dataclass(frozen=True, kw_only=True)
class JudgingPage:
    """What an assessor sees who judges a topic.

    - sitting: the items, of which `others` assessors have some, and the user `reported` some.
    - shown_guideline, definitions: the guidelines; `followed` is the version the user judged with,
      if it is an earlier one.
    - next_topic, next_url: where the user goes on.
    - trip_hours, default_hours: how long the page can be used offline.
    """

    sitting: Sitting
    is_offline: bool
    hides_threads: bool
    has_thread: bool
    scale: LabelScale
    question_html: str
    guideline: Guideline | None
    shown_guideline: ShownGuideline
    definitions: Mapping[str, str]
    followed: int | None
    work: TopicWork
    reported: int
    others: int
    next_topic: Topic | None
    next_url: str
    trip_hours: Mapping[int, str]
    default_hours: int


def open_judging_page(
    *, place: Place, user: User, item_id: int | None, at: datetime, is_offline: bool
) -> JudgingPage:
    """Lease the first items of a topic, or none for an offline trip, and return the page of it."""
    count = 0 if is_offline else AT_ONCE
    sitting = open_sitting(place=place, user=user, item_id=item_id, at=at, count=count)
    work, guideline = sitting.work, current_guideline(place.task)
    following = next_topic(place, user)
    # With nothing left to take, what the user reported waits for other assessors.
    waiting = open_items(place.stack, user.pk).filter(done_at=None)
    reported = 0 if sitting.items else waiting.filter(kept_from=user).count()
    # Answers to special questions have no definitions.
    definitions = guideline.definitions if guideline and not place.path.asks_questions else {}
    return JudgingPage(
        sitting=sitting,
        is_offline=is_offline,
        hides_threads=hides_threads(place.topic.pk),
        has_thread=_has_thread(place, user),
        scale=work.scale,
        question_html=sitting.question_html,
        guideline=guideline,
        shown_guideline=_shown_guideline(place, guideline, work, is_offline=is_offline),
        definitions=definitions,
        followed=_followed(guideline, user, work) if guideline else None,
        work=work,
        reported=reported,
        others=work.total - work.done - reported,
        next_topic=following,
        next_url=_next_url(place, following) if following else "",
        trip_hours=TRIP_HOURS,
        default_hours=DEFAULT_HOURS,
    )


def _has_thread(place: Place, user: User) -> bool:
    """Return whether the page opens the thread: topics of a round may be of another lab."""
    has_thread = place.task.words.has_threads and place.path.opens_lab and place.topic.is_question
    return has_thread and (not place.round or may_see_thread(user, place.topic))


def _shown_guideline(
    place: Place, guideline: Guideline | None, work: TopicWork, *, is_offline: bool
) -> ShownGuideline:
    """Return the guidelines: only the text where the page loads the rest when needed."""
    if guideline is None or is_offline or not place.path.opens_lab:
        return show_guideline(place.task, guideline)
    html = guideline_html(guideline_source(place.task, guideline, work.scale))
    return ShownGuideline(html, False, [], [])


def _followed(guideline: Guideline, user: User, work: TopicWork) -> int | None:
    """Return the version that the user judged with, if it is earlier than the current one."""
    followed = followed_version(user, guideline.task)
    if followed is None and work.judged:
        followed = 0
    return followed if followed is not None and followed < guideline.version else None


def _next_url(place: Place, following: Topic) -> str:
    task = place.path.task if place.round else following.task.slug
    return judging_address(place.path._replace(task=task, query_id=following.query_id))


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
