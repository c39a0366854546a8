"""What the page of a round shows of items that were judged again: agreement, times and effect."""

from collections.abc import Sequence
from dataclasses import dataclass

from analyses.services.second_labels import (
    MeasureEffect,
    SecondEffect,
    SecondMeans,
    second_effect,
    second_labels,
)
from analyses.views.charts import AgreementRow, ConfusionRow, agreement_table, confusion_table
from arqkit.agreement.estimates import Agreement
from arqlab.web import Column, Table, cells, counted
from assessment.models import Round
from assessment.rounds.selectors.second import AssessorTime, OwnConsistency


@dataclass(frozen=True, kw_only=True)
class JudgedAgain:
    """What labels of items judged again say; the effect on the leaderboard if asked for.

    - pairs: the number of first and second labels, of which some are `differing`.
    - reported: the pairs of which one label is not a judgment.
    """

    pairs: int
    reported: int
    differing: int
    assessors: Table[AgreementRow]
    groups: Table[AgreementRow] | None
    confusion: Table[ConfusionRow]
    times: Table[AssessorTime]
    consistency: Table[OwnConsistency]
    effect: SecondEffect | None = None
    effect_measures: Table[MeasureEffect] | None = None
    effect_scores: Table[SecondMeans] | None = None


def again_part(round_: Round, *, with_effect: bool) -> JudgedAgain | None:
    """Return what labels of items judged again say, or None while organizers do not see them."""
    labels = second_labels(round_)
    if labels is None:
        return None
    effect = second_effect(round_, labels.pairs) if with_effect else None
    measures, scores = _effect_tables(effect) if effect else (None, None)
    return JudgedAgain(
        pairs=labels.pairs.height,
        reported=labels.reported,
        differing=labels.differing,
        assessors=agreement_table(labels.agreement, labels.assessors),
        groups=_groups_table(labels.groups),
        confusion=confusion_table(
            labels.confusion, labels.scale, first="first judgment", second="second judgment"
        ),
        times=_times_table(labels.times),
        consistency=_consistency_table(labels.consistency),
        effect=effect,
        effect_measures=measures,
        effect_scores=scores,
    )


def _times_table(rows: Sequence[AssessorTime]) -> Table[AssessorTime]:
    return Table[AssessorTime](
        "times",
        [
            Column("Assessor", lambda row: row.name, is_head=True),
            Column("First labels", lambda row: row.first, cells.COUNT),
            Column("Seconds", lambda row: row.first_seconds, cells.TENTHS),
            Column("Second labels", lambda row: row.second, cells.COUNT),
            Column("Seconds", lambda row: row.second_seconds, cells.TENTHS),
        ],
        rows,
        caption="Median seconds per label of the items above.",
    )


def _consistency_table(rows: Sequence[OwnConsistency]) -> Table[OwnConsistency]:
    return Table[OwnConsistency](
        "consistency",
        [
            Column("Assessor", lambda row: row.name, is_head=True),
            Column("Labels", lambda row: row.labels, cells.COUNT),
            Column("Equal", lambda row: row.same, cells.COUNT),
            Column("Cohen’s kappa", lambda row: row.graded, cells.HUNDREDTHS),
            Column("Binary", lambda row: row.binary, cells.HUNDREDTHS),
        ],
        rows,
        caption="First and second labels of the same assessor for the same item.",
    )


def _groups_table(agreement: Agreement | None) -> Table[AgreementRow] | None:
    """Return the agreement of the groups of assessors, if items have labels of two groups."""
    if agreement is None:
        return None
    names = {group: group for group in sorted(agreement.judged)}
    return agreement_table(agreement, names, of="Group")


def _effect_tables(effect: SecondEffect) -> tuple[Table[MeasureEffect], Table[SecondMeans]]:
    again = counted(effect.again, "topic")
    measures = Table[MeasureEffect](
        "effect-measures",
        [
            Column("Measure", lambda row: row.measure.heading, is_head=True),
            Column("Runs", lambda row: row.all_topics.runs, cells.COUNT),
            Column(f"Tau, all {effect.topics:,} topics", lambda row: row.all_topics.tau, cells.TAU),
            Column("Swaps", lambda row: len(row.all_topics.swaps), cells.COUNT),
            Column(f"Tau, {again} judged again", lambda row: row.judged_again.tau, cells.TAU),
            Column("Swaps", lambda row: len(row.judged_again.swaps), cells.COUNT),
        ],
        effect.measures,
        caption="Kendall’s tau-b between the two rankings, and the pairs of runs whose order is "
        "reversed.",
    )
    scores = Table[SecondMeans](
        "effect-scores",
        [
            Column("Run", lambda row: row.run, is_head=True),
            Column("Measure", lambda row: row.measure.heading),
            Column("Official", lambda row: row.first, cells.SCORE),
            Column("Second", lambda row: row.second, cells.SCORE),
            Column("Official, judged again", lambda row: row.first_again, cells.SCORE),
            Column("Second, judged again", lambda row: row.second_again, cells.SCORE),
        ],
        effect.rows,
        has_tools=True,
    )
    return measures, scores
