"""The second labels of a round: their agreement and effect on the leaderboard (004 §6.4.3)."""

from dataclasses import dataclass
from typing import NamedTuple

import polars as pl

from analyses.services.contests import contest_of, contest_scores
from arqkit.agreement.estimates import Agreement
from arqkit.comparison.correlation import RankingEffect, ranking_effects
from arqkit.labels import LabelScale
from arqkit.measures.names import Measure
from arqlab.core.caches import cached_value
from assessment.models import Round
from assessment.qrels.selectors.drafts import task_scale
from assessment.rounds.selectors.rounds import shows_labels
from assessment.rounds.selectors.second import (
    AssessorTime,
    OwnConsistency,
    assessor_names,
    assessor_times,
    only_judged_pairs,
    own_consistency,
    own_pairs,
    pair_confusion,
    second_pairs,
)
from assessment.rounds.selectors.votes import group_agreement, round_agreement
from evaluation.services.scoring import scoring_work


@dataclass(frozen=True, kw_only=True)
class SecondLabels:
    """The second labels of a round beside the first ones, where both are judgments.

    - pairs: as of `second_pairs`; `reported` more have a label that is not a judgment.
    - assessors: their names by key, as the agreement has them.
    - groups: the agreement of groups of assessors, if items have labels of two.
    - consistency: of assessors who judged the same item twice.
    """

    scale: LabelScale
    pairs: pl.DataFrame
    reported: int
    agreement: Agreement
    assessors: dict[str, str]
    groups: Agreement | None
    confusion: tuple[tuple[int, ...], ...]
    times: list[AssessorTime]
    consistency: list[OwnConsistency]

    @property
    def differing(self) -> int:
        """Return how many pairs have two labels."""
        return self.pairs.filter(pl.col("first") != pl.col("second")).height


def second_labels(round_: Round) -> SecondLabels | None:
    """Return the second labels of a round, or None while organizers do not see them."""
    agreement = round_agreement(round_) if shows_labels(round_) else None
    if agreement is None:
        return None
    scale, every = task_scale(round_.task), second_pairs(round_)
    pairs = only_judged_pairs(every, scale)
    relevant_from = round_.task.protocol.relevant_in(scale)
    self_pairs = only_judged_pairs(own_pairs(round_), scale)
    return SecondLabels(
        scale=scale,
        pairs=pairs,
        reported=every.height - pairs.height,
        agreement=agreement,
        assessors=assessor_names(pairs),
        groups=group_agreement(round_, pairs),
        confusion=pair_confusion(pairs, scale),
        times=assessor_times(pairs),
        consistency=own_consistency(self_pairs, scale, relevant_from=relevant_from),
    )


class MeasureEffect(NamedTuple):
    """How the rankings by official and second labels compare, by all topics and by those with
    second labels.
    """

    measure: Measure
    all_topics: RankingEffect
    judged_again: RankingEffect


class SecondMeans(NamedTuple):
    """The means of a run in a measure: over all topics, and over those judged again."""

    measure: Measure
    run: str
    first: float
    second: float
    first_again: float | None
    second_again: float | None


class SecondEffect(NamedTuple):
    """The effect of the second labels of a round on the leaderboard.

    - measures: the effect by measure, the main one first.
    - topics, again: the number of topics of the qrels, and of those with second labels.
    - means: run, measure, first and second (the means over all topics), first_again and
      second_again (the means over topics with second labels).
    """

    measures: list[MeasureEffect]
    topics: int
    again: int
    means: pl.DataFrame

    @property
    def rows(self) -> list[SecondMeans]:
        """Return the means of each run by measure."""
        measures = {effect.measure.name: effect.measure for effect in self.measures}
        rows = self.means.select(SecondMeans._fields).iter_rows()
        return [SecondMeans(measures[name], *values) for name, *values in rows]


def second_effect(round_: Round, pairs: pl.DataFrame) -> SecondEffect:
    """Return the effect of the second labels of a round, from the cache if nothing changed.

    The official qrels are compared with the same qrels with the second labels of `pairs`, which
    are judgments (`only_judged_pairs`). An adjudicated label does not count here.
    """
    contest = contest_of(round_.task, adds=False)
    judged = contest.draft.judged
    qrels = {
        side: contest.qrels(_relabelled(judged, pairs.select("topic", "doc_id", label=side)))
        for side in ("first", "second")
    }
    again = pairs["topic"].unique().to_list()
    key = contest.key("second-effect", *qrels.values(), pl.DataFrame({"topic": sorted(again)}))
    work = scoring_work(contest.runs, times=2)
    scores = cached_value(key, lambda: contest_scores(contest, qrels), work=work)
    whole = _means(scores)
    part = _means(scores.filter(pl.col("topic").is_in(again)))
    effects, again_effects = _effects(whole), _effects(part)
    nothing = RankingEffect(0, None, None, ())
    topics = qrels["first"]["topic"].unique()
    return SecondEffect(
        [
            MeasureEffect(measure, effects[measure.name], again_effects.get(measure.name, nothing))
            for measure in contest.measures
            if measure.name in effects
        ],
        len(topics),
        int(topics.is_in(again).sum()),
        whole.join(
            part.rename({"first": "first_again", "second": "second_again"}),
            on=["run", "measure"],
            how="left",
            maintain_order="left",
        ),
    )


def _relabelled(judged: pl.DataFrame, labels: pl.DataFrame) -> pl.DataFrame:
    """Return judged instances with other labels (topic, doc_id, label) for some of them."""
    other = labels.rename({"label": "other"})
    joined = judged.join(other, on=["topic", "doc_id"], how="left", maintain_order="left")
    return joined.with_columns(label=pl.coalesce("other", "label")).drop("other")


def _means(scores: pl.DataFrame) -> pl.DataFrame:
    """Return the means over topics: run, measure, first, second."""
    sides = [
        pl.col("value").filter(pl.col("side") == side).mean().alias(side)
        for side in ("first", "second")
    ]
    return scores.group_by("run", "measure", maintain_order=True).agg(sides).drop_nulls()


def _effects(means: pl.DataFrame) -> dict[str, RankingEffect]:
    first, second = (means.select("run", "measure", value=side) for side in ("first", "second"))
    return ranking_effects(first, second)
