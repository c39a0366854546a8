"""Making of rounds: each assessor gets a copy of the items."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Max

from arqkit.agreement.second_judging import RejudgingPlan
from arqkit.labels import LabelScale
from arqlab.core.errors import UserError
from arqlab.core.models import Task, User
from arqlab.core.services.audit import record_event
from assessment.models import Pool, PoolInstance, PoolItem, QrelSet, Round
from assessment.qrels.selectors.drafts import task_scale
from assessment.rounds.selectors.rounds import CopiedItem, complete_trainings, copied_items
from assessment.rounds.services.states import announce_round, reveal_round


@transaction.atomic
def make_training(*, task: Task, plan: RoundPlan, by: User, at: datetime) -> Round:
    """Make a training round and notify its assessors. Raises as `make_round` does."""
    round_ = make_round(task=task, plan=plan, by=by, at=at)
    announce_round(round_, items={key: len(copies) for key, copies in plan.items.items()}, by=by)
    return round_


def reveal_trainings(*, at: datetime) -> None:
    """Reveal the votes of each training round in which all are in."""
    for round_ in complete_trainings():
        with suppress(UserError):  # an organizer came first
            reveal_round(round_=round_, by=None, at=at)


@transaction.atomic
def make_second_round(
    *, task: Task, plan: RejudgingPlan, source: Mapping[str, Any], by: User, at: datetime
) -> Round:
    """Store a round in which people judge items again as planned, and notify them.

    Raises `UserError` if nobody has an item (`nothing-to-judge`).
    """
    keys = [item.key for items in plan.items.values() for item in items]
    official = PoolItem.official.filter(pk__in=keys, pool__task=task).order_by("pk")
    copies = dict(zip(official.values_list("pk", flat=True), copied_items(official), strict=True))
    items = {
        person: [copies[item.key] for item in mine] for person, mine in plan.items.items() if mine
    }
    wanted = RoundPlan(Round.Kind.SECOND, items, source=source)
    round_ = make_round(task=task, plan=wanted, by=by, at=at)
    announce_round(round_, items={person: len(mine) for person, mine in items.items()}, by=by)
    return round_


@transaction.atomic
def make_question_round(*, task: Task, plan: RoundPlan, by: User, at: datetime) -> Round:
    """Make a round of special questions and notify its assessors. Raises as `make_round` does."""
    round_ = make_round(task=task, plan=plan, by=by, at=at)
    announce_round(round_, items={key: len(copies) for key, copies in plan.items.items()}, by=by)
    return round_


AT_ONCE = 500  # rows per INSERT


@dataclass(frozen=True)
class RoundPlan:
    """A round before it is made: its kind, its texts, and the items of each assessor (by key).

    `source` says how the items were chosen; it is stored as it is.
    """

    kind: Round.Kind
    items: Mapping[int, Sequence[CopiedItem]]
    title: str = ""
    note: str = ""
    source: Mapping[str, Any] = field(default_factory=dict)
    gold: QrelSet | None = None
    scale: LabelScale | None = None


@transaction.atomic
def make_round(*, task: Task, plan: RoundPlan, by: User | None, at: datetime) -> Round:
    """Store a round with a copy of the items for each of its assessors.

    Raises `UserError` if nobody has an item (`nothing-to-judge`).
    """
    if not any(plan.items.values()):
        raise UserError(
            "The round has no items to judge. Choose topics with items, and assessors.",
            code="nothing-to-judge",
        )
    # Of two organizers who make a round at once, the second waits and gets the next number.
    Task.objects.select_for_update(no_key=True).get(pk=task.pk)
    others = Round.objects.filter(task=task, kind=plan.kind)
    round_ = Round.objects.create(
        task=task,
        kind=plan.kind,
        number=(others.aggregate(last=Max("number"))["last"] or 0) + 1,
        title=plan.title,
        note=plan.note,
        source=dict(plan.source),
        gold=plan.gold,
        made_by=by,
        made_at=at,
    )
    pool = Pool.objects.create(
        task=task,
        round=round_,
        number=1,
        settings={},
        scale=(plan.scale or task_scale(task)).rows(),
        seed=int(plan.source.get("seed", 0)),
        runs=[],
        sha256=_hash(plan.items),
        frozen_at=at,
        frozen_by=by,
    )
    add_items(pool, plan.items)
    record_event(
        verb="round.make",
        target=round_,
        lab=task.lab,
        actor=by,
        round=round_.key,
        assessors=sum(bool(items) for items in plan.items.values()),
        items=sum(map(len, plan.items.values())),
    )
    return round_


def add_items(pool: Pool, items: Mapping[int, Sequence[CopiedItem]]) -> None:
    """Add copies of items to a round, after those that an assessor has; the caller locks the task.

    A copy that the assessor already has is left out.
    """
    rows = list(_rows(pool, items))
    added = PoolItem.objects.bulk_create([row for row, _ in rows], batch_size=AT_ONCE)
    PoolInstance.objects.bulk_create(
        (
            PoolInstance(
                item=row, doc_id=instance.doc_id, post_id=instance.post_id, position=position
            )
            for row, (_, item) in zip(added, rows, strict=True)
            for position, instance in enumerate(item.instances)
        ),
        batch_size=AT_ONCE,
    )


def _rows(
    pool: Pool, items: Mapping[int, Sequence[CopiedItem]]
) -> Iterator[tuple[PoolItem, CopiedItem]]:
    known = set(pool.items.order_by().values_list("assessor", "topic", "item"))
    positions = _last_positions(pool, items)
    for assessor, copies in items.items():
        for copy in copies:
            if (assessor, copy.topic_id, copy.item) in known:
                continue
            known.add((assessor, copy.topic_id, copy.item))
            positions[assessor, copy.topic_id] += 1
            yield (
                PoolItem(
                    pool=pool,
                    topic_id=copy.topic_id,
                    assessor_id=assessor,
                    kind=copy.kind,
                    item=copy.item,
                    text=copy.text,
                    position=positions[assessor, copy.topic_id],
                ),
                copy,
            )


def _last_positions(pool: Pool, assessors: Collection[int]) -> Counter[tuple[int, int]]:
    own = pool.items.filter(assessor__in=assessors).order_by().values("assessor", "topic")
    rows = own.annotate(last=Max("position")).values_list("assessor", "topic", "last")
    return Counter({(assessor, topic): last for assessor, topic, last in rows if assessor})


def _hash(items: Mapping[int, Sequence[CopiedItem]]) -> str:
    """Return a hash of who judges which items, to be the hash of the pool."""
    rows = {
        person: [[copy.topic_id, copy.item] for copy in items[person]] for person in sorted(items)
    }
    return hashlib.sha256(json.dumps(rows).encode()).hexdigest()
