"""Rounds for tests."""

from collections.abc import Sequence
from typing import Any

from arqkit.judgments.questions import SpecialQuestion, answer_scale
from arqlab.core.models import Task, User
from assessment.models import PoolInstance, PoolItem, Round
from assessment.rounds.selectors.rounds import CopiedInstance, copied_items
from assessment.rounds.services.rounds import RoundPlan, make_round
from tests.assessment.factories import NOW, judge


def round_of(
    task: Task, kind: str, *people: User, topics: Sequence[str] = (), **fields: Any
) -> Round:
    """Make a round in which everyone judges all official items of the topics, or of all topics."""
    items = PoolItem.official.filter(pool__task=task)
    if topics:
        items = items.filter(topic__query_id__in=topics)
    copies = copied_items(items)
    plan = RoundPlan(kind, {person.pk: copies for person in people}, **fields)
    return make_round(task=task, plan=plan, by=None, at=NOW)


def vote(made: Round, person: User, doc_id: str, label: int, **fields: Any) -> None:
    """Store a label of an assessor in a round."""
    instance = PoolInstance.objects.get(item__pool=made.pool, item__assessor=person, doc_id=doc_id)
    judge(person, instance, label, **fields)


def questions_of(task: Task, *people: User, keys: Sequence[str] = ("MG",)) -> Round:
    """Make a round in which everyone is asked yes/no questions about all official items."""
    scale = answer_scale(["Yes", "No"], task.protocol.labels.reports)
    questions = [SpecialQuestion(key, f"Is it {key}?", "", scale.values[0]) for key in keys]
    copies = [
        item._replace(instances=tuple(CopiedInstance(key, item.item) for key in keys))
        for item in copied_items(PoolItem.official.filter(pool__task=task))
    ]
    plan = RoundPlan(
        "questions",
        {person.pk: copies for person in people},
        source={"questions": [one._asdict() for one in questions]},
        scale=scale,
    )
    return make_round(task=task, plan=plan, by=None, at=NOW)
