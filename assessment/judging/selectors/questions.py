"""The special questions of a round as the judging page asks them."""

from __future__ import annotations

from typing import NamedTuple

from arqkit.judgments.questions import SpecialQuestion
from assessment.judging.selectors.items import TopicPath
from assessment.models import Judgment, PoolItem, Round


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
    official = Judgment.official.filter(
        instance__item__pool__task=item.pool.task_id,
        instance__item__topic=item.topic_id,
        instance__item__item=item.item,
        assessor=user_id,
        is_current=True,
    ).select_related("instance__item__pool")
    own = official.first()
    return AskedQuestions(round_questions(item.pool.round), own.scale_label.word if own else "")


def round_questions(found: Round | None) -> dict[str, SpecialQuestion]:
    """Return the questions of a round by the id of their instance."""
    return {one.key: one for one in found.questions} if found else {}
