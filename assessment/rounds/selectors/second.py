"""Second judgments: the items that can be judged again, pairs of labels, and their agreement."""

from typing import NamedTuple

import polars as pl
from django.db.models import Q

from arqkit.agreement.estimates import agreement_of
from arqkit.agreement.second_judging import RejudgingPlan, SecondItem
from arqkit.agreement.votes import confusion_matrix
from arqkit.labels import LabelScale
from arqlab.core.models import Task
from assessment.models import Judgment, PoolItem, Round
from assessment.models.kinds import Comparison
from assessment.qrels.selectors.drafts import task_scale
from assessment.qrels.selectors.frames import judgment_frame, official_judgments, read_frame
from assessment.rounds.selectors.rounds import CopiedItem, by_name, copied_items

_WHERE = "instance__item"
_IS_OWN = pl.col("first_assessor").eq_missing(pl.col("second_assessor"))
_ITEM = {"topic_key": pl.Int64, "item": pl.String}
_OPEN_ITEM = _ITEM | {"key": pl.Int64, "topic": pl.String}

IMPORTED = "imported"
"""The key of imported labels, which have no assessor."""
_KEY = pl.concat_str("topic", "doc_id", separator="\t").alias("item")


def open_second_items(task: Task) -> pl.DataFrame:
    """Return the completed official items of a task that no round judged or judges again.

    The columns are key, topic and judges. Items with a label that is not a judgment are left out.
    Everyone who ever judged an item counts as its judge, because they know it.
    """
    official = Judgment.official.filter(**{f"{_WHERE}__pool__task": task}).order_by()
    pairs = official.exclude(assessor=None).values_list(_WHERE, "assessor").distinct()
    judges = read_frame(pairs, {"key": pl.Int64, "judges": pl.Int64}).group_by("key").agg("judges")
    reported = official.filter(is_current=True, label__in=task_scale(task).unjudged)
    rounds = Round.objects.filter(task=task).that(compares=Comparison.OFFICIAL)
    again = PoolItem.objects.filter(pool__round__in=rounds)
    again = again.filter(Q(done_at__isnull=False) | Q(pool__closed_at=None))
    second_rows = read_frame(again.order_by().values_list("topic", "item"), _ITEM)
    items = PoolItem.official.filter(pool__task=task, done_at__isnull=False)
    rows = items.exclude(pk__in=reported.values(_WHERE)).order_by(
        "topic__position", "pool__number", "position"
    )
    open_items = read_frame(rows.values_list("topic", "item", "pk", "topic__query_id"), _OPEN_ITEM)
    never_judged = open_items.join(
        second_rows, on=["topic_key", "item"], how="anti", maintain_order="left"
    )
    return never_judged.select("key", "topic").join(
        judges, on="key", how="left", maintain_order="left"
    )


def second_items(items: pl.DataFrame) -> list[SecondItem]:
    """Return the items of `open_second_items`."""
    groups: dict[tuple[int, ...], frozenset[int]] = {}
    return [
        SecondItem(key, topic, groups.setdefault(tuple(judges or ()), frozenset(judges or ())))
        for key, topic, judges in items.iter_rows()
    ]


def copies_of_plan(task: Task, plan: RejudgingPlan) -> dict[int, list[CopiedItem]]:
    """Return copies of the official items that each person judges again."""
    keys = [item.key for items in plan.items.values() for item in items]
    official = PoolItem.official.filter(pk__in=keys, pool__task=task).order_by("pk")
    copies = dict(zip(official.values_list("pk", flat=True), copied_items(official), strict=True))
    return {person: [copies[item.key] for item in mine] for person, mine in plan.items.items()}


def second_pairs(round_: Round) -> pl.DataFrame:
    """Return the official and the second label of each instance that a round judged again.

    The columns are topic, item, doc_id and, of `first` (the current official label) and `second`,
    the label, the assessor (null if imported) and the milliseconds (null if unknown). An instance
    whose official label is by its second assessor is left out (`own_pairs`).
    """
    return _all_pairs(round_).filter(~_IS_OWN)


def own_pairs(round_: Round) -> pl.DataFrame:
    """Return the pairs of labels that one assessor gave to the same instance, as `second_pairs`."""
    return _all_pairs(round_).filter(_IS_OWN)


def _all_pairs(round_: Round) -> pl.DataFrame:
    names = {"{}_assessor": "assessor", "{}": "label", "{}_ms": "active_ms"}
    firsts, seconds = (
        {name.format(side): column for name, column in names.items()}
        for side in ("first", "second")
    )
    official = official_judgments(round_.task)
    first = judgment_frame(official, "topic", "item", "doc_id", **firsts)
    judgments = Judgment.objects.filter(is_current=True, **{f"{_WHERE}__pool__round": round_})
    order = ("topic__position", "assessor", "position")
    ordered = judgments.order_by(*(f"{_WHERE}__{name}" for name in order), "instance__position")
    second = judgment_frame(ordered, "topic", "doc_id", **seconds)
    return first.join(second, on=["topic", "doc_id"], maintain_order="right")


def only_judged_pairs(pairs: pl.DataFrame, scale: LabelScale) -> pl.DataFrame:
    """Return the pairs of labels that are both judgments."""
    reports = pl.col("first", "second").cast(pl.Int64).is_in(list(scale.unjudged))
    return pairs.filter(~pl.any_horizontal(reports))


class OwnConsistency(NamedTuple):
    """The instances that an assessor labelled twice: their number, and how many labels are equal.

    `graded` and `binary` are Cohen's kappas of the first and the second labels.
    """

    name: str
    labels: int
    same: int
    graded: float | None
    binary: float | None


class AssessorTime(NamedTuple):
    """The first and the second labels of an assessor, and their median seconds."""

    name: str
    first: int
    first_seconds: float | None
    second: int
    second_seconds: float | None


def own_consistency(
    all_pairs: pl.DataFrame, scale: LabelScale, *, relevant_from: int
) -> list[OwnConsistency]:
    """Return how consistent each assessor of `own_pairs` is, by name."""
    rows = []
    for key, name in assessor_names(all_pairs).items():
        pairs = all_pairs.filter(_assessor("first") == key)
        if pairs.is_empty():
            continue
        votes = pair_votes(pairs, by_side=True)
        agreement = agreement_of(votes, scale=scale, relevant_from=relevant_from, resamples=0)
        same = pairs.filter(pl.col("first") == pl.col("second")).height
        kappas = (agreement.graded.total.value, agreement.binary.total.value)
        rows.append(OwnConsistency(name, pairs.height, same, *kappas))
    return rows


def pair_confusion(pairs: pl.DataFrame, scale: LabelScale) -> tuple[tuple[int, ...], ...]:
    """Return how often each first label (row) occurs with each second label (column)."""
    return confusion_matrix(pair_votes(pairs, by_side=True), "first", "second", scale=scale)


def assessor_names(pairs: pl.DataFrame) -> dict[str, str]:
    """Return the names of the assessors by key, in their order, imported labels last."""
    keys = {*pairs["first_assessor"].drop_nulls(), *pairs["second_assessor"].drop_nulls()}
    return {str(person.pk): person.name for person in by_name(keys)} | {IMPORTED: "Imported labels"}


def assessor_times(pairs: pl.DataFrame) -> list[AssessorTime]:
    """Return the labels and the median seconds of each assessor, and of all together at the end."""
    people: list[tuple[str | None, str]] = [*assessor_names(pairs).items(), (None, "All")]
    rows = [
        AssessorTime(name, *_time(pairs, "first", key), *_time(pairs, "second", key))
        for key, name in people
    ]
    return [row for row in rows if row.first or row.second or row is rows[-1]]


def _time(pairs: pl.DataFrame, side: str, key: str | None) -> tuple[int, float | None]:
    """Return the number and the median seconds of the labels of a side, by one or all assessors."""
    labelled = pairs if key is None else pairs.filter(_assessor(side) == key)
    milliseconds = labelled[f"{side}_ms"].median()
    seconds = milliseconds / 1000 if isinstance(milliseconds, int | float) else None
    return labelled.height, seconds


def _assessor(side: str) -> pl.Expr:
    return pl.col(f"{side}_assessor").cast(pl.String).fill_null(IMPORTED)


def pair_votes(pairs: pl.DataFrame, *, by_side: bool) -> pl.DataFrame:
    """Return the labels as votes of their assessors, or of "first" and "second"."""
    return pl.concat(
        pairs.select(
            _KEY,
            assessor=pl.lit(side) if by_side else _assessor(side),
            label=pl.col(side).cast(pl.Int64),
        )
        for side in ("first", "second")
    )
