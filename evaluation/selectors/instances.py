"""Scores of runs by all instances of formulas and by visually distinct formulas."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from arqkit.breakdown.groups import GroupPair, TopicGroup, group_pairs, topic_group
from arqkit.leaderboard import BoardRun
from arqkit.measures.names import Measure
from arqkit.records import ItemKind
from assessment.models import QrelSet
from evaluation.selectors.boards import live_board
from evaluation.selectors.comparison import topic_matrix

SIDES = {ItemKind.FORMULA_IDS: "all instances", ItemKind.VISUAL_IDS: "visually distinct"}
"""The kinds of items that qrels of formulas have, and what they score."""
MOST_MEASURES = 3


class MeasureSides(NamedTuple):
    """The means of runs in a measure on both sides, and Kendall's tau of the two rankings."""

    measure: Measure
    sides: list[TopicGroup]
    pair: GroupPair


class InstanceScores(NamedTuple):
    """The runs of a board with their means by both versions, over the topics that both have."""

    versions: list[QrelSet]
    runs: list[BoardRun]
    measures: list[MeasureSides]
    topics: int


def other_version(qrel_set: QrelSet) -> QrelSet | None:
    """Return the version with the other kind of formula items, the newest one, or None."""
    others = set(SIDES) - {ItemKind(qrel_set.items)}
    versions = QrelSet.objects.filter(task=qrel_set.task, items__in=others)
    return versions.order_by("-version").first() if len(others) == 1 else None


def instance_scores(qrel_set: QrelSet, other: QrelSet) -> InstanceScores:
    """Return the runs of the live board of qrels with their scores by these and other qrels.

    The measures are the first ones of the board that rate runs.
    """
    board = live_board(qrel_set)
    runs = sorted((row.run for row in board.rows), key=lambda run: not run.counts)
    ranked = sum(run.counts for run in runs)
    versions = sorted((qrel_set, other), key=lambda one: list(SIDES).index(ItemKind(one.items)))
    measures, topics = [], 0
    for measure in [one for one in board.measures if one.is_rating][:MOST_MEASURES]:
        matrices = [
            topic_matrix(runs=[run.key for run in runs], qrel_set=version, measure=measure.name)
            for version in versions
        ]
        common = set(matrices[0].topics) & set(matrices[1].topics)
        sides = [
            topic_group(
                SIDES[ItemKind(version.items)],
                matrix.scores[:, np.isin(matrix.topics, list(common))],
                ranked=ranked,
            )
            for version, matrix in zip(versions, matrices, strict=True)
        ]
        measures.append(MeasureSides(measure, sides, group_pairs(sides)[0]))
        topics = max(topics, len(common))
    return InstanceScores(versions, runs, measures, topics)
