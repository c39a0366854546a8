"""The score sheet of a sample task: applicants, their labels, and the expert's labels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from arqkit.labels import LabelScale, ScaleLabel
from arqlab.core.models import User
from assessment.models import Applicant, Judgment, PoolInstance, Round


class Sample(NamedTuple):
    """An instance to label in a sample task, by its number on the sheet."""

    topic: str
    doc_id: str
    place: int


class SampleVote(NamedTuple):
    """The label of a sample with its comment and seconds; `is_same` if the expert's is equal."""

    label: ScaleLabel
    comment: str
    seconds: float | None
    is_same: bool


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
    own = PoolInstance.objects.filter(item__pool=round_.pool, item__assessor=expert)
    ordered = own.order_by("item__topic__position", "item__position", "position")
    keys = list(ordered.values_list("item__topic__query_id", "doc_id"))
    samples = [Sample(*key, place) for place, key in enumerate(keys, start=1)]
    judged: dict[int, dict[tuple[str, str], Judgment]] = {}
    votes = Judgment.objects.filter(instance__item__pool=round_.pool, is_current=True)
    for judgment in votes.select_related("instance__item__topic").defer(
        "instance__item__topic__body"
    ):
        key = (judgment.instance.item.topic.query_id, judgment.instance.doc_id)
        judged.setdefault(judgment.assessor_id or 0, {})[key] = judgment
    sheet = _Sheet(
        round_.pool.label_scale, round_.task.protocol.relevant_from, keys, judged, expert
    )
    applicants = Applicant.objects.filter(round=round_).select_related("user", "decided_by")
    rows = [sheet.row(applicant.user, applicant) for applicant in applicants]
    rows.sort(key=lambda row: (-row.same, -row.same_binary, row.person.name.casefold()))
    return ScoreSheet(samples, sheet.row(User.objects.get(pk=expert), None), rows)


@dataclass(frozen=True)
class _Sheet:
    """The data of a sheet's rows: the judgments by person and sample."""

    scale: LabelScale
    relevant_from: int
    keys: list[tuple[str, str]]
    judged: Mapping[int, Mapping[tuple[str, str], Judgment]]
    expert: int

    def row(self, person: User, applicant: Applicant | None) -> ScoreRow:
        """Return the row of a person."""
        own, truth = (self.judged.get(key, {}) for key in (person.pk, self.expert))
        pairs = [
            (own[key].label, truth[key].label) for key in self.keys if key in own and key in truth
        ]
        pairs = [pair for pair in pairs if not set(pair) & set(self.scale.unjudged)]
        lowest = self.relevant_from
        return ScoreRow(
            person,
            applicant,
            [self._vote(own.get(key), truth.get(key)) for key in self.keys],
            compared=len(pairs),
            same=sum(label == true_label for label, true_label in pairs),
            same_binary=sum(
                (label >= lowest) == (true_label >= lowest) for label, true_label in pairs
            ),
        )

    def _vote(self, judgment: Judgment | None, truth: Judgment | None) -> SampleVote | None:
        if judgment is None:
            return None
        seconds = None if judgment.active_ms is None else judgment.active_ms / 1000
        is_same = truth is not None and truth.label == judgment.label
        return SampleVote(self.scale.of(judgment.label), judgment.comment, seconds, is_same)
