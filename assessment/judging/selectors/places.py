"""Where people judge: a topic, in the official round or in another one."""

from dataclasses import dataclass
from typing import NamedTuple

from django.db.models import Exists, OuterRef
from django.urls import reverse

from arqkit.judgments.questions import SpecialQuestion
from arqlab.core.models import Lab, Membership, Role, Task, Topic, Visitor
from assessment.judging.selectors.items import Stack, TopicPath
from assessment.judging.selectors.progress import assigned_topics
from assessment.models import Judgment, Pool, PoolItem, Round
from assessment.models.kinds import KINDS, parts_of_key


class AskedQuestions(NamedTuple):
    """The questions of a round by the id of their instance, and the assessor's own official label
    of the item; blank if somebody else judged it.
    """

    questions: dict[str, SpecialQuestion]
    label: str


NOTHING_ASKED = AskedQuestions({}, "")


def asked_questions(item_id: int, *, path: TopicPath, user_id: int) -> AskedQuestions:
    """Return what a round asks about an item; takes no query where no questions are asked."""
    if not path.asks_questions:
        return NOTHING_ASKED
    item = PoolItem.objects.select_related("pool__round").get(pk=item_id)
    official = Judgment.official.select_related("instance__item__pool").filter(
        instance__item__pool__task=item.pool.task_id,
        instance__item__topic=item.topic_id,
        instance__item__item=item.item,
        assessor=user_id,
        is_current=True,
    )
    judgment = official.first()
    return AskedQuestions(
        round_questions(item.pool.round), judgment.scale_label.word if judgment else ""
    )


def round_questions(round_: Round | None) -> dict[str, SpecialQuestion]:
    """Return the questions of a round by the id of their instance."""
    return {question.key: question for question in round_.questions} if round_ else {}


@dataclass(frozen=True)
class Place:
    """Where an assessor judges a topic: in the official round or another one of the `task`."""

    path: TopicPath
    topic: Topic
    task: Task
    round: Round | None
    stack: Stack

    def address(self, name: str = "judge") -> str:
        """Return the address of the judging page, or of another view for the same topic."""
        return judging_address(self.path, name)


def judging_address(path: TopicPath, name: str = "judge") -> str:
    """Return the address of a view for a topic, official or of a round."""
    parts = {part: value for part, value in path._asdict().items() if value}
    return reverse(f"assessment:{'round-' * bool(path.round)}{name}", kwargs=parts)


@dataclass(frozen=True, kw_only=True)
class PlacePage:
    """Where an assessor judges, as the pages of a topic show it, with the addresses around it.

    `opens_lab` is whether the user may open other pages of the lab: applicants may not.
    """

    lab: Lab
    task: Task
    topic: Topic
    round: Round | None
    judge_url: str
    list_url: str
    home_url: str
    opens_lab: bool


def page_of_place(place: Place) -> PlacePage:
    """Return what the pages of a topic show of its place."""
    home_url = reverse("assessment:judging-home", args=[place.path.lab])
    if place.round and not place.path.opens_lab:
        home_url = place.round.address
    return PlacePage(
        lab=place.task.lab,
        task=place.task,
        topic=place.topic,
        round=place.round,
        judge_url=place.address(),
        list_url=place.address("judgment-list"),
        home_url=home_url,
        opens_lab=place.path.opens_lab,
    )


def place_of(user: Visitor, path: TopicPath) -> Place | None:
    """Return where a user judges, or None if they do not judge the topic there."""
    if "\0" in path.query_id:
        return None
    if not path.round:
        names = {"query_id": path.query_id, "task__slug": path.task, "task__lab__slug": path.lab}
        topic = assigned_topics(user).select_related("task__lab").filter(**names).first()
        return Place(path, topic, topic.task, None, Stack(topic.pk)) if topic else None
    parts = parts_of_key(path.round)
    return _in_round(user, path, *parts) if user.pk and parts else None


def _in_round(user: Visitor, path: TopicPath, kind: str, number: int) -> Place | None:
    """Return the place of an assessor with items in a round; applicants need no role in the lab."""
    pools = Pool.objects.select_related("round", "task__lab").filter(
        round__kind=kind,
        round__number=number,
        task__slug=path.task,
        task__lab__slug=path.lab,
        task__archived_at=None,
        task__lab__archived_at=None,
    )
    if not KINDS[kind].is_for_applicants:
        roles = Membership.objects.filter(lab=OuterRef("task__lab"), role__in=Role.judging())
        pools = pools.filter(Exists(roles.filter(user=user.pk)))
    pool = pools.first()
    if pool is None:
        return None
    topics = Topic.objects.filter(pool_items__pool=pool, pool_items__assessor=user.pk)
    topic = topics.select_related("task__lab").filter(query_id=path.query_id).distinct().first()
    return Place(path, topic, pool.task, pool.round, Stack(topic.pk, pool.pk)) if topic else None
