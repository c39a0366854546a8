"""The votes of rounds, with the gold labels as another assessor, and their agreement."""

import json
from dataclasses import dataclass
from hashlib import sha256
from typing import NamedTuple

import polars as pl
from django.db.models import QuerySet

from arqkit.agreement.estimates import RESAMPLES, Agreement, agreement_of
from arqkit.labels import LabelScale, ScaleLabel
from arqkit.records import ItemKind
from arqlab.core.models import Task, User
from assessment.models import Applicant, Judgment, Pool, PoolInstance, PoolItem, Qrel, Round
from assessment.models.kinds import Comparison, RoundKind
from assessment.qrels.selectors.drafts import task_scale
from assessment.qrels.selectors.frames import group_members, judgment_frame
from assessment.rounds.selectors.rounds import by_name, letters_at, shows_labels
from assessment.rounds.selectors.second import only_judged_pairs, pair_votes, second_pairs

GOLD = "gold"
"""The key of the gold labels among the assessors of votes."""
SEPARATOR = "\t"

EXPORTED = {
    "topic": pl.String,
    "item": pl.String,
    "assessor": pl.String,
    "label": pl.Int64,
    "comment": pl.String,
    "seconds": pl.Float64,
    "guidelines": pl.Int64,
    "round": pl.String,
    "marks": pl.String,
}
"""The columns of exported votes.

`guidelines` is the version that the assessor followed, `marks` the passages that decided, as JSON.
"""


class Sample(NamedTuple):
    """An instance to label in a sample task, by its number on the sheet."""

    topic: str
    doc_id: str
    place: int


class SampleVote(NamedTuple):
    """The label of a sample with its comment and seconds."""

    label: ScaleLabel
    comment: str
    seconds: float | None


@dataclass(frozen=True)
class ScoreRow:
    """An applicant, or the expert (no application), with a vote or None for each sample.

    - compared: the samples that the person and the expert both judged.
    - same, same_binary: how many of these have equal labels, and are both relevant or both not.
    """

    person: User
    applicant: Applicant | None
    votes: list[SampleVote | None]
    compared: int
    same: int
    same_binary: int

    @property
    def done(self) -> int:
        """Return the number of judged samples."""
        return sum(vote is not None for vote in self.votes)

    @property
    def seconds(self) -> float:
        """Return the seconds of all votes."""
        return sum(vote.seconds or 0 for vote in self.votes if vote)


@dataclass(frozen=True)
class ScoreSheet:
    """The samples, the expert's row, and the rows of the applicants, most agreement first."""

    samples: list[Sample]
    expert: ScoreRow
    applicants: list[ScoreRow]

    @property
    def is_open(self) -> bool:
        """Return whether the expert judged all samples, so that they may see others' labels."""
        return self.expert.done == len(self.samples)


def score_sheet(round_: Round) -> ScoreSheet:
    """Return the score sheet of a sample task, in four queries."""
    expert = round_.expert or 0
    instances = PoolInstance.objects.filter(item__pool=round_.pool, item__assessor=expert)
    ordered = instances.order_by("item__topic__position", "item__position", "position")
    keys = list(ordered.values_list("item__topic__query_id", "doc_id"))
    samples = [Sample(*key, place) for place, key in enumerate(keys, start=1)]
    judged: dict[int, dict[tuple[str, str], Judgment]] = {}
    votes = Judgment.objects.filter(instance__item__pool=round_.pool, is_current=True)
    for judgment in votes.select_related("instance__item__topic").defer(
        "instance__item__topic__body"
    ):
        key = (judgment.instance.item.topic.query_id, judgment.instance.doc_id)
        judged.setdefault(judgment.assessor_id or 0, {})[key] = judgment
    scale = round_.pool.label_scale
    lowest = round_.task.protocol.relevant_in(scale)
    truth = {key: judgment.label for key, judgment in judged.get(expert, {}).items()}

    def row(person: User, applicant: Applicant | None) -> ScoreRow:
        votes = judged.get(person.pk, {})
        pairs = [(votes[key].label, truth[key]) for key in keys if key in votes and key in truth]
        pairs = [pair for pair in pairs if not set(pair) & set(scale.unjudged)]
        return ScoreRow(
            person,
            applicant,
            [_vote(votes[key], scale) if key in votes else None for key in keys],
            compared=len(pairs),
            same=sum(label == true_label for label, true_label in pairs),
            same_binary=sum((label >= lowest) == (other >= lowest) for label, other in pairs),
        )

    applicants = Applicant.objects.filter(round=round_).select_related("user", "decided_by")
    rows = [row(applicant.user, applicant) for applicant in applicants]
    rows.sort(key=lambda row: (-row.same, -row.same_binary, row.person.name.casefold()))
    return ScoreSheet(samples, row(User.objects.get(pk=expert), None), rows)


def _vote(judgment: Judgment, scale: LabelScale) -> SampleVote:
    seconds = None if judgment.active_ms is None else judgment.active_ms / 1000
    return SampleVote(scale.of(judgment.label), judgment.comment, seconds)


def _votes(pool: Pool) -> QuerySet[Judgment]:
    """Return the current judgments of a round by topic, item and assessor."""
    item = "instance__item"
    judged = Judgment.objects.filter(instance__item__pool=pool, is_current=True)
    order = (f"{item}__topic__position", f"{item}__position", "instance__position")
    return judged.order_by(*order, f"{item}__assessor")


def round_votes(pool: Pool) -> pl.DataFrame:
    """Return the current labels of a round: topic, item, doc_id, assessor, label, judgment.

    Instances that an assessor has not judged have no row.
    """
    columns = ("topic", "item", "doc_id", "assessor", "label", "judgment")
    return judgment_frame(_votes(pool), *columns)


def round_judgments(task: Task, kind: RoundKind) -> QuerySet[Judgment]:
    """Return all judgments of a task's rounds of a kind whose labels organizers see."""
    rounds = Round.objects.filter(task=task, kind=kind.key).opened()
    return Judgment.objects.filter(instance__item__pool__round__in=rounds)


def agreement_votes(round_: Round) -> pl.DataFrame:
    """Return the votes of a round as `arqkit.agreement` reads them, with the gold labels.

    An item is a topic and an id in qrels; an assessor is the key of a user, or GOLD.
    """
    rows = round_votes(round_.pool).select(
        item=pl.concat_str("topic", "doc_id", separator=SEPARATOR),
        assessor=pl.col("assessor").cast(pl.String),
        label=pl.col("label").cast(pl.Int64),
    )
    gold = [(SEPARATOR.join(item), GOLD, label) for item, label in gold_labels(round_).items()]
    return pl.concat([rows, pl.DataFrame(gold, schema=rows.schema, orient="row")])


def gold_labels(round_: Round) -> dict[tuple[str, str], int]:
    """Return the gold labels of a round's items by topic and id in qrels."""
    if round_.gold is None:
        return {}
    is_visual = round_.gold.items == ItemKind.VISUAL_IDS
    instances = PoolInstance.objects.filter(item__pool=round_.pool).order_by()
    rows = set(instances.values_list("item__topic__query_id", "item__item", "doc_id"))
    topics = {topic for topic, _, _ in rows}
    ids = {item if is_visual else doc_id for _, item, doc_id in rows}
    labels = Qrel.objects.filter(qrel_set=round_.gold, query_id__in=topics, doc_id__in=ids)
    labels_by_id = {
        (topic, doc_id): label
        for topic, doc_id, label in labels.values_list("query_id", "doc_id", "relevance")
    }
    keys = {(topic, doc_id): (topic, item if is_visual else doc_id) for topic, item, doc_id in rows}
    return {
        instance: labels_by_id[key] for instance, key in sorted(keys.items()) if key in labels_by_id
    }


def round_agreement(round_: Round, *, resamples: int = RESAMPLES) -> Agreement | None:
    """Return the agreement of the labels that a kind compares, or None if it compares none.

    Votes are those of the assessors of the round, and the gold labels.
    """
    compared, scale = round_.rules.compares, round_.pool.label_scale
    if compared is Comparison.NOTHING:
        return None
    if compared is Comparison.OFFICIAL:
        scale = task_scale(round_.task)
        votes = pair_votes(only_judged_pairs(second_pairs(round_), scale), by_side=False)
    else:
        votes = agreement_votes(round_)
    relevant_from = round_.task.protocol.relevant_in(scale)
    return agreement_of(votes, scale=scale, relevant_from=relevant_from, resamples=resamples)


def seen_agreement(
    round_: Round, user: User, *, organizes: bool
) -> tuple[Agreement, dict[str, str]] | None:
    """Return the agreement of a round as a user sees it, with the names of its assessors.

    Organizers see it when they see the labels, and assessors, who see only their own name, when the
    votes are revealed.
    """
    is_open = round_.revealed_at or (organizes and shows_labels(round_))
    agreement = round_agreement(round_) if is_open else None
    if agreement is None:
        return None
    return agreement, real_names(round_) if organizes else own_names(round_, user)


def agreement_of_rounds(round_: Round, agreement: Agreement) -> list[tuple[str, Agreement]]:
    """Return the agreement of each revealed round of a task, kind and scale, in their order.

    `agreement` is that of the round itself.
    """
    revealed = Round.objects.filter(task=round_.task, kind=round_.kind, revealed_at__isnull=False)
    others = revealed.select_related("pool", "gold", "task__lab").order_by("number")
    scale = round_.pool.label_scale
    compared = {
        str(other): agreement if other == round_ else round_agreement(other)
        for other in others
        if other.pool.label_scale == scale
    }
    return [(name, figures) for name, figures in compared.items() if figures]


def group_agreement(round_: Round, pairs: pl.DataFrame) -> Agreement | None:
    """Return the agreement of groups of assessors (003 §4), or None without labels of two groups.

    `pairs` are judgments of `second_pairs`; those of one group, or without a group, are left out.
    """
    group_of = {
        str(person): group
        for group, people in group_members(round_.task).items()
        for person in people
    }
    group = pl.col("assessor").replace_strict(group_of, default=None, return_dtype=pl.String)
    votes = pair_votes(pairs, by_side=False).with_columns(assessor=group).drop_nulls("assessor")
    votes = votes.filter(pl.col("assessor").n_unique().over("item") == 2)
    if votes.is_empty():
        return None
    scale = task_scale(round_.task)
    return agreement_of(votes, scale=scale, relevant_from=round_.task.protocol.relevant_in(scale))


def pseudonyms(round_: Round) -> dict[str, str]:
    """Return the assessors of a round by key as Assessor A, B and so on, and the gold labels.

    The letters are the same on all pages, and do not follow the order of the names.
    """
    items = PoolItem.objects.filter(pool=round_.pool).order_by()
    keys = [str(key) for key in items.values_list("assessor", flat=True).distinct()]
    keys.sort(key=lambda key: sha256(f"{round_.pk} {key}".encode()).hexdigest())
    names = {key: f"Assessor {letters_at(place)}" for place, key in enumerate(keys)}
    return names | ({GOLD: "Gold"} if round_.gold else {})


def real_names(round_: Round) -> dict[str, str]:
    """Return the names of the assessors of a round by key, in their order, and the gold labels."""
    people = by_name(round_.pool.items.order_by().values_list("assessor", flat=True))
    names = {str(person.pk): person.name for person in people}
    return names | ({GOLD: "Gold"} if round_.gold else {})


def own_names(round_: Round, user: User) -> dict[str, str]:
    """Return pseudonyms as an assessor of the round sees them, their own marked and first."""
    names, own_key = pseudonyms(round_), str(user.pk)
    if own_key not in names:
        return names
    return {own_key: f"You ({names[own_key]})"} | {
        key: names[key] for key in names if key != own_key
    }


def exported_votes(round_: Round, names: dict[str, str]) -> pl.DataFrame:
    """Return the current labels of a round as a table for people, by topic, item and assessor."""
    fields = ("label", "comment", "active_ms", "guideline__version", "marks")
    keys = ("instance__item__topic__query_id", "instance__doc_id", "assessor")
    rows = [
        (
            *(topic, doc_id, names[str(person)], label, comment, (ms or 0) / 1000, version),
            *(round_.key, json.dumps(marks, ensure_ascii=False) if marks else ""),
        )
        for topic, doc_id, person, label, comment, ms, version, marks in _votes(
            round_.pool
        ).values_list(*keys, *fields)
    ]
    rows += [
        (topic, doc_id, names[GOLD], label, "", None, None, round_.key, "")
        for (topic, doc_id), label in gold_labels(round_).items()
    ]
    return pl.DataFrame(rows, schema=EXPORTED, orient="row")
